/**
 * A configuration file as text: JSON with comments, with the place of every key, so that whatever is wrong
 * can be pointed at. Never throws on content: what is wrong with it is in `faults`.
 */
import { createScanner, type Node, type ParseError, parseTree } from 'jsonc-parser';
import { describeSyntax } from './syntax-text.js';

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
const MAX_SYNTAX_FAULTS = 10;
/** Names, values and the signs between them: a hundred times what a large configuration has. */
const MAX_TOKENS = 60_000;
const MAX_PLACEHOLDERS = 5_000;
/** So many are told in full; of more only how many. */
export const MAX_FAULTS = 50;
const TOO_DEEP = `nested more than ${MAX_DEPTH} deep`;

export function parseDocument(text: string): ConfigDocument {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const errors: ParseError[] = [];
  const at = placesIn(body);
  const tooMuch = isWide(body) ? { offset: 0, text: NOT_UTF8 } : findTooMuch(body);
  if (tooMuch !== undefined) {
    const place = at(tooMuch.offset);
    return { value: undefined, faults: [{ ...place, path: '', text: tooMuch.text }], placeOf: () => place };
  }
  let tree: Node | undefined;
  try {
    tree = parseTree(body, errors, { allowTrailingComma: true, allowEmptyContent: true });
  } catch (error) {
    // The parser calls itself for each level and ran out of stack.
    if (!(error instanceof RangeError)) throw error;
    const fault = { ...at(0), path: '', text: TOO_DEEP };
    return { value: undefined, faults: [fault], placeOf: () => at(0) };
  }
  const faults: DocumentFault[] = errors.slice(0, MAX_SYNTAX_FAULTS).map((error) => ({
    ...at(error.offset),
    path: '',
    text: describeSyntax(error, body),
  }));
  const report = (offset: number, path: string, text: string): void => {
    // Not told in full, but counted, for a fault takes with it what it is about.
    faults.push(faults.length < MAX_FAULTS ? { ...at(offset), path, text } : { ...NOWHERE, path, text });
  };
  const value = tree === undefined ? undefined : toValue(tree, { report, path: '', depth: 0 });
  const members = memberIndex();
  return {
    value: errors.length > 0 ? undefined : value,
    faults,
    placeOf: (keys) => at(nodeAt(tree, keys, members)?.offset ?? 0),
  };
}

const NOT_UTF8 = 'the file is not UTF-8 text, it looks like UTF-16: save it as UTF-8';

/** What two bytes for each letter look like when they are read as UTF-8: the mark at the beginning, or zeros. */
const isWide = (text: string): boolean =>
  /^(?:\ufffd{2})?(?:\0[ -~\s]){2}|^(?:\ufffd{2})?(?:[ -~\s]\0){2}/.test(text);

const NOWHERE: Place = { line: 1, column: 1 };

/**
 * Where a file gets so large that reading it would keep everything else waiting. Everything after this costs time for
 * each sign; this ends at the bound.
 */
export function findTooMuch(text: string): { readonly offset: number; readonly text: string } | undefined {
  let count = 0;
  // Also as it can be spelt in JSON.
  for (const { index } of text.matchAll(/\$\{|\\u0024|\\u007b/gi)) {
    count += 1;
    if (count > MAX_PLACEHOLDERS)
      return { offset: index, text: `more than ${MAX_PLACEHOLDERS} placeholders` };
  }
  const scanner = createScanner(text, true);
  for (let tokens = 0; scanner.scan() !== END_OF_TEXT; tokens += 1)
    if (tokens > MAX_TOKENS)
      return { offset: scanner.getTokenOffset(), text: `more than ${MAX_TOKENS} names, values and signs` };
  return undefined;
}

/** `SyntaxKind.EOF`, which is a const enum. */
const END_OF_TEXT = 17;

interface Walk {
  readonly report: (offset: number, path: string, text: string) => void;
  readonly path: string;
  readonly depth: number;
}

function toValue(node: Node, walk: Walk): unknown {
  if (walk.depth > MAX_DEPTH) {
    walk.report(node.offset, walk.path, TOO_DEEP);
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
    if (name === '__proto__') walk.report(key.offset, path, 'this key is not allowed');
    else if (Object.hasOwn(result, name)) walk.report(key.offset, path, `the key "${name}" is there twice`);
    else result[name] = toValue(value, deeper(path));
  }
  return result;
}

type Members = (node: Node) => ReadonlyMap<unknown, Node>;

/** The values of an object by key, found once: a file may hold very many. Of a key that is there twice, the first. */
function memberIndex(): Members {
  const known = new WeakMap<Node, Map<unknown, Node>>();
  return (node) => {
    const old = known.get(node);
    if (old !== undefined) return old;
    const found = new Map<unknown, Node>();
    for (const { children: [key, value] = [] } of node.children ?? [])
      if (value !== undefined && !found.has(key?.value)) found.set(key?.value, value);
    known.set(node, found);
    return found;
  };
}

/** The key that a path leads to, or the last one on the way that exists. */
function nodeAt(tree: Node | undefined, keys: readonly PropertyKey[], membersOf: Members): Node | undefined {
  let node = tree;
  let key = tree;
  for (const step of keys) {
    if (node === undefined) return key;
    const found: Node | undefined =
      node.type === 'array' ? node.children?.[Number(step)] : membersOf(node).get(step);
    if (found === undefined) return key;
    key = node.type === 'object' ? (found.parent?.children?.[0] ?? found) : found;
    node = found;
  }
  return key;
}

/** From an offset to its place. The starts of the lines are found once. */
function placesIn(text: string): (offset: number) => Place {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return starts;
}
