/**
 * Sets one key of a configuration text. Only differences are written: everything else keeps its comments, order and
 * layout.
 */
import { getNodeValue, type Node } from 'jsonc-parser';
import { TurnbuckleError } from '../../errors.js';
import { isRecord } from '../../json/is-record.js';
import { insertMember, replaceValue } from './insert-member.js';
import {
  invalidAt,
  type KeyPath,
  keyOf,
  memberIndex,
  nodeAt,
  parseJsonc,
  preserveBom,
  valueOfMember,
} from './jsonc-document.js';
import { eolOf } from './layout.js';
import { removeMember } from './remove-member.js';

/**
 * The text with the value at the path; undefined removes it. Missing objects are created; an empty text becomes a new
 * file. In a list, the next free index (or -1) appends.
 */
export function setKey(text: string, path: KeyPath, value: unknown): string {
  if (path.length === 0)
    throw new TurnbuckleError('CONFIG_INVALID', 'Cannot set a key because the path is empty.', {
      hint: 'Name at least one key.',
    });
  return preserveBom(text, (body) => {
    const root = parseJsonc(body);
    if (value === undefined) return root === undefined ? body : remove(body, path);
    const plain = toPlain(value);
    return root === undefined ? set(freshDocument(body), path, plain) : set(body, path, plain);
  });
}

function freshDocument(text: string): string {
  const eol = eolOf(text);
  const kept = /\S/.test(text) ? text.replace(/[\r\n]*$/, eol) : '';
  return `${kept}{${eol}}${eol}`;
}

function rootOf(text: string): Node {
  const root = parseJsonc(text);
  if (root === undefined) throw invalidAt(text, 0, 'expected an object, found nothing');
  return root;
}

function set(text: string, path: KeyPath, value: unknown): string {
  let node = rootOf(text);
  for (const [depth, part] of path.entries()) {
    const rest = path.slice(depth + 1).reduceRight<unknown>(wrap, value);
    if (node.type === 'null') return replaceValue(text, node, wrap(rest, part));
    const next = valueOfMember(node.children?.[memberIndex(node, part)]);
    if (next === undefined) return insert(text, node, { part, value: rest });
    node = next;
  }
  return merge(text, path, value);
}

const wrap = (value: unknown, part: string | number): unknown =>
  typeof part === 'number' ? [value] : { [part]: value };

function insert(text: string, container: Node, { part, value }: { part: string | number; value: unknown }) {
  if (container.type === 'object' && typeof part === 'string')
    return insertMember(text, container, { key: part, value });
  const length = container.children?.length ?? 0;
  if (container.type === 'array' && (part === length || part === -1))
    return insertMember(text, container, { value });
  const wanted = typeof part === 'number' ? `index ${part}` : `key "${part}"`;
  throw invalidAt(text, container.offset, `cannot set ${wanted} in this ${container.type}`);
}

function remove(text: string, path: KeyPath): string {
  const part = path.at(-1);
  let result = text;
  // A duplicate key would otherwise reappear with its other value.
  for (;;) {
    const container = nodeAt(rootOf(result), path.slice(0, -1));
    const index = container === undefined || part === undefined ? -1 : memberIndex(container, part);
    if (container === undefined || index === -1) return result;
    result = removeMember(result, container, index);
    if (container.type === 'array') return result;
  }
}

function merge(text: string, path: KeyPath, value: unknown): string {
  const node = nodeAt(rootOf(text), path);
  if (node === undefined) return set(text, path, value);
  const old: unknown = getNodeValue(node);
  if (sameJson(old, value)) return text;
  if (node.type === 'object' && isRecord(value)) return mergeObject(text, path, value);
  if (Array.isArray(old) && Array.isArray(value)) return mergeList(text, path, { old, value });
  return replaceValue(text, node, value);
}

function mergeObject(text: string, path: KeyPath, value: Record<string, unknown>): string {
  let result = text;
  // Insert before removing: an object that is empty in between would lose its layout.
  for (const [key, item] of Object.entries(value)) result = merge(result, [...path, key], item);
  for (const member of nodeAt(rootOf(result), path)?.children ?? []) {
    const key = keyOf(member);
    if (key !== undefined && !Object.hasOwn(value, key)) result = remove(result, [...path, key]);
  }
  return result;
}

interface Lists {
  readonly old: readonly unknown[];
  readonly value: readonly unknown[];
}

/** The common start and end of both lists stay; items in between are changed in place, then added or removed. */
function mergeList(text: string, path: KeyPath, { old, value }: Lists): string {
  const shorter = Math.min(old.length, value.length);
  let head = 0;
  while (head < shorter && sameJson(old[head], value[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && sameJson(old.at(-1 - tail), value.at(-1 - tail))) tail += 1;
  let result = text;
  for (let index = head; index < value.length - tail; index += 1) {
    const list = nodeAt(rootOf(result), path);
    if (list === undefined) break;
    result =
      index < old.length - tail
        ? merge(result, [...path, index], value[index])
        : insertMember(result, list, { value: value[index], index });
  }
  for (let index = old.length - tail - 1; index >= value.length - tail; index -= 1)
    result = remove(result, [...path, index]);
  return result;
}

function sameJson(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, index) => sameJson(item, right[index]));
  if (!isRecord(left) || !isRecord(right)) return left === right;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
  );
}

function toPlain(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch (cause) {
    throw new TurnbuckleError(
      'CONFIG_INVALID',
      'Cannot write the value to the file because the value cannot be represented as JSON.',
      { cause, hint: 'Use plain data without circular references or BigInts.' },
    );
  }
}
