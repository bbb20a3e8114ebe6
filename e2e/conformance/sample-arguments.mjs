/** @typedef {{ inputSchema: Record<string, unknown> }} Tool */

/**
 * Arguments that a tool's input schema should accept: one value for each required property. For a free-form
 * object it is the first tool's own schema, the richest object available.
 * @param {Tool} tool
 * @param {readonly Tool[]} tools
 * @returns {Record<string, unknown>}
 */
export function sampleArguments(tool, tools) {
  const required = Array.isArray(tool.inputSchema.required) ? tool.inputSchema.required : [];
  const properties = asRecord(tool.inputSchema.properties);
  return Object.fromEntries(
    required.map((name) => [name, sampleValue(asRecord(properties[name]), tools[0]?.inputSchema ?? {})]),
  );
}

/**
 * @param {Record<string, unknown>} schema
 * @param {Record<string, unknown>} freeForm
 * @returns {unknown}
 */
function sampleValue(schema, freeForm) {
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'number' || type === 'integer') return typeof schema.minimum === 'number' ? schema.minimum : 1;
  if (type === 'boolean') return true;
  if (type === 'array') return [];
  if (type === 'null') return null;
  if (type !== 'object') return 'sample';
  return schema.properties === undefined
    ? freeForm
    : sampleArguments({ inputSchema: schema }, [{ inputSchema: freeForm }]);
}

/**
 * @param {unknown} value
 * @returns {Record<string, unknown>}
 */
function asRecord(value) {
  return typeof value === 'object' && value !== null ? /** @type {Record<string, unknown>} */ (value) : {};
}
