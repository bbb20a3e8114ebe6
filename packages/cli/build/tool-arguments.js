/** Tool arguments as people type them: `key=value` read by the schema, `key:=json` as JSON. */
import { TurnbuckleError } from 'turnbuckle';
/** The arguments; a word that fits neither form, or JSON that is none, is an error that names it. */
export function readArguments(words, schema) {
  const args = {};
  for (const word of words) {
    const [, key = '', colon = '', value = ''] = /^([^=:]+)(:?)=([\s\S]*)$/.exec(word) ?? [];
    if (key === '') throw invalid(`"${word}" is neither key=value nor key:=json.`);
    args[key] = colon === ':' ? readJson(key, value) : coerce(value, propertyOf(schema, key));
  }
  return args;
}
/** The required arguments that are not there. */
export function missingArguments(args, { required }) {
  return Array.isArray(required) ? required.filter((key) => typeof key === 'string' && !(key in args)) : [];
}
/** A text as the type that the schema asks for; as it is when it cannot be that, so that the check can say why. */
export function coerce(text, schema) {
  const types = typesOf(schema);
  if (types.has('string')) return text;
  if (
    (types.has('integer') || types.has('number')) &&
    /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text.trim())
  )
    return Number(text);
  if (types.has('boolean') && /^(true|false|yes|no|on|off)$/i.test(text))
    return /^(true|yes|on)$/i.test(text);
  if (types.has('null') && text === 'null') return null;
  if (types.has('array') || types.has('object')) return coerceCompound(text, schema, types);
  return types.size === 0 ? looseValue(text) : text;
}
function coerceCompound(text, schema, types) {
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
  return text === '' ? [] : text.split(',').map((item) => coerce(item.trim(), items));
}
/** Nothing is said about the type: JSON if it is JSON, else the text. */
function looseValue(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
function typesOf(schema) {
  const own =
    typeof schema.type === 'string'
      ? [schema.type]
      : Array.isArray(schema.type)
        ? schema.type.map(String)
        : [];
  const branches = [schema.anyOf, schema.oneOf].flatMap((list) =>
    Array.isArray(list) ? list.filter(isSchema) : [],
  );
  const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : [];
  return new Set([
    ...own,
    ...branches.flatMap((branch) => [...typesOf(branch)]),
    ...(own.length === 0 ? values.map((value) => typeof value) : []),
  ]);
}
function propertyOf(schema, key) {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  return isSchema(property) ? property : {};
}
function readJson(key, text) {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid(`The value of ${key} is not JSON: ${text.slice(0, 60)}`, cause);
  }
}
const isSchema = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const invalid = (message, cause) =>
  new TurnbuckleError('ARGUMENTS_INVALID', message, {
    cause,
    hint: 'Write key=value, or key:=json for lists and objects.',
  });
//# sourceMappingURL=tool-arguments.js.map
