/**
 * The text of a configuration file: JSON with comments, with the position of every key for error messages. Never
 * throws on content: errors are in `faults`.
 */
import { createScanner, type Node, type ParseError, parseTree } from 'jsonc-parser';
import { describeSyntax } from './syntax-text.js';

export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

export interface DocumentFault extends SourcePosition {
  readonly path: string;
  readonly text: string;
}

export interface ConfigDocument {
  /** Undefined if the text is not JSON. */
  readonly value: unknown;
  readonly faults: readonly DocumentFault[];
  /** The position of a key, or of its nearest existing parent. */
  positionOf(keys: readonly PropertyKey[]): SourcePosition;
}

const MAX_DEPTH = 100;
/** A hundred times as many as in a large configuration. */
const MAX_TOKENS = 60_000;
const MAX_PLACEHOLDERS = 5_000;
/** Reported in full; of further ones only the number. */
export const MAX_FAULTS = 50;
const TOO_DEEP = `nested more than ${MAX_DEPTH} levels deep`;

export function parseDocument(text: string): ConfigDocument {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const errors: ParseError[] = [];
  const at = createPositionLookup(body);
  const tooMuch = looksLikeUtf16(body) ? { offset: 0, text: NOT_UTF8 } : findSizeFault(body);
  if (tooMuch !== undefined) {
    const place = at(tooMuch.offset);
    return {
      value: undefined,
      faults: [{ ...place, path: '', text: tooMuch.text }],
      positionOf: () => place,
    };
  }
  let tree: Node | undefined;
  try {
    tree = parseTree(body, errors, { allowTrailingComma: true, allowEmptyContent: true });
  } catch (error) {
    // The parser is recursive and ran out of stack.
    if (!(error instanceof RangeError)) throw error;
    const fault = { ...at(0), path: '', text: TOO_DEEP };
    return { value: undefined, faults: [fault], positionOf: () => at(0) };
  }
  const [error] = errors;
  if (error !== undefined) {
    // Further errors are usually consequences of the first one.
    const place = at(error.offset);
    return {
      value: undefined,
      faults: [{ ...place, path: '', text: describeSyntax(error, body) }],
      positionOf: () => place,
    };
  }
  const faults: DocumentFault[] = [];
  const report = (offset: number, path: string, text: string): void => {
    // Counted without a position: a fault disables the setting it belongs to.
    faults.push(
      faults.length < MAX_FAULTS ? { ...at(offset), path, text } : { ...START_OF_FILE, path, text },
    );
  };
  const value = tree === undefined ? undefined : toValue(tree, { report, path: '', depth: 0 });
  const members = memberIndex();
  return {
    value,
    faults,
    positionOf: (keys) => at(nodeAt(tree, keys, members)?.offset ?? 0),
  };
}

const NOT_UTF8 = 'the file looks like UTF-16 and must be saved as UTF-8';

/** UTF-16 text read as UTF-8: replacement characters of the byte order mark, or zeros. */
const looksLikeUtf16 = (text: string): boolean =>
  /^(?:\ufffd{2})?(?:\0[ -~\s]){2}|^(?:\ufffd{2})?(?:[ -~\s]\0){2}/.test(text);

const START_OF_FILE: SourcePosition = { line: 1, column: 1 };

/**
 * The position at which a file exceeds a limit and would block everything else. Everything after this takes time per
 * character; this check stops at the limit.
 */
export function findSizeFault(text: string): { readonly offset: number; readonly text: string } | undefined {
  let count = 0;
  // Including JSON escapes.
  for (const { index } of text.matchAll(/\$\{|\\u0024|\\u007b/gi)) {
    count += 1;
    if (count > MAX_PLACEHOLDERS)
      return { offset: index, text: `more than ${MAX_PLACEHOLDERS} placeholders` };
  }
  const scanner = createScanner(text, true);
  for (let tokens = 0; scanner.scan() !== END_OF_TEXT; tokens += 1)
    if (tokens > MAX_TOKENS)
      return { offset: scanner.getTokenOffset(), text: `more than ${MAX_TOKENS} JSON tokens` };
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
    else if (Object.hasOwn(result, name)) walk.report(key.offset, path, `duplicate key "${name}"`);
    else result[name] = toValue(value, deeper(path));
  }
  return result;
}

type Members = (node: Node) => ReadonlyMap<unknown, Node>;

/** The values of an object by key, computed once: a file may have many. For a duplicate key, the first one. */
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

/** The node at a path, or its last existing parent. */
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

/** Converts offsets to positions. Line starts are computed once. */
function createPositionLookup(text: string): (offset: number) => SourcePosition {
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
