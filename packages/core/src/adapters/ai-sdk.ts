import type { AdaptableTool } from './adaptable-tool.js';
import { type ObjectSchema, toPortable } from './portable.js';
import { isImage, toParts, toPlainText } from './result-parts.js';
import { ANTHROPIC_PARAMETERS, toolNamer } from './safe-names.js';
import { toArguments } from './tool-call.js';

/** Runs a tool of the catalog by name; usually returns an MCP result. */
export type ExecuteTool = (
  name: string,
  input: unknown,
  options: { readonly signal: AbortSignal | undefined },
) => Promise<unknown>;

/** A dynamic tool for the AI SDK (version 6), created without importing the SDK. */
export interface AiSdkTool {
  type: 'dynamic';
  title?: string;
  description: string;
  inputSchema: AiSdkSchema;
  execute: (input: unknown, options: { readonly abortSignal?: AbortSignal }) => Promise<unknown>;
  toModelOutput: (options: { readonly output: unknown }) => AiSdkModelOutput;
}

/** The `output` of a tool result part. */
export type AiSdkModelOutput =
  | { type: 'text' | 'error-text'; value: string }
  | { type: 'content'; value: AiSdkContent[] };

export type AiSdkContent =
  | { type: 'text'; text: string }
  | { type: 'image-data' | 'file-data'; data: string; mediaType: string };

/** A ToolSet for the AI SDK; `execute` gets the catalog's name and arguments, whatever names the model sees. */
export function toAiSdkTools(
  tools: readonly AdaptableTool[],
  execute: ExecuteTool,
): Record<string, AiSdkTool> {
  const nameOf = toolNamer(tools);
  const entries = tools.map((tool): [string, AiSdkTool] => {
    // Not all provider packages resolve references, so they are inlined.
    const { description, schema } = toPortable(tool, { parameters: ANTHROPIC_PARAMETERS, refs: false });
    return [
      nameOf(tool.name),
      {
        type: 'dynamic',
        ...(tool.title && { title: tool.title }),
        description,
        inputSchema: toAiSdkSchema(schema),
        execute: (input, { abortSignal }) =>
          execute(tool.name, toArguments(tool, input), { signal: abortSignal }),
        toModelOutput: ({ output }) => toAiSdkModelOutput(output),
      },
    ];
  });
  return Object.fromEntries(entries);
}

/** A result for the model: text, or content parts if it has media. */
export function toAiSdkModelOutput(result: unknown): AiSdkModelOutput {
  const whole = toParts(result);
  if (whole.failed) return { type: 'error-text', value: toPlainText({ ...whole, failed: false }) };
  if (whole.parts.every((part) => 'text' in part)) return { type: 'text', value: toPlainText(whole) };
  const value = whole.parts.map((part): AiSdkContent => {
    if ('text' in part) return { type: 'text', text: part.text };
    return { type: isImage(part) ? 'image-data' : 'file-data', data: part.data, mediaType: part.mimeType };
  });
  return { type: 'content', value };
}

/** Standard Schema in its types; at run time the SDK uses its own marker, which leaves the schema untouched. */
export interface AiSdkSchema {
  readonly jsonSchema: ObjectSchema;
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
}

function toAiSdkSchema(jsonSchema: ObjectSchema): AiSdkSchema {
  const copy = () => ({ ...jsonSchema });
  return {
    // The SDK recognizes its schemas by this registered symbol and both fields.
    [Symbol.for('vercel.ai.schema')]: true,
    jsonSchema,
    validate: undefined,
    '~standard': {
      version: 1,
      vendor: 'turnbuckle',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: copy, output: copy },
    },
  } as AiSdkSchema;
}
