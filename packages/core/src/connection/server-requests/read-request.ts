/** Turns what a server sent into a request for the host, or into the reason why it is rejected. */
import type { CreateMessageRequestParamsBase } from '@modelcontextprotocol/client';
import { isInternalHost, isLoopbackHost } from '../../fetching/network-scope.js';
import { isRecord } from '../../json/is-record.js';
import { readForm } from './form-fields.js';
import type { FormRequest, SamplingRequest, UrlRequest } from './host-requests.js';

type Raw = Readonly<Record<string, unknown>>;
type RequestPayload<Request> = Omit<Request, 'server' | 'signal'>;

export interface RequestSizeLimits {
  /** One request of a server, as JSON. */
  readonly maxAskBytes: number;
  readonly maxSamplingTokens: number;
  readonly maxSamplingMessages: number;
}

const MAX_MESSAGE_LENGTH = 4_000;
const MAX_URL_LENGTH = 4_096;

/** `from` is the address of the requesting server, if it has one: its pages may be internal only if it is. */
export function readElicitation(
  params: Raw,
  from: string | undefined,
): RequestPayload<FormRequest> | RequestPayload<UrlRequest> | string {
  const { message, mode = 'form' } = params;
  if (typeof message !== 'string') return 'the request has no message';
  if (message.length > MAX_MESSAGE_LENGTH)
    return `the message is longer than ${MAX_MESSAGE_LENGTH} characters`;
  if (mode === 'url') return readUrl(params.url, message, from);
  if (mode !== 'form') return 'the mode is neither "form" nor "url"';
  const requestedSchema = readForm(params.requestedSchema, message);
  if (typeof requestedSchema === 'string') return requestedSchema;
  return { mode: 'form', message, requestedSchema, params: { mode, message, requestedSchema } };
}

function readUrl(
  address: unknown,
  message: string,
  from: string | undefined,
): RequestPayload<UrlRequest> | string {
  if (typeof address !== 'string' || address.length > MAX_URL_LENGTH)
    return 'the request has no URL, or the URL is too long';
  // A URL that needs cleaning looks different from where it points.
  if (!/^[\x21-\x5b\x5d-\x7e]+$/.test(address) || !URL.canParse(address)) return 'the URL is invalid';
  const url = new URL(address);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname)))
    return 'the URL is not https';
  if (url.username !== '' || url.password !== '') return 'the URL contains a user name or password';
  if (isInternalHost(url.hostname) && !isPageOfServer(url, from))
    return 'the URL points to this machine or its network';
  const { href, host } = url;
  return { mode: 'url', message, url: href, host, params: { mode: 'url', message, url: href } };
}

/** A program on this machine may show its pages here; a remote server only its own. */
function isPageOfServer(page: URL, from: string | undefined): boolean {
  if (from === undefined) return true;
  if (!URL.canParse(from)) return false;
  const { hostname } = new URL(from);
  return hostname === page.hostname || (isLoopbackHost(hostname) && isLoopbackHost(page.hostname));
}

const MAX_MODEL_HINTS = 10;
const MAX_MODEL_NAME_LENGTH = 128;
const CONTENT_TYPES = ['text', 'image', 'audio'];

export function readSampling(
  params: Raw,
  bounds: RequestSizeLimits,
): RequestPayload<SamplingRequest> | string {
  const { messages, systemPrompt, tools, toolChoice, temperature, stopSequences } = params;
  if (tools !== undefined || toolChoice !== undefined)
    return 'the request lets the model use tools, which is not allowed';
  if (!Array.isArray(messages) || messages.length === 0) return 'the request has no messages';
  if (messages.length > bounds.maxSamplingMessages)
    return `the request has more than ${bounds.maxSamplingMessages} messages`;
  if (!messages.every(isMessage))
    return 'a message is not text, an image or audio, or is not from the user or the assistant';
  if (systemPrompt !== undefined && typeof systemPrompt !== 'string')
    return 'the system prompt is not a string';
  const maxTokens = boundedTokens(params.maxTokens, bounds.maxSamplingTokens);
  const preferences = isRecord(params.modelPreferences) ? params.modelPreferences : {};
  const modelHints = hintsOf(preferences.hints);
  // Rebuilt: unknown members (whose context to include, metadata for a provider) are not passed on.
  const passed: CreateMessageRequestParamsBase = {
    messages,
    maxTokens,
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(modelHints.length > 0 && { modelPreferences: { hints: modelHints.map((name) => ({ name })) } }),
    ...(typeof temperature === 'number' && Number.isFinite(temperature) && { temperature }),
    ...(isTextList(stopSequences) && { stopSequences }),
  };
  return { messages, maxTokens, systemPrompt, modelHints, params: { ...passed } };
}

function boundedTokens(wanted: unknown, most: number): number {
  return typeof wanted === 'number' && wanted >= 1 ? Math.min(Math.floor(wanted), most) : most;
}

function hintsOf(hints: unknown): string[] {
  return (Array.isArray(hints) ? hints : [])
    .slice(0, MAX_MODEL_HINTS)
    .flatMap((hint) =>
      isRecord(hint) && typeof hint.name === 'string' ? [hint.name.slice(0, MAX_MODEL_NAME_LENGTH)] : [],
    );
}

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= 16 && value.every((one) => typeof one === 'string');

/** Validates what this code and hosts rely on: a role, and content of a supported kind. */
function isMessage(message: unknown): message is CreateMessageRequestParamsBase['messages'][number] {
  if (!isRecord(message) || (message.role !== 'user' && message.role !== 'assistant')) return false;
  const parts = Array.isArray(message.content) ? message.content : [message.content];
  return parts.every((part) => {
    if (!isRecord(part) || typeof part.type !== 'string' || !CONTENT_TYPES.includes(part.type)) return false;
    return typeof (part.type === 'text' ? part.text : part.data) === 'string';
  });
}
