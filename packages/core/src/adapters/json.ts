import { isRecord } from '../json/is-record.js';

/** The keywords of one schema, or any other JSON object. */
export type Keywords = Readonly<Record<string, unknown>>;

/** JSON text of at most `limit` characters; never throws, even for very deep values. */
export function toText(value: unknown, limit = Number.POSITIVE_INFINITY): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? 'null';
  } catch {
    return '…';
  }
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}

/** The target of a reference inside the same document (`#`, `#/a/b`, `#anchor`), else undefined. */
export function resolveRef(root: unknown, ref: string): unknown {
  if (ref === '#') return root;
  if (!ref.startsWith('#')) return undefined;
  if (!ref.startsWith('#/')) return findAnchor(root, ref.slice(1));
  let node = root;
  for (const step of ref.slice(2).split('/')) {
    const key = decode(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(node)) node = node[Number(key)];
    else node = isRecord(node) && Object.hasOwn(node, key) ? node[key] : undefined;
  }
  return node;
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function findAnchor(root: unknown, anchor: string): unknown {
  const open: unknown[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (isRecord(node)) {
      if (node.$anchor === anchor || node.$dynamicAnchor === anchor) return node;
      for (const child of Object.values(node)) open.push(child);
    } else if (Array.isArray(node)) for (const child of node) open.push(child);
  }
  return undefined;
}
