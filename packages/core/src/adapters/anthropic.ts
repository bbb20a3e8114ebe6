import type { AdaptableTool } from './adaptable-tool.js';
import { type ObjectSchema, toPortable } from './portable.js';
import { isImage, isPdf, toParts, toPartText } from './result-parts.js';
import { ANTHROPIC_PARAMETERS, toolNamer } from './safe-names.js';

export interface AnthropicTool {
  name: string;
  description?: string;
  input_schema: ObjectSchema;
}

/** Tools for the Anthropic Messages API: a plain object at the root, with valid keys and names. */
export function toAnthropicTools(tools: readonly AdaptableTool[]): AnthropicTool[] {
  const nameOf = toolNamer(tools);
  return tools.map((tool) => {
    const { description, schema } = toPortable(tool, { parameters: ANTHROPIC_PARAMETERS });
    return { name: nameOf(tool.name), ...(description && { description }), input_schema: schema };
  });
}

/** A tool_result block; a failed one has text only, as the API requires. */
export function toAnthropicToolResult(toolUseId: string, result: unknown) {
  const { failed, parts } = toParts(result);
  const content = parts.map((part) => {
    if (!failed && isImage(part)) return { type: 'image' as const, source: base64(part.mimeType, part.data) };
    if (!failed && isPdf(part))
      return { type: 'document' as const, source: base64(part.mimeType, part.data) };
    return { type: 'text' as const, text: toPartText(part) };
  });
  return { type: 'tool_result' as const, tool_use_id: toolUseId, content, ...(failed && { is_error: true }) };
}

function base64<T extends string>(mediaType: T, data: string) {
  return { type: 'base64' as const, media_type: mediaType, data };
}
