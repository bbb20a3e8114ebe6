/** Tool arguments as people type them: `key=value` read by the schema, `key:=json` as JSON. */
import { TurnbuckleError } from 'turnbuckle';
import { parseLossless } from 'turnbuckle/host';
import { isRecord } from 'turnbuckle/light';
import { resolveReference } from './resolve-reference.js';

type Schema = Readonly<Record<string, unknown>>;

/** Parses arguments; throws for a word in neither form and for invalid JSON. */
export function parseArguments(words: readonly string[], schema: Schema): Record<string, unknown> {
  const parts = new Map<string, string>();
  for (const word of words) {
    const [, key = '', colon = '', value = ''] = /^([^=]+?)(:?)=([\s\S]*)$/.exec(word) ?? [];
    if (key === '') throw invalid(`Invalid argument "${word}": expected key=value or key:=json.`);
    const text =
      colon === ':'
        ? checkJson(key, value)
        : (JSON.stringify(coerce(value, propertyOf(schema, key), schema)) ?? 'null');
    parts.set(key, `${JSON.stringify(key)}:${text}`);
  }
  // Read as one text: a number that JavaScript cannot hold is sent as it was typed.
  return parseLossless(`{${[...parts.values()].join(',')}}`) as Record<string, unknown>;
}

/** The required arguments that are not there. */
export function missingArguments(args: Readonly<Record<string, unknown>>, { required }: Schema): string[] {
  return Array.isArray(required)
    ? required.filter((key): key is string => typeof key === 'string' && !Object.hasOwn(args, key))
    : [];
}

/** Keywords with which an argument can be known without being listed. */
const OTHER_KEYWORDS = ['patternProperties', 'allOf', 'anyOf', 'oneOf', '$ref'];

/** The arguments that the schema does not list; none if it may know them in another way. */
export function unknownArguments(args: Readonly<Record<string, unknown>>, schema: Schema): string[] {
  const { properties, additionalProperties } = schema;
  const isOpen = additionalProperties !== undefined && additionalProperties !== false;
  if (!isSchema(properties) || isOpen || OTHER_KEYWORDS.some((keyword) => keyword in schema)) return [];
  return Object.keys(args).filter((key) => !Object.hasOwn(properties, key));
}

export interface ArgumentInfo {
  /** What it may be, in the words of JSON Schema; none when the schema does not say. */
  readonly types: readonly string[];
  readonly description?: string | undefined;
  /** The only values there are. */
  readonly choices?: readonly string[] | undefined;
  parse(text: string): unknown;
  /** Is it one of the types? The whole check is made before the call. */
  fits(value: unknown): boolean;
}

/** What is known about an argument, for a prompt. */
export function describeArgument(key: string, root: Schema): ArgumentInfo {
  const schema = resolveReferences(propertyOf(root, key), root);
  const types = [...typesOf(schema, root)];
  const { description, enum: values } = schema;
  const isChoice =
    Array.isArray(values) && values.length > 0 && values.every((one) => typeof one === 'string');
  return {
    types,
    description: typeof description === 'string' ? description : undefined,
    choices: isChoice ? values : undefined,
    parse: (text) => coerce(text, schema, root),
    fits: (value) => types.length === 0 || types.some((type) => isOfType(value, type)),
  };
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null' || type === 'array') return type === 'null' ? value === null : Array.isArray(value);
  return type === 'object' ? isSchema(value) : typeof value === type;
}

/** Converts a text to the type in the schema; returns it unchanged if that fails, so that validation reports it. */
export function coerce(text: string, property: Schema, root: Schema = property): unknown {
  const schema = resolveReferences(property, root);
  const types = typesOf(schema, root);
  if (types.has('string')) return text;
  if ((types.has('integer') || types.has('number')) && isExactNumber(text.trim())) return Number(text);
  if (types.has('boolean') && /^(true|false|yes|no|on|off)$/i.test(text))
    return /^(true|yes|on)$/i.test(text);
  if (types.has('null') && text === 'null') return null;
  if (types.has('array') || types.has('object')) return coerceCompound(text, { schema, root, types });
  return types.size === 0 ? parseLoosely(text) : text;
}

/** Written as a number, and one that does not become another by being one. */
function isExactNumber(text: string): boolean {
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text)) return false;
  const value = Number(text);
  return Number.isFinite(value) && (!/^[-+]?\d+$/.test(text) || Number.isSafeInteger(value));
}

interface Expected {
  readonly schema: Schema;
  readonly root: Schema;
  readonly types: ReadonlySet<string>;
}

function coerceCompound(text: string, { schema, root, types }: Expected): unknown {
  if (/^\s*[[{]/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  if (!types.has('array')) return text;
  // A list of plain values can be written with commas.
  const items = isSchema(schema.items) ? schema.items : {};
  return text === '' ? [] : text.split(',').map((item) => coerce(item.trim(), items, root));
}

/** No type in the schema: JSON if it parses, else the text. */
function parseLoosely(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const MAX_REFERENCES = 10;

function resolveReferences(schema: Schema, root: Schema): Schema {
  let result = schema;
  for (let count = 0; count < MAX_REFERENCES && typeof result.$ref === 'string'; count += 1) {
    const target = resolveReference(result.$ref, root);
    if (!isSchema(target)) return {};
    result = target;
  }
  return result;
}

function typesOf(written: Schema, root: Schema, depth = 0): Set<string> {
  const schema = resolveReferences(written, root);
  const own =
    typeof schema.type === 'string'
      ? [schema.type]
      : Array.isArray(schema.type)
        ? schema.type.map(String)
        : [];
  const branches = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) =>
    Array.isArray(list) && depth < MAX_REFERENCES ? list.filter(isSchema) : [],
  );
  const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : [];
  return new Set([
    ...own,
    ...branches.flatMap((branch) => [...typesOf(branch, root, depth + 1)]),
    ...(own.length === 0 ? values.map((value) => (value === null ? 'null' : typeof value)) : []),
  ]);
}

function propertyOf(schema: Schema, key: string): Schema {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  return isSchema(property) ? property : {};
}

function checkJson(key: string, text: string): string {
  try {
    JSON.parse(text);
    return text.trim();
  } catch (cause) {
    throw invalid(`The value of ${key} is not JSON: ${text.slice(0, 60)}`, cause);
  }
}

const isSchema = (value: unknown): value is Schema => isRecord(value);

const invalid = (message: string, cause?: unknown): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', message, {
    cause,
    hint: 'Use key=value, or key:=json for lists and objects.',
  });
