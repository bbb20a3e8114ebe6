import { type AdaptableTool, toolText } from './adaptable-tool.js';
import type { Keywords } from './json.js';
import { toPortable } from './portable.js';
import { isImage, isPdf, type MediaPart, toParts, toPartText, toPlainText } from './result-parts.js';
import { toolNamer } from './safe-names.js';
import { join, NEVER, type Shape, type ShapeKind } from './shape.js';
import { toJsonSchema } from './to-json-schema.js';
import { toRootShape } from './to-shape.js';

export interface OpenAiFunction {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  strict: boolean;
}
export interface OpenAiChatTool {
  type: 'function';
  function: OpenAiFunction;
}
export interface OpenAiResponsesTool extends OpenAiFunction {
  type: 'function';
}
export interface OpenAiToolsOptions {
  readonly api?: 'chat' | 'responses';
  readonly strict?: boolean;
}

/**
 * Tools for OpenAI. With `strict`, optional parameters become nullable (toToolCall removes the nulls again); a tool
 * whose schema strict mode cannot express is sent with `strict: false`, with its full schema.
 */
export function toOpenAiTools(
  tools: readonly AdaptableTool[],
  options: OpenAiToolsOptions & { readonly api: 'responses' },
): OpenAiResponsesTool[];
export function toOpenAiTools(
  tools: readonly AdaptableTool[],
  options?: OpenAiToolsOptions & { readonly api?: 'chat' },
): OpenAiChatTool[];
export function toOpenAiTools(
  tools: readonly AdaptableTool[],
  { api = 'chat', strict = false }: OpenAiToolsOptions = {},
): OpenAiChatTool[] | OpenAiResponsesTool[] {
  const nameOf = toolNamer(tools);
  const functions = tools.map((tool): OpenAiFunction => {
    const exact = strict ? toStrict(tool) : undefined;
    const { description, schema } = exact ?? toPortable(tool);
    return { name: nameOf(tool.name), description, parameters: { ...schema }, strict: exact !== undefined };
  });
  if (api === 'chat') return functions.map((definition) => ({ type: 'function', function: definition }));
  return functions.map((definition) => ({ type: 'function', ...definition }));
}

const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];

function isSupportedKeyword(keyword: string, value: unknown, kind: ShapeKind): boolean {
  if (keyword === 'format') return kind === 'string' && FORMATS.some((format) => format === value);
  // Look-around and back-references are not supported.
  if (keyword === 'pattern') return !/\(\?|\\[1-9]/.test(String(value));
  return /^(enum|minimum|maximum|exclusive.*|multipleOf|minItems|maxItems)$/.test(keyword);
}

/** The totals that OpenAI limits, and whether strict mode can express the schema so far. */
interface Tally {
  properties: number;
  values: number;
  characters: number;
  fits: boolean;
}

function toStrict(tool: AdaptableTool): { description: string; schema: Keywords } | undefined {
  const tally: Tally = { properties: 0, values: 0, characters: 0, fits: true };
  const root = tighten(toRootShape(tool.inputSchema).shape, tally, 0);
  if (!tally.fits || tally.properties > 5000 || tally.values > 1000 || tally.characters > 120_000)
    return undefined;
  const { description = '', ...schema } = toJsonSchema(root, isSupportedKeyword);
  return { description: join(toolText(tool), String(description)), schema };
}

/** Closes every object and requires every property; null means omitted. */
function tighten(shape: Shape, tally: Tally, depth: number): Shape {
  const { kind, items, values = [], required, rest } = shape;
  const inner = (child: Shape) => tighten(child, tally, depth + 1);
  const characters = [...shape.properties.keys(), ...values].reduce<number>(
    (sum, text) => sum + String(text).length,
    0,
  );
  // Closing an object that is open on purpose would forbid its main use.
  const silent = rest === undefined && (shape.properties.size > 0 || depth === 0);
  const open =
    (kind === 'object' && !(silent || rest?.kind === 'never')) || 'patternProperties' in shape.limits;
  if (kind === 'any' || open || depth > 10 || (values.length > 250 && characters > 15_000))
    tally.fits = false;
  tally.properties += shape.properties.size;
  tally.values += values.length > 0 ? values.length + 1 : 0;
  tally.characters += characters;
  const properties = [...shape.properties].map(
    ([key, value]) => [key, inner(required.includes(key) ? value : { ...value, nullable: true })] as const,
  );
  return {
    ...shape,
    properties: new Map(properties),
    required: [...shape.properties.keys()],
    options: shape.options.map((option) => tighten(option, tally, depth)),
    ...(kind === 'object' && { rest: NEVER }),
    ...(items && { items: inner(items) }),
  };
}

/** A tool message for Chat Completions, which supports text only: media is mentioned, not sent. */
export function toOpenAiToolMessage(callId: string, result: unknown) {
  return { role: 'tool' as const, tool_call_id: callId, content: toPlainText(toParts(result)) };
}

/** A function_call_output item for the Responses API; images and PDFs are sent as such. */
export function toOpenAiFunctionCallOutput(callId: string, result: unknown) {
  const { failed, parts } = toParts(result);
  const output = parts.map((part) => {
    if (isImage(part))
      return { type: 'input_image' as const, image_url: toDataUrl(part), detail: 'auto' as const };
    if (isPdf(part))
      return { type: 'input_file' as const, filename: 'result.pdf', file_data: toDataUrl(part) };
    return { type: 'input_text' as const, text: toPartText(part) };
  });
  const plain = failed || output.every(({ type }) => type === 'input_text');
  return {
    type: 'function_call_output' as const,
    call_id: callId,
    output: plain ? toPlainText({ failed, parts }) : output,
  };
}

function toDataUrl({ mimeType, data }: MediaPart): string {
  return `data:${mimeType};base64,${data}`;
}
