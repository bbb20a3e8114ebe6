/** `execute`: a call that never throws, with its result as data where it is data. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { TurnbuckleError } from './errors.js';
import { parseJson } from './json/parse-json.js';

export interface Execution {
  readonly toolName: string;
  readonly success: boolean;
  /** Structured content, else JSON text as data, else text, else the list of content parts. */
  readonly result: unknown;
  /** A sentence: why there was no result, or what the tool itself said about its failure. */
  readonly error: string | undefined;
  /** The coded error when the call itself failed. */
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

/** The data of a result and what kind it is. Nothing is dropped: what is no single text stays a list. */
export function toData(result: CallToolResult): {
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
      // It only looks like JSON.
    }
  }
  return { data: text, contentType: 'text' };
}

/** What a failed tool says, as a sentence. */
export function toolErrorText(result: CallToolResult): string {
  const texts = (result.content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length > 0 ? texts.join('\n') : 'The tool reported an error without saying which.';
}
