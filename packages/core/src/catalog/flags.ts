/**
 * What is odd about the texts that a server brings along: hidden characters, orders to the model, talk about
 * other servers, secrets mirrored into headers, pictures inside an icon. A flag is a reason to look, not a
 * verdict: what is flagged can still be used.
 */
import type { RuleFlag } from '../config/rule-schema.js';
import { isRecord } from '../is-record.js';
import { findHidden } from '../text/hidden.js';
import { findInstruction } from '../text/instructions.js';
import { findSecretWord } from '../text/secret-words.js';

/** The closed table of flags, each with what it means. `docs/server-requests.md` explains them. */
export const FLAGS = {
  'hidden-characters': 'has characters that nobody can see',
  instructions: 'gives orders to the model instead of describing',
  'mentions-other-server': 'speaks about another server or its tools',
  'secret-in-header': 'wants what sounds like a secret mirrored into a header',
  'embedded-icon': 'has an icon inside its text, or a drawing that can carry code',
  unscanned: 'has more text than is looked at',
} as const satisfies Readonly<Record<RuleFlag, string>>;

export type Flag = keyof typeof FLAGS;

type Definition = Readonly<Record<string, unknown>>;

const MOST_SCANNED = 128 * 1_024;
const MOST_NODES = 20_000;
/** Between two texts, so that the end of one and the beginning of the next make no phrase. */
const BETWEEN = ' | ';

/** What a definition shows by itself, in the order of the table. Bounded in time. */
export function scanDefinition(
  definition: Definition,
  { text, whole }: CollectedText = collectText(definition),
): Flag[] {
  const found: Record<Flag, boolean> = {
    'hidden-characters': findHidden(text).kinds.length > 0,
    instructions: findInstruction(text) !== undefined,
    'mentions-other-server': false,
    'secret-in-header': hasSecretHeader(definition.inputSchema),
    'embedded-icon': hasEmbeddedIcon(definition.icons),
    unscanned: !whole,
  };
  return (Object.keys(FLAGS) as Flag[]).filter((flag) => found[flag]);
}

export interface CollectedText {
  readonly text: string;
  /** False: there is more than was collected. */
  readonly whole: boolean;
}

/** Every string in it, names of members included: a model reads all of them. */
export function collectText(definition: Definition): CollectedText {
  const parts: string[] = [];
  const open: object[] = [definition];
  let left = MOST_SCANNED;
  const add = (part: string): void => {
    // What is embedded there is a picture, and has a flag of its own.
    if (part.startsWith('data:')) return;
    if (left > 0) parts.push(part.length > left ? part.slice(0, left) : part);
    left -= part.length;
  };
  for (let nodes = 0; nodes < open.length && nodes < MOST_NODES && left > 0; nodes += 1) {
    const node = open[nodes];
    for (const key in node) {
      if (!Array.isArray(node)) add(key);
      const value: unknown = Reflect.get(node, key);
      if (typeof value === 'string') add(value);
      else if (typeof value === 'object' && value !== null) open.push(value);
    }
  }
  return { text: parts.join(BETWEEN), whole: left > 0 && open.length < MOST_NODES };
}

/** Only a chain of `properties` can be mirrored; deeper declarations are refused elsewhere. */
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
