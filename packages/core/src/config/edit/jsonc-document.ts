/** The text of a configuration file as a tree with offsets, and errors with a position in it. */
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { TurnbuckleError } from '../../errors.js';

export type KeyPath = readonly (string | number)[];

const BOM = '\uFEFF';

/** Applies a change to the text after the byte order mark, if there is one. */
export function preserveBom(text: string, change: (text: string) => string): string {
  return text.startsWith(BOM) ? BOM + change(text.slice(1)) : change(text);
}

/**
 * The tree of a text without byte order mark; undefined if it has only white space and comments. Throws
 * CONFIG_INVALID with line and column if it is not JSON with comments or not an object.
 */
export function parseJsonc(text: string): Node | undefined {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  } catch (error) {
    // The parser is recursive: very deep nesting ends here instead of in a crash.
    if (error instanceof RangeError) throw invalidAt(text, 0, 'the file is nested too deeply');
    throw error;
  }
  const [first] = errors;
  if (first !== undefined)
    throw invalidAt(text, first.offset, `the file has a JSON syntax error, "${describeParseError(first)}"`);
  if (root !== undefined && root.type !== 'object')
    throw invalidAt(text, root.offset, `expected an object, found ${root.type}`);
  return root;
}

/** A CONFIG_INVALID error with a position; the caller adds the file name. */
export function invalidAt(text: string, offset: number, what: string): TurnbuckleError {
  const before = text.slice(0, offset);
  const line = before.split(/\r\n|\r|\n/).length;
  const column = offset - Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r'));
  return new TurnbuckleError('CONFIG_INVALID', `${what} (line ${line}, column ${column})`, {
    hint: 'The file was not changed. Correct the file by hand.',
    data: { line, column },
  });
}

/** The value at a path. For a duplicate key the last one counts, as in JSON.parse. */
export function nodeAt(root: Node, path: KeyPath): Node | undefined {
  let node: Node | undefined = root;
  for (const part of path) {
    const index: number = node === undefined ? -1 : memberIndex(node, part);
    node = valueOfMember(node?.children?.[index]);
  }
  return node;
}

/** Index of the member of an object or list; -1 if missing. */
export function memberIndex(container: Node, part: string | number): number {
  const members = container.children ?? [];
  if (container.type === 'object') return members.findLastIndex((member) => keyOf(member) === part);
  if (container.type !== 'array' || typeof part !== 'number') return -1;
  return part in members ? part : -1;
}

/** The key of an object's member; undefined for a list's. */
export function keyOf(member: Node): string | undefined {
  const key: unknown = member.type === 'property' ? member.children?.[0]?.value : undefined;
  return typeof key === 'string' ? key : undefined;
}

/** The value of a member of an object or list. */
export function valueOfMember(member: Node | undefined): Node | undefined {
  return member?.type === 'property' ? member.children?.[1] : member;
}

export const endOf = (node: Node): number => node.offset + node.length;

function describeParseError(error: ParseError): string {
  const words = printParseErrorCode(error.error);
  return words.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).toLowerCase();
}
