/**
 * Makes an untrusted schema safe to compile: a copy without formats and ids, with dangerous patterns bounded or
 * removed, and with the cost of following its references. Nothing is ever fetched: a reference outside the schema is
 * an error.
 */
import { isRecord } from '../../json/is-record.js';
import { type CheckWork, recursiveWorkOf, workOf } from './check-work.js';
import { hasInfiniteReference } from './infinite-reference.js';
import { boundPattern } from './pattern-guard.js';

/** The cost of validating one node of a value, and the factor for each level below it. */
export interface CheckCost {
  readonly cost: number;
  /** 0: not recursive. */
  readonly growth: number;
  readonly work: CheckWork;
}

export type GuardedSchema =
  | ({ readonly schema: Record<string, unknown> } & CheckCost)
  | { readonly fault: string };

const SUPPORTED_DIALECTS = [
  'json-schema.org/draft/2020-12/schema',
  'json-schema.org/draft/2019-09/schema',
  'json-schema.org/draft-07/schema',
  'json-schema.org/draft-06/schema',
  'json-schema.org/draft-04/schema',
];

const DROPPED_KEYWORDS = new Set([
  '$schema',
  '$id',
  'id',
  'format',
  'title',
  'description',
  'examples',
  'default',
  '$comment',
  'x-mcp-header',
]);
/** Keywords whose value is data, not a schema. */
const DATA_KEYWORDS = new Set(['enum', 'const', 'required', 'dependentRequired']);
/** Keywords whose value maps names to schemas. */
const SCHEMA_MAP_KEYWORDS = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);
const REFERENCES = new Set(['$ref', '$dynamicRef', '$recursiveRef']);
const MAX_COST = 100_000;

export function guardSchema(root: Readonly<Record<string, unknown>>): GuardedSchema {
  const dialect = root.$schema;
  if (
    typeof dialect === 'string' &&
    !SUPPORTED_DIALECTS.includes(dialect.replace(/^https?:\/\//, '').replace(/#$/, ''))
  ) {
    return { fault: `the dialect "${dialect.slice(0, 100)}" is not supported` };
  }
  const references = new Set<string>();
  const schema = copy(root, references);
  if (!isRecord(schema)) return { fault: 'the schema is not an object' };
  for (const reference of references) {
    if (resolve(schema, reference) === undefined)
      return { fault: `the reference "${reference.slice(0, 100)}" points outside the schema` };
  }
  if (references.size > 0 && hasInfiniteReference(schema, (reference) => resolve(schema, reference)))
    return { fault: 'the schema has an infinitely recursive reference' };
  const { cost, growth } = references.size === 0 ? { cost: 0, growth: 0 } : countCost(schema);
  if (cost > MAX_COST) return { fault: `the references in the schema expand to more than ${MAX_COST} nodes` };
  const follow = (reference: string): unknown => resolve(schema, reference);
  const work = growth === 0 ? workOf(schema, follow) : recursiveWorkOf(schema, cost);
  return { schema, cost, growth, work };
}

function copy(node: unknown, references: Set<string>): unknown {
  if (Array.isArray(node)) return node.map((item) => copy(item, references));
  if (!isRecord(node)) return node;
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    if (DATA_KEYWORDS.has(key)) result[key] = value;
    else if (SCHEMA_MAP_KEYWORDS.has(key) && isRecord(value)) result[key] = copyMap(key, value, references);
    else if (!DROPPED_KEYWORDS.has(key) && key !== 'pattern') result[key] = copy(value, references);
  }
  for (const key of REFERENCES) if (typeof node[key] === 'string') references.add(node[key]);
  if (typeof node.pattern !== 'string') return result;
  const bounded = boundPattern(node.pattern);
  return bounded === undefined
    ? result
    : { ...result, allOf: [...(Array.isArray(result.allOf) ? result.allOf : []), bounded] };
}

function copyMap(
  key: string,
  map: Record<string, unknown>,
  references: Set<string>,
): Record<string, unknown> {
  const entries = Object.entries(map).map(([name, value]) => [name, copy(value, references)] as const);
  // The names of patternProperties are patterns too, and cannot be bounded by length.
  const safe = key === 'patternProperties' ? entries.filter(([name]) => isSafePattern(name)) : entries;
  return Object.fromEntries(safe);
}

const isSafePattern = (pattern: string): boolean =>
  !/[*+{]/.test(pattern) || /^\^?[\w-]*(\.\*|\[[^\]]*\][*+])?\$?$/.test(pattern);

/** The target of a local reference (`#`, `#/a/b`). Anchors count as outside. */
function resolve(root: Record<string, unknown>, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let node: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const key = decode(part);
    node = Array.isArray(node) || isRecord(node) ? Reflect.get(node, key) : undefined;
  }
  return node;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return part;
  }
}

interface Extent {
  /** How many subschemas one value may be validated against if every reference is followed. */
  readonly parts: number;
  /** How many paths lead from here back to a schema that is already being followed. */
  readonly returns: number;
}

const NO_EXTENT: Extent = { parts: 0, returns: 0 };

function countCost(root: Record<string, unknown>): Omit<CheckCost, 'work'> {
  const known = new Map<object, Extent>();
  const open = new Set<object>();
  let growth = 0;
  const extentOf = (node: unknown): Extent => {
    if (typeof node !== 'object' || node === null) return NO_EXTENT;
    const before = known.get(node);
    if (before !== undefined) return before;
    if (open.has(node)) return { parts: 1, returns: 1 };
    open.add(node);
    const extent = sumOf(node);
    open.delete(node);
    known.set(node, extent);
    growth = Math.max(growth, extent.returns);
    return extent;
  };
  const sumOf = (node: object): Extent => {
    let parts = 1;
    let returns = 0;
    for (const [key, value] of Object.entries(node)) {
      if (key === '$defs' || key === 'definitions' || DATA_KEYWORDS.has(key)) continue;
      const refers = REFERENCES.has(key) && typeof value === 'string';
      const extent = key === 'properties' ? widestOf(value) : extentOf(refers ? resolve(root, value) : value);
      parts += extent.parts;
      returns += extent.returns;
      if (parts > MAX_COST) break;
    }
    return { parts, returns };
  };
  /** Each member of a value belongs to one property, so their paths do not add up. */
  const widestOf = (properties: unknown): Extent => {
    const extents = Object.values(isRecord(properties) ? properties : {}).map(extentOf);
    return {
      parts: extents.reduce((sum, { parts }) => sum + parts, 1),
      returns: extents.reduce((most, { returns }) => Math.max(most, returns), 0),
    };
  };
  return { cost: extentOf(root).parts, growth };
}
