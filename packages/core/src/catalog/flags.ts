/**
 * Suspicious content in the texts of a server: hidden characters, instructions to the model, mentions of other
 * servers, secrets copied into headers, embedded icons. A flag is a reason to review an item, not a verdict: flagged
 * items can still be used.
 */
import type { RuleFlag } from '../config/schema/rule-schema.js';
import { isRecord } from '../json/is-record.js';
import { findSecretWord } from '../redaction/secret-words.js';
import { findHidden } from '../text/hidden-text.js';
import { findInstruction } from '../text/instructions.js';

/** The closed table of flags and their descriptions. `docs/server-requests.md` explains them. */
export const FLAGS = {
  'hidden-characters': 'contains invisible characters',
  instructions: 'contains instructions to the model',
  'mentions-other-server': 'mentions another server or a tool from another server',
  'secret-in-header': 'copies an argument that may be a secret into an HTTP header',
  'embedded-icon': 'has an embedded icon, or an SVG that can contain scripts',
  unscanned: 'has too much text for Turnbuckle to scan completely',
} as const satisfies Readonly<Record<RuleFlag, string>>;

export type Flag = keyof typeof FLAGS;

type Definition = Readonly<Record<string, unknown>>;

const MAX_SCANNED_CHARACTERS = 128 * 1_024;
const MAX_SCANNED_NODES = 20_000;
/** Separates two texts, so that they do not form a phrase together. */
const TEXT_SEPARATOR = ' | ';

/** The flags of a definition on its own, in table order. Bounded in time. */
export function scanDefinition(
  definition: Definition,
  { text, isComplete }: CollectedText = collectText(definition),
): Flag[] {
  const found: Record<Flag, boolean> = {
    'hidden-characters': findHidden(text).kinds.length > 0,
    instructions: findInstruction(text) !== undefined,
    'mentions-other-server': false,
    'secret-in-header': hasSecretHeader(definition.inputSchema),
    'embedded-icon': hasEmbeddedIcon(definition.icons),
    unscanned: !isComplete,
  };
  return (Object.keys(FLAGS) as Flag[]).filter((flag) => found[flag]);
}

export interface CollectedText {
  readonly text: string;
  /** False if there is more text than was collected. */
  readonly isComplete: boolean;
}

/** Every string in it, including member names: a model reads all of them. */
export function collectText(definition: Definition): CollectedText {
  const parts: string[] = [];
  const open: object[] = [definition];
  let left = MAX_SCANNED_CHARACTERS;
  const add = (part: string): void => {
    // Embedded images have their own flag.
    if (part.startsWith('data:')) return;
    if (left > 0) parts.push(part.length > left ? part.slice(0, left) : part);
    left -= part.length;
  };
  for (let nodes = 0; nodes < open.length && nodes < MAX_SCANNED_NODES && left > 0; nodes += 1) {
    const node = open[nodes];
    for (const key in node) {
      if (!Array.isArray(node)) add(key);
      const value: unknown = Reflect.get(node, key);
      if (typeof value === 'string') add(value);
      else if (typeof value === 'object' && value !== null) open.push(value);
    }
  }
  return { text: parts.join(TEXT_SEPARATOR), isComplete: left > 0 && open.length < MAX_SCANNED_NODES };
}

/** Only a chain of `properties` can be copied into a header; deeper declarations are rejected elsewhere. */
function hasSecretHeader(schema: unknown, depth = 0): boolean {
  if (depth > 8 || !isRecord(schema) || !isRecord(schema.properties)) return false;
  return Object.entries(schema.properties).some(([name, property]) => {
    if (!isRecord(property)) return false;
    const header = property['x-mcp-header'];
    if (header === undefined) return hasSecretHeader(property, depth + 1);
    const texts = [name, header, property.title, property.description];
    return texts.some((text) => typeof text === 'string' && findSecretWord(text) !== undefined);
  });
}

function hasEmbeddedIcon(icons: unknown): boolean {
  return (Array.isArray(icons) ? icons : []).some((icon) => {
    if (!isRecord(icon)) return false;
    const source = typeof icon.src === 'string' ? icon.src.trimStart().slice(0, 2_048) : '';
    const type = typeof icon.mimeType === 'string' ? icon.mimeType : '';
    return !/^https?:/i.test(source) || /svg/i.test(type) || /\.svgz?(?:[?#]|$)/i.test(source);
  });
}
