import type { Call, FixtureTool } from '../kernel/behaviour.js';
import type { JsonObject } from '../kernel/json.js';

interface ToolOptions extends JsonObject {
  readonly name: string;
  readonly description: string;
  /** Properties of the input; all are required unless `required` is given. */
  readonly input?: JsonObject;
  readonly required?: readonly string[];
}

/** A well-formed tool; further members (annotations, outputSchema, …) are copied into the definition. */
export function createTool(
  { input = {}, required = Object.keys(input), ...definition }: ToolOptions,
  run: (args: JsonObject, call: Call) => unknown,
): FixtureTool {
  return { definition: { ...definition, inputSchema: { type: 'object', properties: input, required } }, run };
}

/** A result with one text. */
export function toText(text: string): JsonObject {
  return { content: [{ type: 'text', text }] };
}

/** A result with `isError`. */
export function toFailure(text: string): JsonObject {
  return { ...toText(text), isError: true };
}
