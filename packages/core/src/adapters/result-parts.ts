import { isRecord } from '../json/is-record.js';
import { type Keywords, toText } from './json.js';

/** Base64 data with its media type. */
export interface MediaPart {
  readonly mimeType: string;
  readonly data: string;
}

/** One piece of a tool's result. */
export type ResultPart = { readonly text: string } | MediaPart;

/** An MCP result for every API: with at least one part, and structured content included exactly once. */
interface ResultParts {
  readonly failed: boolean;
  readonly parts: readonly ResultPart[];
  readonly structured?: Keywords;
}

/** Reads an MCP CallToolResult; anything else counts as a plain value of a success. */
export function toParts(result: unknown): ResultParts {
  if (!isRecord(result) || !(Array.isArray(result.content) || isRecord(result.structuredContent))) {
    return { failed: false, parts: [{ text: typeof result === 'string' ? result : toText(result) }] };
  }
  const { content, structuredContent: structured, isError } = result;
  const parts = (Array.isArray(content) ? content : [])
    .map(toPart)
    .filter((part) => !('text' in part) || part.text);
  // Servers should repeat structured content as text; it is added only if they did not.
  const hasText =
    structured === undefined || parts.some((part) => 'text' in part && sameJson(part.text, structured));
  if (!hasText) parts.push({ text: toText(structured) });
  if (parts.length === 0) parts.push({ text: '(no output)' });
  return { failed: isError === true, parts, ...(isRecord(structured) && { structured }) };
}

const IMAGES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

type ImagePart = MediaPart & {
  readonly mimeType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
};

/** Whether it is an image in a format that every API supports. */
export function isImage(part: ResultPart): part is ImagePart {
  return 'data' in part && IMAGES.includes(part.mimeType);
}

type PdfPart = MediaPart & { readonly mimeType: 'application/pdf' };

/** Whether it is a document that can be sent as a file. */
export function isPdf(part: ResultPart): part is PdfPart {
  return 'data' in part && part.mimeType === 'application/pdf';
}

/** The part as text; media is mentioned by type and size. */
export function toPartText(part: ResultPart): string {
  return 'text' in part ? part.text : `[${part.mimeType}, ${Math.floor((part.data.length * 3) / 4)} bytes]`;
}

/** The whole result as text; a failure is marked first. */
export function toPlainText({ failed, parts }: ResultParts): string {
  const text = parts.map(toPartText).join('\n');
  return failed ? `Error: ${text}` : text;
}

function toPart(block: unknown): ResultPart {
  if (!isRecord(block)) return { text: toText(block) };
  const { type, text, data, mimeType, resource, uri, name, description } = block;
  if (type === 'text' && typeof text === 'string') return { text };
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    return { data, mimeType: String(mimeType ?? 'application/octet-stream') };
  }
  if (type === 'resource_link') return { text: [name, uri, description].filter(Boolean).join(' ') };
  if (type !== 'resource' || !isRecord(resource)) return { text: toText(block) };
  if (typeof resource.blob === 'string') {
    return { data: resource.blob, mimeType: String(resource.mimeType ?? 'application/octet-stream') };
  }
  return { text: `${resource.uri}\n${resource.text ?? ''}` };
}

function sameJson(text: string, value: unknown): boolean {
  try {
    return toText(JSON.parse(text)) === toText(value);
  } catch {
    return false;
  }
}
