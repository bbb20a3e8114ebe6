import type { Keywords } from './json.js';
import { type NameRule, namer } from './safe-names.js';
import { join, type KeywordFilter, type Shape, splitKeywords } from './shape.js';

/** A shape as JSON Schema 2020-12; unsupported keywords go into descriptions. */
export function toJsonSchema(shape: Shape, keeps: KeywordFilter): Keywords {
  const { kind, items, rest } = shape;
  const nullable = shape.nullable && kind !== 'null';
  const inner = (child: Shape) => toJsonSchema(child, keeps);
  if (nullable && (kind === 'object' || kind === 'array')) {
    return { anyOf: [inner({ ...shape, nullable: false }), { type: 'null' }] };
  }
  const { kept, text } = splitKeywords(shape, keeps);
  const untyped = kind === 'any' || kind === 'union';
  const options = shape.options.map(inner);
  const properties = [...shape.properties].map(([key, value]) => [key, inner(value)]);
  return {
    ...(!untyped && { type: nullable ? [kind, 'null'] : kind }),
    ...(text && { description: text }),
    ...kept,
    ...(Array.isArray(kept.enum) && nullable && { enum: [...kept.enum, null] }),
    ...(kind === 'union' && { anyOf: nullable ? [...options, { type: 'null' }] : options }),
    ...(items && { items: inner(items) }),
    ...(kind === 'object' && { properties: Object.fromEntries(properties) }),
    ...(shape.required.length > 0 && { required: shape.required }),
    ...(rest && { additionalProperties: rest.kind === 'never' ? false : inner(rest) }),
  };
}

/** Gives root properties valid names; the original name is added to the description. */
export function renameParameters(root: Shape, rule: NameRule): Shape {
  const nameOf = namer(root.properties.keys(), rule);
  const properties = [...root.properties].map(([key, shape]) => {
    const note = nameOf(key) === key ? '' : `(named ${key})`;
    return [nameOf(key), { ...shape, description: join(shape.description, note) }] as const;
  });
  return { ...root, properties: new Map(properties), required: root.required.map(nameOf) };
}
