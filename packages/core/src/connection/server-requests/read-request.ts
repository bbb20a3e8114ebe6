/** From what a server wrote to a request that can be put to the host, or the reason why it is refused. */
import type { CreateMessageRequestParamsBase } from '@modelcontextprotocol/client';
import { isInsideHost, isLoopbackHost } from '../fetching/reach.js';
import { isRecord } from '../is-record.js';
import { readForm } from './form-fields.js';
import type { FormRequest, SamplingRequest, UrlRequest } from './server-requests.js';

type Raw = Readonly<Record<string, unknown>>;
type Bare<Request> = Omit<Request, 'server' | 'signal'>;

export interface RequestBounds {
  /** One request of a server, as JSON. */
  readonly maxAskBytes: number;
  readonly maxSamplingTokens: number;
  readonly maxSamplingMessages: number;
}

const MOST_MESSAGE = 4_000;
const MOST_URL = 4_096;

/** `from` is the address of the server that asks, if it has one: only where it is inside may its pages be. */
export function readElicitation(
  params: Raw,
  from: string | undefined,
): Bare<FormRequest> | Bare<UrlRequest> | string {
  const { message, mode = 'form' } = params;
  if (typeof message !== 'string') return 'it has no message';
  if (message.length > MOST_MESSAGE) return `its message is longer than ${MOST_MESSAGE} characters`;
  if (mode === 'url') return readUrl(params.url, message, from);
  if (mode !== 'form') return 'its mode is neither form nor url';
  const requestedSchema = readForm(params.requestedSchema, message);
  if (typeof requestedSchema === 'string') return requestedSchema;
  return { mode: 'form', message, requestedSchema, params: { mode, message, requestedSchema } };
}

function readUrl(address: unknown, message: string, from: string | undefined): Bare<UrlRequest> | string {
  if (typeof address !== 'string' || address.length > MOST_URL) return 'it has no usable address';
  // An address that needs cleaning is one that reads differently from where it leads.
  if (!/^[\x21-\x5b\x5d-\x7e]+$/.test(address) || !URL.canParse(address))
    return 'its address is not a plain one';
  const url = new URL(address);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname)))
    return 'its address is not https';
  if (url.username !== '' || url.password !== '') return 'its address carries a name or password';
  if (isInsideHost(url.hostname) && !isBeside(url, from))
    return 'its address leads to this machine or into its network';
  const { href, host } = url;
  return { mode: 'url', message, url: href, host, params: { mode: 'url', message, url: href } };
}

/** A program of this machine may show its pages here; a server elsewhere only its own. */
function isBeside(page: URL, from: string | undefined): boolean {
  if (from === undefined) return true;
  if (!URL.canParse(from)) return false;
  const { hostname } = new URL(from);
  return hostname === page.hostname || (isLoopbackHost(hostname) && isLoopbackHost(page.hostname));
}

const MOST_HINTS = 10;
const MOST_NAME = 128;
const CONTENT = ['text', 'image', 'audio'];

export function readSampling(params: Raw, bounds: RequestBounds): Bare<SamplingRequest> | string {
  const { messages, systemPrompt, tools, toolChoice, temperature, stopSequences } = params;
  if (tools !== undefined || toolChoice !== undefined) return 'it wants the model to use tools';
  if (!Array.isArray(messages) || messages.length === 0) return 'it has no messages';
  if (messages.length > bounds.maxSamplingMessages)
    return `it has more than ${bounds.maxSamplingMessages} messages`;
  if (!messages.every(isMessage)) return 'a message is not text, image or audio of user or assistant';
  if (systemPrompt !== undefined && typeof systemPrompt !== 'string')
    return 'its system prompt is not a text';
  const maxTokens = boundedTokens(params.maxTokens, bounds.maxSamplingTokens);
  const preferences = isRecord(params.modelPreferences) ? params.modelPreferences : {};
  const modelHints = hintsOf(preferences.hints);
  // Rebuilt: what is not known here (whose context to include, metadata for a provider) is not passed on.
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
    .slice(0, MOST_HINTS)
    .flatMap((hint) =>
      isRecord(hint) && typeof hint.name === 'string' ? [hint.name.slice(0, MOST_NAME)] : [],
    );
}

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= 16 && value.every((one) => typeof one === 'string');

/** Structure that is relied on here and by hosts: a role, and content of a kind that is offered. */
function isMessage(message: unknown): message is CreateMessageRequestParamsBase['messages'][number] {
  if (!isRecord(message) || (message.role !== 'user' && message.role !== 'assistant')) return false;
  const parts = Array.isArray(message.content) ? message.content : [message.content];
  return parts.every((part) => {
    if (!isRecord(part) || typeof part.type !== 'string' || !CONTENT.includes(part.type)) return false;
    return typeof (part.type === 'text' ? part.text : part.data) === 'string';
  });
}
