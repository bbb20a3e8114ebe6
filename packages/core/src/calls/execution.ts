/** `execute`: a call that never throws and returns its outcome as data. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { ToolIdentity } from '../catalog/names.js';
import { type TurnbuckleError, toTurnbuckleError } from '../errors.js';
import { parseJson } from '../json/parse-json.js';
import type { CallRequest, toCallRequest } from './call-request.js';

export interface Execution {
  readonly toolName: string;
  readonly success: boolean;
  /** Structured content, else JSON text as data, else text, else the list of content parts. */
  readonly result: unknown;
  /** Why there is no result, or the tool's own error text. */
  readonly error: string | undefined;
  /** The error, if the call itself failed. */
  readonly failure: TurnbuckleError | undefined;
  readonly mcp: {
    readonly server: string | undefined;
    readonly tool: string | undefined;
    readonly responseTimeMs: number;
    readonly contentType: ContentType | undefined;
    readonly requestId: string | undefined;
  };
}

export type ContentType =
  | 'structured'
  | 'json'
  | 'text'
  | 'image'
  | 'audio'
  | 'resource'
  | 'resource_link'
  | 'mixed'
  | 'empty';

/** Makes a call and never throws. */
export async function toExecution(
  request: ReturnType<typeof toCallRequest>,
  call: (request: CallRequest) => Promise<CallToolResult>,
): Promise<Execution> {
  const { tool: toolName, requestId, onResolved } = request;
  const started = performance.now();
  let found: ToolIdentity | undefined;
  request.onResolved = (tool) => {
    found = tool;
    onResolved?.(tool);
  };
  const facts = (contentType: ContentType | undefined, error?: TurnbuckleError): Execution['mcp'] => ({
    // For a hidden tool, the outcome contains only what the caller sent.
    server: error === undefined ? found?.server : error.server,
    tool: error === undefined ? found?.tool : error.tool,
    responseTimeMs: performance.now() - started,
    contentType,
    requestId,
  });
  try {
    const result = await call(request);
    const { data, contentType } = toData(result);
    const success = result.isError !== true;
    const error = success ? undefined : toolErrorText(result);
    return { toolName, success, result: data, error, failure: undefined, mcp: facts(contentType) };
  } catch (thrown) {
    const failure = toTurnbuckleError(thrown);
    const { message: error } = failure;
    return { toolName, success: false, result: undefined, error, failure, mcp: facts(undefined, failure) };
  }
}

/** The data of a result and its kind. Nothing is dropped: anything but a single text stays a list. */
function toData(result: CallToolResult): {
  readonly data: unknown;
  readonly contentType: ContentType;
} {
  if (result.structuredContent !== undefined)
    return { data: result.structuredContent, contentType: 'structured' };
  const content = result.content ?? [];
  const [only] = content;
  if (only === undefined) return { data: undefined, contentType: 'empty' };
  if (content.length > 1) return { data: content, contentType: 'mixed' };
  if (only.type !== 'text') return { data: content, contentType: only.type };
  return textData(only.text);
}

function textData(text: string): { data: unknown; contentType: ContentType } {
  const start = text.trimStart()[0];
  if (start === '{' || start === '[') {
    try {
      return { data: parseJson(text), contentType: 'json' };
    } catch {
      // Not JSON after all.
    }
  }
  return { data: text, contentType: 'text' };
}

/** The error text of a failed tool. */
function toolErrorText(result: CallToolResult): string {
  const texts = (result.content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length > 0 ? texts.join('\n') : 'The tool reported an error without details.';
}
