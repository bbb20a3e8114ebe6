/**
 * The texts of a server that a model would read: hidden characters, instructions, names that belong to others,
 * secrets. Pure. The checks are those of the runtime, and some that make sense only before a server is trusted.
 */
import {
  collectText,
  FLAGS,
  type Flag,
  findHidden,
  findInstruction,
  findSecretShape,
  type MentionableTool,
  MentionIndex,
  scanDefinition,
} from 'turnbuckle/host';
import type { Finding } from './report.js';
import { dangerousWord, isBuiltInName, namedSecretFile } from './well-known-tools.js';

/** Something with texts: a tool, a resource, a prompt, or the server itself. */
export interface ScannedItem {
  readonly kind: 'server' | 'tool' | 'resource' | 'template' | 'prompt';
  readonly name: string;
  readonly definition: Readonly<Record<string, unknown>>;
}

export interface ScanContext {
  /** The server that is tested. */
  readonly server: string;
  /** Tools of other servers that exist already. */
  readonly existing: readonly MentionableTool[];
  /** Whether a value repeats a secret that the server was given. */
  readonly repeatsSecret: (value: unknown) => boolean;
}

const MAX_DESCRIPTION_LENGTH = 4_000;
/** These say what the runtime says about the same text; the others have a finding of their own. */
const PLAIN_FLAGS: readonly Flag[] = ['secret-in-header', 'embedded-icon', 'unscanned'];
/** Numbers that look like one occur in examples of payment tools. */
const CARD_NUMBER = 'a card number';

/** Finds what is suspicious in items of one server. Create one for all of them: it indexes the existing tools. */
export function createTextScan(context: ScanContext): (item: ScannedItem) => Finding[] {
  const others = context.existing.filter(({ server }) => server !== context.server);
  const mentions = new MentionIndex(
    others.map(({ server }) => server),
    others,
  );
  const names = new Map(others.map((tool) => [tool.tool.toLowerCase(), tool]));
  const fullNames = new Map(others.map((tool) => [tool.name.toLowerCase(), tool]));
  return (item) => {
    const { kind, name, definition } = item;
    const where = kind === 'server' ? 'server' : `${kind} ${name}`;
    const collected = collectText(definition);
    const flags = scanDefinition(definition, collected);
    const found: Array<Omit<Finding, 'where'> | undefined> = [
      ...hiddenFindings(collected.text, flags),
      ...secretFindings(collected.text, context.repeatsSecret(definition)),
      ...PLAIN_FLAGS.filter((flag) => flags.includes(flag)).map((flag) => warn(`It ${FLAGS[flag]}.`)),
      mentions.mentionsOther(collected.text, context.server)
        ? warn(`It ${FLAGS['mentions-other-server']}.`)
        : undefined,
      lengthFinding(definition),
      ...(kind === 'tool' ? nameFindings(name, { names, fullNames }) : []),
    ];
    return found.flatMap((one) => (one === undefined ? [] : [{ ...one, where }]));
  };
}

const warn = (text: string): Omit<Finding, 'where'> => ({ level: 'warn', text });
const fail = (text: string): Omit<Finding, 'where'> => ({ level: 'fail', text });

function* hiddenFindings(text: string, flags: readonly Flag[]): Iterable<Omit<Finding, 'where'>> {
  if (flags.includes('hidden-characters')) {
    const { kinds, decoded } = findHidden(text);
    const hidden = decoded === undefined ? '' : ` They spell "${decoded}".`;
    yield fail(`It contains invisible characters (${kinds.join(', ')}).${hidden}`);
  }
  if (flags.includes('instructions'))
    yield fail(`It contains instructions to the model, such as "${findInstruction(text) ?? ''}".`);
  const file = namedSecretFile(text);
  if (file !== undefined) yield warn(`It names a file that can contain secrets: ${file}.`);
}

function* secretFindings(text: string, repeatsSecret: boolean): Iterable<Omit<Finding, 'where'>> {
  if (repeatsSecret) yield fail('It contains a secret that was passed to the server.');
  const shape = findSecretShape(text);
  if (shape === undefined) return;
  const sentence = `It contains what looks like ${shape}.`;
  yield shape === CARD_NUMBER ? warn(sentence) : fail(sentence);
}

function lengthFinding({
  description,
  instructions,
}: ScannedItem['definition']): Omit<Finding, 'where'> | undefined {
  const longest = Math.max(
    ...[description, instructions].map((text) => (typeof text === 'string' ? text.length : 0)),
  );
  return longest > MAX_DESCRIPTION_LENGTH
    ? warn(`Its description has ${longest} characters, more than ${MAX_DESCRIPTION_LENGTH}.`)
    : undefined;
}

interface TakenNames {
  /** By the name at the server, and by the name an agent calls it by; both in lower case. */
  readonly names: ReadonlyMap<string, MentionableTool>;
  readonly fullNames: ReadonlyMap<string, MentionableTool>;
}

function* nameFindings(name: string, { names, fullNames }: TakenNames): Iterable<Omit<Finding, 'where'>> {
  const lower = name.toLowerCase();
  const taken = names.get(lower) ?? fullNames.get(lower);
  if (taken !== undefined) yield fail(`It has the same name as a tool on server "${taken.server}".`);
  else if (isBuiltInName(name)) yield fail('It has the same name as a built-in tool of a widely used agent.');
  else if (/^mcp__/i.test(name)) yield fail('Its name resembles the name of a tool on another server.');
  const word = dangerousWord(name);
  if (word !== undefined) yield warn(`Its name contains "${word}".`);
}
