/**
 * Converts any JSON Schema to a Shape, a small closed vocabulary from which each API's dialect is generated:
 * references inlined, `allOf` merged, one type per node, older drafts supported. Bounded, never throws.
 */
import { isRecord } from '../json/is-record.js';
import { flatten, intersectKeyword, type Walk } from './flatten.js';
import { type Keywords, toText } from './json.js';
import { ANY, collapse, join, NEVER, type Shape, type ShapeKind, sketch, unite } from './shape.js';

const MAX_DEPTH = 20;
const MAX_NODES = 4000;
const KINDS = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;

/** The keywords that are useful to a model, by type. */
const UNIVERSAL_KEYWORDS = ['default', 'examples', 'not', 'if', 'then', 'else'];
const NUMERIC = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'format'];
const TYPE_KEYWORDS: Readonly<Partial<Record<ShapeKind, readonly string[]>>> = {
  object: [
    'minProperties',
    'maxProperties',
    'patternProperties',
    'propertyNames',
    'dependentRequired',
    'dependencies',
  ],
  array: ['minItems', 'maxItems', 'uniqueItems', 'contains'],
  string: ['minLength', 'maxLength', 'pattern', 'format', 'contentEncoding'],
  number: NUMERIC,
  integer: NUMERIC,
};
const STRUCTURE_KEYWORDS: Readonly<Partial<Record<ShapeKind, readonly string[]>>> = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'prefixItems'],
};

/**
 * The parameters of a schema. Every API requires one object, so a union of objects is collapsed and anything else is
 * wrapped as `input`. Never throws; bounded in depth and size.
 */
export function toRootShape(schema: unknown): { readonly shape: Shape; readonly wrapped: boolean } {
  const shape = shapeOf(schema, { root: schema, depth: 0, refs: [], budget: { left: MAX_NODES } });
  const { kind, description } = shape;
  if (kind === 'object') return { shape: { ...shape, nullable: false }, wrapped: false };
  if (kind === 'any' || kind === 'never')
    return { shape: { ...ANY, kind: 'object', description }, wrapped: false };
  if (shape.options.some((option) => option.kind === 'object')) {
    const note = `Must match one of: ${sketch({ ...shape, nullable: false })}`;
    const object = collapse(shape.options);
    return { shape: { ...object, nullable: false, description: join(description, note) }, wrapped: false };
  }
  const properties = new Map([['input', shape]]);
  return { shape: { ...ANY, kind: 'object', properties, required: ['input'] }, wrapped: true };
}

function shapeOf(schema: unknown, walk: Walk): Shape {
  if (walk.depth > MAX_DEPTH) return { ...ANY, description: 'Nested deeper than shown here.' };
  const done = flatten(schema, walk);
  const inner = { ...done.walk, depth: walk.depth + 1 };
  const { anyOf, oneOf, ...base } = done.flat;
  const both = Array.isArray(anyOf) && Array.isArray(oneOf);
  const branches = both ? intersectKeyword('anyOf', anyOf, oneOf) : (anyOf ?? oneOf);
  const shape = Array.isArray(branches) ? branchedShape(base, branches, inner) : plainShape(base, inner);
  return { ...shape, limits: { ...shape.limits, ...pick(base, UNIVERSAL_KEYWORDS) } };
}

function branchedShape(base: Keywords, branches: readonly unknown[], walk: Walk): Shape {
  const annotations = ['description', 'title', ...UNIVERSAL_KEYWORDS];
  const asserted = Object.fromEntries(Object.entries(base).filter(([key]) => !annotations.includes(key)));
  const options = branches.map((branch) => shapeOf({ allOf: [asserted, branch] }, walk));
  const objectsOnly = options.every(({ kind }) => kind === 'object' || kind === 'never');
  if (!isRecord(base.properties) || !objectsOnly) return unite(options, textOf(base));
  const note = `Must match one of: ${branches.map((branch) => sketch(shapeOf(branch, walk))).join(' | ')}`;
  return { ...collapse(options), description: join(textOf(base), note) };
}

function plainShape(flat: Keywords, walk: Walk): Shape {
  const values = 'const' in flat ? [flat.const] : Array.isArray(flat.enum) ? flat.enum : undefined;
  const kinds = kindsOf(flat, values);
  if (kinds.includes('any')) return { ...ANY, description: textOf(flat) };
  const shapes = kinds.map((kind): Shape => {
    const shape = { ...ANY, kind, limits: typedLimits(kind, flat) };
    const own = values?.filter((value) => isOfKind(value, kind));
    if (kind !== 'object' && kind !== 'array') {
      return own && kind !== 'null' ? { ...shape, values: [...new Set(own)] } : shape;
    }
    const built = kind === 'object' ? objectShape(shape, flat, walk) : arrayShape(shape, flat, walk);
    return own ? { ...built, description: join(built.description, `One of: ${toText(own, 1000)}.`) } : built;
  });
  if (flat.nullable === true) shapes.push({ ...ANY, kind: 'null' });
  return unite(shapes, textOf(flat));
}

function objectShape(shape: Shape, flat: Keywords, walk: Walk): Shape {
  const declared = isRecord(flat.properties) ? Object.entries(flat.properties) : [];
  const properties = new Map(
    declared
      .map(([key, schema]) => [key, shapeOf(schema, walk)] as const)
      .filter(([, { kind }]) => kind !== 'never'),
  );
  const beyond = flat.additionalProperties ?? (flat.unevaluatedProperties === false ? false : undefined);
  const rest = beyond === undefined ? undefined : shapeOf(beyond, walk);
  const named = Array.isArray(flat.required) ? flat.required : [];
  const required = [...new Set(named.filter((key) => typeof key === 'string'))];
  for (const key of required) {
    // Required but undeclared is legal, and a model must still know that the property exists.
    const forbidden = rest?.kind === 'never' || declared.some(([name]) => name === key);
    if (!properties.has(key) && !forbidden) properties.set(key, rest ?? ANY);
  }
  const held = required.filter((key) => properties.has(key));
  return { ...shape, properties, required: held, ...(rest && { rest }) };
}

function arrayShape(shape: Shape, flat: Keywords, walk: Walk): Shape {
  const { items, prefixItems, additionalItems } = flat;
  const tuple = Array.isArray(items) ? items : Array.isArray(prefixItems) ? prefixItems : [];
  const after = Array.isArray(items) ? additionalItems : items;
  const last = after === undefined ? (tuple.length > 0 ? NEVER : ANY) : shapeOf(after, walk);
  const first = tuple.map((entry) => shapeOf(entry, walk));
  const united = unite([...first, last]);
  if (united.kind === 'never') return { ...shape, items: ANY, limits: { ...shape.limits, maxItems: 0 } };
  const description = tuple.length > 0 ? `Items in this order: ${first.map(sketch).join(', ')}.` : '';
  return { ...shape, items: united, description };
}

function kindsOf(flat: Keywords, values: readonly unknown[] | undefined): ShapeKind[] {
  const declared = [flat.type ?? []].flat();
  if (Array.isArray(flat.type) && declared.length === 0) return [];
  const known = KINDS.filter(
    (kind) => declared.includes(kind) && !(kind === 'integer' && declared.includes('number')),
  );
  if (values) {
    const possible = known.length > 0 ? known : KINDS.filter((kind) => kind !== 'integer');
    return possible.filter((kind) => values.some((value) => isOfKind(value, kind)));
  }
  if (known.length > 0) return known;
  const speaks = (kind: ShapeKind) =>
    [...(STRUCTURE_KEYWORDS[kind] ?? []), ...(TYPE_KEYWORDS[kind] ?? [])].some((keyword) => keyword in flat);
  return [KINDS.find(speaks) ?? 'any'];
}

function isOfKind(value: unknown, kind: ShapeKind): boolean {
  if (kind === 'null') return value === null;
  if (kind === 'array') return Array.isArray(value);
  if (kind === 'object') return isRecord(value);
  return kind === 'integer' ? Number.isInteger(value) : typeof value === kind;
}

function typedLimits(kind: ShapeKind, flat: Keywords): Keywords {
  // Draft 4 expressed an exclusive bound as a flag next to the bound.
  const exclusive = (keyword: string) => (keyword === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum');
  const modern = Object.entries(pick(flat, TYPE_KEYWORDS[kind] ?? [])).map(([keyword, value]) =>
    /^m..imum$/.test(keyword) && flat[exclusive(keyword)] === true
      ? [exclusive(keyword), value]
      : [keyword, value],
  );
  return Object.fromEntries(modern);
}

function pick(flat: Keywords, keywords: readonly string[]): Keywords {
  const sound = keywords.filter((keyword) => keyword in flat && isValidKeywordValue(keyword, flat[keyword]));
  return Object.fromEntries(sound.map((keyword) => [keyword, flat[keyword]]));
}

function isValidKeywordValue(keyword: string, value: unknown): boolean {
  if (/^m(in|ax)[ILP]/.test(keyword)) return Number.isSafeInteger(value) && Number(value) >= 0;
  if (/imum$|^multiple/.test(keyword)) return typeof value === 'number';
  return keyword === 'pattern' || keyword === 'format' ? typeof value === 'string' : true;
}

function textOf({ description, title }: Keywords): string {
  return typeof description === 'string' && description
    ? description
    : typeof title === 'string'
      ? title
      : '';
}
