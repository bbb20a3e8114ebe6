import { isRecord } from '../json/is-record.js';
import type { AdaptableTool } from './adaptable-tool.js';
import { ANTHROPIC_PARAMETERS, GEMINI_PARAMETERS, namer, toolNamer } from './safe-names.js';
import type { Shape } from './shape.js';
import { toRootShape } from './to-shape.js';

/** A call in the catalog's terms. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: unknown;
}

/** Converts a model's call back to the catalog's name and arguments; undefined if the tool is unknown. */
export function toToolCall(
  tools: readonly AdaptableTool[],
  call: { readonly name: string; readonly input: unknown },
): ToolCall | undefined {
  const nameOf = toolNamer(tools);
  const tool = tools.find(({ name }) => nameOf(name) === call.name);
  return tool && { name: tool.name, arguments: toArguments(tool, call.input) };
}

/** Reverses the changes of the adapters: wrapped roots, renamed parameters, null for omitted. */
export function toArguments(tool: AdaptableTool, input: unknown): unknown {
  const { shape, wrapped } = toRootShape(tool.inputSchema);
  if (!isRecord(input)) return input;
  if (wrapped) return input.input;
  const original = new Map<string, string>();
  for (const rule of [ANTHROPIC_PARAMETERS, GEMINI_PARAMETERS]) {
    const nameOf = namer(shape.properties.keys(), rule);
    for (const key of shape.properties.keys()) original.set(nameOf(key), key);
  }
  const renamed = Object.entries(input).map(([key, value]) => [original.get(key) ?? key, value]);
  return withoutNulls(shape, Object.fromEntries(renamed));
}

/** Removes nulls that mean an omitted optional property: those that the schema does not allow. */
function withoutNulls(shape: Shape, value: unknown): unknown {
  const { items } = shape;
  if (Array.isArray(value)) return items ? value.map((item) => withoutNulls(items, item)) : value;
  if (!isRecord(value)) return value;
  const keys = Object.keys(value);
  const object = [shape, ...shape.options].find(
    ({ kind, properties }) => kind === 'object' && keys.every((key) => properties.has(key)),
  );
  const { properties, required } = object ?? shape;
  const kept = Object.entries(value).flatMap(([key, inner]) => {
    const declared = properties.get(key);
    if (declared === undefined) return [[key, inner]];
    const admitsNull = declared.nullable || declared.kind === 'null' || declared.kind === 'any';
    return inner === null && !admitsNull && !required.includes(key)
      ? []
      : [[key, withoutNulls(declared, inner)]];
  });
  return Object.fromEntries(kept);
}
