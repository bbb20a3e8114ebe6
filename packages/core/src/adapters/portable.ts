import { isKeywords, type Keywords, resolveRef } from './json.js';
import type { NameRule } from './safe-names.js';
import { join } from './shape.js';
import { renameParameters, toJsonSchema } from './to-json-schema.js';
import { toRootShape } from './to-shape.js';
import { type AdaptableTool, toolText } from './tool-shape.js';

/** A JSON Schema (2020-12) with a plain object at its root, as the permissive APIs take it. */
export interface ObjectSchema extends Keywords {
  readonly type: 'object';
  readonly properties: Keywords;
}

/** `parameters`: the names the API takes, all if absent; `refs`: false when references must be inlined. */
interface PortableOptions {
  readonly parameters?: NameRule;
  readonly refs?: boolean;
}

/**
 * Description and schema for an API that takes nearly all of JSON Schema. A schema that is fine as it is
 * passes unchanged; any other is rewritten, and what cannot be kept is said in the description.
 */
export function toPortable(
  tool: AdaptableTool,
  options: PortableOptions = {},
): { readonly description: string; readonly schema: ObjectSchema } {
  const plain = asPlainRoot(tool.inputSchema, options);
  if (plain) return { description: toolText(tool), schema: plain };
  const { shape } = toRootShape(tool.inputSchema);
  const root = options.parameters ? renameParameters(shape, options.parameters) : shape;
  const { description = '', properties, ...schema } = toJsonSchema(root, keeps);
  return {
    description: join(toolText(tool), String(description)),
    schema: { ...schema, type: 'object', properties: isKeywords(properties) ? properties : {} },
  };
}

// A keyword with a schema inside may hold references that no longer resolve: those are told, not kept.
function keeps(keyword: string, value: unknown): boolean {
  return keyword === 'enum' || (typeof value !== 'object' && !SINGLE.includes(keyword));
}

const ROOT_FORBIDDEN = ['$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not'];

function asPlainRoot(
  schema: unknown,
  { parameters, refs = true }: PortableOptions,
): ObjectSchema | undefined {
  if (!isKeywords(schema) || schema.type !== 'object') return undefined;
  if (ROOT_FORBIDDEN.some((keyword) => keyword in schema)) return undefined;
  const { $schema, $id, properties = {}, ...rest } = schema;
  if (!isKeywords(properties) || !isModern(schema, { root: schema, refs, depth: 0 })) return undefined;
  const named = Object.keys(properties).every((key) => parameters?.valid.test(key) ?? true);
  return named ? { ...rest, type: 'object', properties } : undefined;
}

const TYPES: readonly unknown[] = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const SINGLE = ['items', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'];
const FLAGGABLE = ['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'];
const OUTDATED = ['$dynamicRef', 'dependencies', 'nullable'];

interface Scope {
  readonly root: Keywords;
  readonly refs: boolean;
  readonly depth: number;
}

/** Whether a schema is well-formed 2020-12 with resolvable references, so that it can be sent as it is. */
function isModern(schema: unknown, scope: Scope): boolean {
  if (!isKeywords(schema) || scope.depth > 30) return false;
  const fine = (value: unknown) => isModern(value, { ...scope, depth: scope.depth + 1 });
  if (schema.type === 'array' && !('items' in schema || 'prefixItems' in schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (LISTS.includes(keyword)) return Array.isArray(value) && value.length > 0 && value.every(fine);
    if (MAPS.includes(keyword)) return isKeywords(value) && Object.values(value).every(fine);
    if (SINGLE.includes(keyword)) return fine(value);
    if (FLAGGABLE.includes(keyword)) return typeof value === 'boolean' || fine(value);
    if (keyword === 'type') return TYPES.includes(value);
    if (keyword === 'required') return Array.isArray(value) && value.every((key) => typeof key === 'string');
    if (keyword === 'enum') return Array.isArray(value) && value.length > 0;
    if (keyword === '$ref') return scope.refs && isKeywords(resolveRef(scope.root, String(value)));
    return !OUTDATED.includes(keyword) && (!keyword.startsWith('exclusive') || typeof value === 'number');
  });
}
