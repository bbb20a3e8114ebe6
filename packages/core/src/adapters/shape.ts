import { type Keywords, toText } from './json.js';

export type ShapeKind =
  | 'string'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'null'
  | 'array'
  | 'object'
  | 'union'
  | 'any'
  | 'never';

/** One node of a schema with a single kind; null is separate, and all other keywords are in `limits`. */
export interface Shape {
  readonly kind: ShapeKind;
  readonly nullable: boolean;
  readonly description: string;
  readonly limits: Keywords;
  readonly values?: readonly unknown[];
  /** Arrays only. */
  readonly items?: Shape;
  /** Objects only, as are `required` and `rest`. */
  readonly properties: ReadonlyMap<string, Shape>;
  readonly required: readonly string[];
  /** The schema of undeclared properties; absent if unspecified, `never` if closed. */
  readonly rest?: Shape;
  /** Unions only: two or more, none of them null, any or never. */
  readonly options: readonly Shape[];
}

/** Matches everything; the base of all other shapes. */
export const ANY: Shape = {
  kind: 'any',
  nullable: false,
  description: '',
  limits: {},
  properties: new Map(),
  required: [],
  options: [],
};

/** Matches nothing. */
export const NEVER: Shape = { ...ANY, kind: 'never' };

/** The smallest shape that matches everything that the given ones match. */
export function unite(shapes: readonly Shape[], description = ''): Shape {
  const flat = shapes.flatMap((shape) =>
    shape.kind === 'union' && !shape.description ? shape.options : [shape],
  );
  const nullable = shapes.some((shape) => shape.nullable || shape.kind === 'null');
  const options = flat.filter(({ kind }) => kind !== 'null' && kind !== 'never');
  const [first] = options;
  if (first === undefined) return { ...ANY, kind: nullable ? 'null' : 'never', description };
  if (options.length === 1) return { ...first, nullable, description: join(description, first.description) };
  if (options.some(({ kind }) => kind === 'any')) return { ...ANY, description };
  return { ...ANY, kind: 'union', nullable, description, options };
}

/** One object that matches every given object: all their properties, and the required ones in common. */
export function collapse(options: readonly Shape[]): Shape {
  const objects = options.filter(({ kind }) => kind === 'object');
  const properties = new Map<string, Shape>();
  for (const [key, shape] of objects.flatMap((object) => [...object.properties])) {
    const before = properties.get(key);
    if (before === undefined) properties.set(key, shape);
    else if (!isAlike(before, shape)) properties.set(key, unite([before, shape]));
  }
  const required = [...properties.keys()].filter((key) =>
    objects.every((object) => object.required.includes(key)),
  );
  const closed = objects.length > 0 && objects.every((object) => object.rest?.kind === 'never');
  const nullable = options.some((option) => option.nullable || option.kind === 'null');
  return { ...ANY, kind: 'object', properties, required, nullable, ...(closed ? { rest: NEVER } : {}) };
}

function isAlike(a: Shape, b: Shape): boolean {
  const [first, second] = [a, b].map((shape) => toText([sketch(shape), shape.description, shape.limits]));
  return first === second;
}

/** A shape in one line of TypeScript-like text, for descriptions. */
export function sketch(shape: Shape): string {
  const text = shape.values ? shape.values.map((value) => toText(value)).join(' | ') : sketchKind(shape);
  const whole = shape.nullable ? `${text} | null` : text;
  return whole.length > 1000 ? `${whole.slice(0, 1000)}…` : whole;
}

function sketchKind(shape: Shape): string {
  if (shape.kind === 'array') return `Array<${sketch(shape.items ?? ANY)}>`;
  if (shape.kind === 'union') return shape.options.map(sketch).join(' | ');
  if (shape.kind !== 'object') return shape.kind;
  const fields = [...shape.properties].map(
    ([key, value]) => `${key}${shape.required.includes(key) ? '' : '?'}: ${sketch(value)}`,
  );
  return fields.length > 0 ? `{ ${fields.join(', ')} }` : 'object';
}

/** Two pieces of description as one. */
export function join(first: string, second: string): string {
  return first && second ? `${first} ${second}` : first || second;
}

/** Whether a dialect supports a keyword (including `enum`) with this value on a node of this kind. */
export type KeywordFilter = (keyword: string, value: unknown, kind: ShapeKind) => boolean;

/** The keywords of a shape that a dialect supports, and its description with the others added. */
export function splitKeywords(
  shape: Shape,
  keeps: KeywordFilter,
): { readonly kept: Keywords; readonly text: string } {
  const given = Object.entries({ ...shape.limits, ...(shape.values && { enum: shape.values }) });
  const kept = given.filter(([keyword, value]) => keeps(keyword, value, shape.kind));
  const dropped = given.filter((entry) => !kept.includes(entry));
  const notes = dropped.map(([keyword, value]) => `${keyword}: ${toText(value, 1000)}`).join('; ');
  return { kept: Object.fromEntries(kept), text: join(shape.description, notes && `(${notes})`) };
}
