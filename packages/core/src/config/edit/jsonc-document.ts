/** The text of a configuration file as a tree with offsets, and the errors that name a place in it. */
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { TurnbuckleError } from '../../errors.js';

export type KeyPath = readonly (string | number)[];

const BOM = '\uFEFF';

/** Applies a change of text to what follows the byte order mark, if there is one. */
export function behindBom(text: string, change: (text: string) => string): string {
  return text.startsWith(BOM) ? BOM + change(text.slice(1)) : change(text);
}

/**
 * The tree of a text without byte order mark; undefined when it holds nothing but white space and comments.
 * CONFIG_INVALID with line and column when it is not JSON with comments or not an object.
 */
export function parseDocument(text: string): Node | undefined {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  } catch (error) {
    // The parser recurses: absurdly deep nesting ends here instead of in a crash.
    if (error instanceof RangeError) throw invalidAt(text, 0, 'it is nested too deeply');
    throw error;
  }
  const [first] = errors;
  if (first !== undefined)
    throw invalidAt(text, first.offset, `not valid JSON with comments (${problem(first)})`);
  if (root !== undefined && root.type !== 'object')
    throw invalidAt(text, root.offset, `expected an object, found ${root.type}`);
  return root;
}

/** A CONFIG_INVALID error for a place in the text; whoever knows the file adds its name. */
export function invalidAt(text: string, offset: number, what: string): TurnbuckleError {
  const before = text.slice(0, offset);
  const line = before.split(/\r\n|\r|\n/).length;
  const column = offset - Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r'));
  return new TurnbuckleError('CONFIG_INVALID', `line ${line}, column ${column}: ${what}`, {
    hint: 'Correct the file by hand; it was left as it is.',
    data: { line, column },
  });
}

/** The value under a path. Of a key that is there twice the last counts, as for every reader of JSON. */
export function nodeAt(root: Node, path: KeyPath): Node | undefined {
  let node: Node | undefined = root;
  for (const part of path) {
    const index: number = node === undefined ? -1 : memberIndex(node, part);
    node = valueOfMember(node?.children?.[index]);
  }
  return node;
}

/** Position of the member of an object or list; -1 when there is none. */
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

function problem(error: ParseError): string {
  const words = printParseErrorCode(error.error);
  return words.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).toLowerCase();
}
