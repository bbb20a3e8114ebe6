/** The one plain schema that a value has to match: references followed, alternatives chosen, parts merged. */
import { isRecord } from 'turnbuckle/host';

export type Schema = Readonly<Record<string, unknown>>;

/** Chooses one of several alternatives; undefined if there is none. */
export type Choose = <Item>(items: readonly Item[]) => Item | undefined;

const MAX_PARTS = 64;

/** Undefined: no value can match, or the schema is too involved. */
export function flattenSchema(schema: unknown, root: Schema, choose: Choose): Schema | undefined {
  let merged: Schema = {};
  const open: unknown[] = [schema];
  for (let count = 0; open.length > 0; count += 1) {
    const part = open.pop();
    if (part === true) continue;
    if (count > MAX_PARTS || !isRecord(part)) return undefined;
    const { $ref, allOf, anyOf, oneOf, ...own } = part;
    if (typeof $ref === 'string') open.push(followReference(root, $ref));
    if (Array.isArray(allOf)) open.push(...allOf.slice(0, MAX_PARTS));
    for (const alternatives of [anyOf, oneOf]) {
      if (!Array.isArray(alternatives)) continue;
      open.push(choose(alternatives));
    }
    merged = mergeSchemas(merged, own);
  }
  return merged;
}

/** The target of a local reference; undefined for every other. */
function followReference(root: Schema, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let node: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const key = decodePart(part);
    if (Array.isArray(node)) node = node[Number(key)];
    else node = isRecord(node) && Object.hasOwn(node, key) ? node[key] : undefined;
  }
  return node;
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return part;
  }
}

type Merge = (left: unknown, right: unknown) => unknown;

const larger: Merge = (left, right) => Math.max(Number(left), Number(right));
const smaller: Merge = (left, right) => Math.min(Number(left), Number(right));
const both: Merge = (left, right) => ({ allOf: [left, right] });

/** How a keyword that both parts have is merged; the others: the last one counts, and validation decides. */
const MERGES: Readonly<Record<string, Merge>> = {
  properties: (left, right) => mergeMaps(left, right),
  patternProperties: (left, right) => mergeMaps(left, right),
  required: (left, right) => [...new Set([...asList(left), ...asList(right)])],
  enum: (left, right) => {
    const known = new Set(asList(right).map((value) => JSON.stringify(value)));
    return asList(left).filter((value) => known.has(JSON.stringify(value)));
  },
  type: (left, right) => {
    const kinds = [right].flat();
    const shared = [left].flat().filter((kind) => kinds.includes(kind));
    return shared.length > 0 ? shared : narrowNumber([left].flat(), kinds);
  },
  items: both,
  additionalProperties: both,
  minimum: larger,
  exclusiveMinimum: larger,
  minLength: larger,
  minItems: larger,
  minProperties: larger,
  maximum: smaller,
  exclusiveMaximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
  maxProperties: smaller,
};

function mergeSchemas(left: Schema, right: Schema): Schema {
  const merged: Record<string, unknown> = { ...left };
  for (const [key, value] of Object.entries(right)) {
    const merge = Object.hasOwn(left, key) && Object.hasOwn(MERGES, key) ? MERGES[key] : undefined;
    merged[key] = merge === undefined ? value : merge(left[key], value);
  }
  return merged;
}

function mergeMaps(left: unknown, right: unknown): Schema {
  const merged: Record<string, unknown> = isRecord(left) ? { ...left } : {};
  for (const [key, value] of Object.entries(isRecord(right) ? right : {}))
    merged[key] = Object.hasOwn(merged, key) ? both(merged[key], value) : value;
  return merged;
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Every integer is a number. */
const narrowNumber = (left: readonly unknown[], right: readonly unknown[]): readonly string[] =>
  [left, right].every((kinds) => kinds.includes('number') || kinds.includes('integer')) ? ['integer'] : [];
