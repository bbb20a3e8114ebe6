/**
 * A configuration file as text: JSON with comments, with the place of every key, so that whatever is wrong
 * can be pointed at. Never throws on content: what is wrong with it is in `faults`.
 */
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface DocumentFault extends Place {
  readonly path: string;
  readonly text: string;
}

export interface ConfigDocument {
  /** Undefined when the text is no JSON at all. */
  readonly value: unknown;
  readonly faults: readonly DocumentFault[];
  /** Where a key stands; the nearest one above it that exists when it does not. */
  placeOf(keys: readonly PropertyKey[]): Place;
}

const MAX_DEPTH = 100;

export function parseDocument(text: string): ConfigDocument {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const errors: ParseError[] = [];
  const tree = parseTree(body, errors, {
    allowTrailingComma: true,
    disallowComments: false,
    allowEmptyContent: true,
  });
  const at = (offset: number): Place => placeAt(body, offset);
  const faults: DocumentFault[] = errors.slice(0, 10).map((error) => ({
    ...at(error.offset),
    path: '',
    text: describeSyntax(error, body),
  }));
  const value = tree === undefined ? undefined : toValue(tree, { at, faults, path: '', depth: 0 });
  return {
    value: errors.length > 0 ? undefined : value,
    faults,
    placeOf: (keys) => at(nodeAt(tree, keys)?.offset ?? 0),
  };
}

interface Walk {
  readonly at: (offset: number) => Place;
  readonly faults: DocumentFault[];
  readonly path: string;
  readonly depth: number;
}

function toValue(node: Node, walk: Walk): unknown {
  if (walk.depth > MAX_DEPTH) {
    walk.faults.push({
      ...walk.at(node.offset),
      path: walk.path,
      text: `nested more than ${MAX_DEPTH} deep`,
    });
    return undefined;
  }
  const deeper = (path: string): Walk => ({ ...walk, path, depth: walk.depth + 1 });
  if (node.type === 'array')
    return (node.children ?? []).map((child, index) => toValue(child, deeper(`${walk.path}[${index}]`)));
  if (node.type !== 'object') return node.value;
  const result: Record<string, unknown> = {};
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? [];
    if (key === undefined || value === undefined) continue;
    const name = String(key.value);
    const path = walk.path === '' ? name : `${walk.path}.${name}`;
    if (name === '__proto__')
      walk.faults.push({ ...walk.at(key.offset), path, text: 'this key is not allowed' });
    else if (Object.hasOwn(result, name))
      walk.faults.push({ ...walk.at(key.offset), path, text: `the key "${name}" is there twice` });
    else result[name] = toValue(value, deeper(path));
  }
  return result;
}

/** The key that a path leads to, or the last one on the way that exists. */
function nodeAt(tree: Node | undefined, keys: readonly PropertyKey[]): Node | undefined {
  let node = tree;
  let key = tree;
  for (const step of keys) {
    const found =
      node?.type === 'array'
        ? node.children?.[Number(step)]
        : node?.children?.find((property) => property.children?.[0]?.value === step)?.children?.[1];
    if (found === undefined) return key;
    key = node?.type === 'object' ? (found.parent?.children?.[0] ?? found) : found;
    node = found;
  }
  return key;
}

function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return { line, column: offset - before.lastIndexOf('\n') };
}

const SYNTAX: Readonly<Record<string, string>> = {
  InvalidSymbol: 'this is neither a value nor a key',
  InvalidNumberFormat: 'this is not a number',
  PropertyNameExpected: 'a key in double quotes is expected here',
  ValueExpected: 'a value is expected here',
  ColonExpected: 'a colon is expected here',
  CommaExpected: 'a comma is expected here',
  CloseBraceExpected: 'the object is not closed: "}" is missing',
  CloseBracketExpected: 'the list is not closed: "]" is missing',
  EndOfFileExpected: 'nothing more is expected here',
  UnexpectedEndOfComment: 'the comment is not closed',
  UnexpectedEndOfString: 'the text is not closed: a double quote is missing',
  UnexpectedEndOfNumber: 'the number is not complete',
  InvalidUnicode: 'this is not a valid \\u sequence',
  InvalidEscapeCharacter: 'this is not a valid escape',
  InvalidCharacter: 'this character is not allowed here',
};

function describeSyntax({ error, offset }: ParseError, text: string): string {
  const near = text.slice(offset, offset + 20).split('\n')[0] ?? '';
  const what = SYNTAX[printParseErrorCode(error)] ?? 'this is not JSON';
  return near.trim() === '' ? what : `${what}, found ${JSON.stringify(near.trim())}`;
}
