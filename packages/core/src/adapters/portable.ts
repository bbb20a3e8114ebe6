import { isRecord } from '../json/is-record.js';
import { type AdaptableTool, toolText } from './adaptable-tool.js';
import { type Keywords, resolveRef } from './json.js';
import type { NameRule } from './safe-names.js';
import { join } from './shape.js';
import { renameParameters, toJsonSchema } from './to-json-schema.js';
import { toRootShape } from './to-shape.js';

/** A JSON Schema (2020-12) with a plain object at its root, for permissive APIs. */
export interface ObjectSchema extends Keywords {
  readonly type: 'object';
  readonly properties: Keywords;
}

/** `parameters`: the valid parameter names, all if absent; `refs`: false if references must be inlined. */
interface PortableOptions {
  readonly parameters?: NameRule;
  readonly refs?: boolean;
}

/**
 * Description and schema for an API that supports nearly all of JSON Schema. A valid schema is passed unchanged; any
 * other is rewritten, and what cannot be kept is added to the description.
 */
export function toPortable(
  tool: AdaptableTool,
  options: PortableOptions = {},
): { readonly description: string; readonly schema: ObjectSchema } {
  const plain = asPlainRoot(tool.inputSchema, options);
  if (plain) return { description: toolText(tool), schema: plain };
  const { shape } = toRootShape(tool.inputSchema);
  const root = options.parameters ? renameParameters(shape, options.parameters) : shape;
  const { description = '', properties, ...schema } = toJsonSchema(root, isSupportedKeyword);
  return {
    description: join(toolText(tool), String(description)),
    schema: { ...schema, type: 'object', properties: isRecord(properties) ? properties : {} },
  };
}

// A keyword with a nested schema may contain references that no longer resolve: it moves to the description.
function isSupportedKeyword(keyword: string, value: unknown): boolean {
  return keyword === 'enum' || (typeof value !== 'object' && !SINGLE_SCHEMA_KEYWORDS.includes(keyword));
}

const ROOT_FORBIDDEN = ['$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not'];

function asPlainRoot(
  schema: unknown,
  { parameters, refs = true }: PortableOptions,
): ObjectSchema | undefined {
  if (!isRecord(schema) || schema.type !== 'object') return undefined;
  if (ROOT_FORBIDDEN.some((keyword) => keyword in schema)) return undefined;
  const { $schema, $id, properties = {}, ...rest } = schema;
  if (!isRecord(properties) || !isValidDraft2020(schema, { root: schema, refs, depth: 0 })) return undefined;
  const named = Object.keys(properties).every((key) => parameters?.valid.test(key) ?? true);
  return named ? { ...rest, type: 'object', properties } : undefined;
}

const TYPES: readonly unknown[] = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const SCHEMA_LIST_KEYWORDS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const SCHEMA_MAP_KEYWORDS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const SINGLE_SCHEMA_KEYWORDS = ['items', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'];
const SCHEMA_OR_BOOLEAN_KEYWORDS = ['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'];
const LEGACY_KEYWORDS = ['$dynamicRef', 'dependencies', 'nullable'];

interface Scope {
  readonly root: Keywords;
  readonly refs: boolean;
  readonly depth: number;
}

/** Whether a schema is valid 2020-12 with resolvable references, so that it can be sent unchanged. */
function isValidDraft2020(schema: unknown, scope: Scope): boolean {
  if (!isRecord(schema) || scope.depth > 30) return false;
  const fine = (value: unknown) => isValidDraft2020(value, { ...scope, depth: scope.depth + 1 });
  if (schema.type === 'array' && !('items' in schema || 'prefixItems' in schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (SCHEMA_LIST_KEYWORDS.includes(keyword))
      return Array.isArray(value) && value.length > 0 && value.every(fine);
    if (SCHEMA_MAP_KEYWORDS.includes(keyword)) return isRecord(value) && Object.values(value).every(fine);
    if (SINGLE_SCHEMA_KEYWORDS.includes(keyword)) return fine(value);
    if (SCHEMA_OR_BOOLEAN_KEYWORDS.includes(keyword)) return typeof value === 'boolean' || fine(value);
    if (keyword === 'type') return TYPES.includes(value);
    if (keyword === 'required') return Array.isArray(value) && value.every((key) => typeof key === 'string');
    if (keyword === 'enum') return Array.isArray(value) && value.length > 0;
    if (keyword === '$ref') return scope.refs && isRecord(resolveRef(scope.root, String(value)));
    return (
      !LEGACY_KEYWORDS.includes(keyword) && (!keyword.startsWith('exclusive') || typeof value === 'number')
    );
  });
}
