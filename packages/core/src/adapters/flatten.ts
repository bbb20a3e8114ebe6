import { isRecord } from '../json/is-record.js';
import { type Keywords, resolveRef, toText } from './json.js';

/** The position in a schema walk; `budget` is shared by the whole walk. */
export interface Walk {
  readonly root: unknown;
  readonly depth: number;
  readonly refs: readonly string[];
  readonly budget: { left: number };
}

/** How often one reference may be entered on a path before recursion is cut. */
const MAX_REF_UNROLLS = 2;

/** Maximum chain of references and `allOf`. */
const MAX_REF_DEPTH = 100;

/** Two unions that must both match become their product, up to this size; beyond it, only the first one is kept. */
const MAX_BRANCHES = 64;

/**
 * One schema as a flat set of keywords: local references inlined and `allOf` merged, within the limits of the walk.
 */
export function flatten(schema: unknown, walk: Walk): { readonly flat: Keywords; readonly walk: Walk } {
  if (walk.budget.left-- <= 0 || walk.depth > MAX_REF_DEPTH)
    return { flat: { description: 'Too large to show in full.' }, walk };
  const { $ref, $dynamicRef, allOf, ...own } = asKeywords(schema);
  const ref = $ref ?? $dynamicRef;
  let inner = { ...walk, depth: walk.depth + 1 };
  let flat: Keywords = {};
  const absorb = (part: unknown) => {
    const done = flatten(part, inner);
    flat = merge(flat, done.flat);
    inner = { ...inner, refs: done.walk.refs };
  };
  if (typeof ref === 'string') {
    const target = resolveRef(walk.root, ref);
    if (target === undefined || walk.refs.filter((seen) => seen === ref).length >= MAX_REF_UNROLLS) {
      flat = { description: `Same shape as ${ref.split('/').at(-1)}.` };
    } else {
      inner = { ...inner, refs: [...walk.refs, ref] };
      absorb(target);
    }
  }
  if (Array.isArray(allOf)) allOf.forEach(absorb);
  return { flat: merge(flat, own), walk: { ...walk, refs: inner.refs } };
}

// The schema `false` has no possible type; `true` and anything that is not a schema have no keywords.
function asKeywords(schema: unknown): Keywords {
  if (isRecord(schema)) return schema;
  return schema === false ? { type: [] } : {};
}

function merge(first: Keywords, second: Keywords): Keywords {
  const merged = new Map(Object.entries(first));
  for (const [keyword, value] of Object.entries(second)) {
    merged.set(keyword, merged.has(keyword) ? intersectKeyword(keyword, merged.get(keyword), value) : value);
  }
  return Object.fromEntries(merged);
}

/** Combines two values of a keyword that must both hold; for annotations the later one wins. */
export function intersectKeyword(keyword: string, a: unknown, b: unknown): unknown {
  if (keyword === 'properties' && isRecord(a) && isRecord(b)) {
    const merged = new Map(Object.entries(a));
    for (const [key, schema] of Object.entries(b)) {
      merged.set(key, merged.has(key) ? { allOf: [merged.get(key), schema] } : schema);
    }
    return Object.fromEntries(merged);
  }
  if (keyword === 'type') return commonTypes(a, b);
  if (Array.isArray(a) && Array.isArray(b)) {
    if (keyword === 'required') return [...new Set([...a, ...b])];
    if (keyword === 'enum') return a.filter((value) => b.some((other) => toText(other) === toText(value)));
    if (keyword === 'anyOf' || keyword === 'oneOf') {
      if (a.length * b.length > MAX_BRANCHES) return a;
      return a.flatMap((left) => b.map((right) => ({ allOf: [left, right] })));
    }
  }
  if (keyword === 'additionalProperties' || (keyword === 'items' && !Array.isArray(b))) {
    return { allOf: [a, b] };
  }
  if (typeof a === 'number' && typeof b === 'number') {
    if (/^(min|exclusiveMin)/.test(keyword)) return Math.max(a, b);
    if (/^(max|exclusiveMax)/.test(keyword)) return Math.min(a, b);
  }
  return b;
}

function commonTypes(a: unknown, b: unknown): unknown[] {
  const left = [a].flat();
  const right = [b].flat();
  const within = (type: unknown, list: unknown[]) =>
    list.includes(type) || (type === 'integer' && list.includes('number'));
  return [...new Set([...left.filter((t) => within(t, right)), ...right.filter((t) => within(t, left))])];
}
