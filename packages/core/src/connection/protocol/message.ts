/**
 * Turns what a server sent into JSON-RPC messages: the only place where their shape is validated, for every
 * transport. A validated message has a method or a response, params that are an object, an error with a code and a
 * text.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { SERVER_BUG_HINT, TurnbuckleError } from '../../errors.js';
import { isDeeperThan, isTextDeeperThan, MAX_JSON_DEPTH } from '../../json/depth.js';
import { isRecord } from '../../json/is-record.js';
import { copyRawNumbers, parseWithRawNumbers } from '../../json/lossless-json.js';
import type { LaneResult } from '../lanes/lane.js';
import { toRpcError } from '../lanes/server-error.js';
import type { IgnoredReason } from './ignored-messages.js';

/** A request of the server. */
export type ServerRequest = Extract<JSONRPCMessage, { method: string; id: unknown }>;

/** Whose messages are parsed, and how deeply they may be nested. */
export interface MessageRules {
  readonly server: string;
  /** For a result or params, without the message around them. */
  readonly maxDepth: number;
}

/** A message; or why the data is not a usable message. */
export type ReadMessage = JSONRPCMessage | IgnoredReason;

type Raw = Readonly<Record<string, unknown>>;
type Id = string | number;

const isId = (id: unknown): id is Id => typeof id === 'string' || Number.isFinite(id);

/** The message, and its result or params, add two levels to a text. */
export const maxTextDepth = ({ maxDepth }: MessageRules): number => Math.min(maxDepth, MAX_JSON_DEPTH) + 2;

/**
 * The messages in a text: one, or those of a batch (2025-03-26 has them). An unusable response becomes an error
 * response, so that its request does not wait in vain. Never throws.
 */
export function readText(text: string, rules: MessageRules): ReadMessage | ReadMessage[] {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const first = text.charCodeAt(start);
  if (first !== OPEN_OBJECT && first !== OPEN_LIST && first > 32) return 'noise'; // nor white space before one
  const isDeep = isTextDeeperThan(text, maxTextDepth(rules));
  try {
    // JSON.parse has no depth limit; from its value, only the id is used.
    const value: unknown = isDeep ? JSON.parse(text.slice(start)) : parseWithRawNumbers(text.slice(start));
    return readParsed({ value, isDeep }, rules);
  } catch {
    return 'noise';
  }
}

/** The same for a text that was parsed elsewhere. */
export function readParsed(
  { value, isDeep }: { readonly value: unknown; readonly isDeep: boolean },
  rules: MessageRules,
): ReadMessage | ReadMessage[] {
  if (!Array.isArray(value))
    return isDeep ? rejectMessage(value, 'too-deep', rules) : checkShape(value, rules);
  return value.length === 0 ? 'malformed' : value.map((one) => readValue(one, rules));
}

/** Receives the messages of a transport. */
export interface MessageSink {
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  onignored?: ((reason: IgnoredReason) => void) | undefined;
}

/** Delivers the messages of a text. */
export function deliverText(text: string, rules: MessageRules, sink: MessageSink): void {
  const read = readText(text, rules);
  if (Array.isArray(read)) for (const message of read) deliver(message, sink);
  else deliver(read, sink);
}

function deliver(message: ReadMessage, sink: MessageSink): void {
  if (typeof message === 'string') sink.onignored?.(message);
  else sink.onmessage?.(message);
}

/** The same for a parsed value: of a batch, of a server in this process, or from the SDK. */
export function readValue(value: unknown, rules: MessageRules): ReadMessage {
  return isDeeperThan(value, maxTextDepth(rules))
    ? rejectMessage(value, 'too-deep', rules)
    : checkShape(value, rules);
}

function checkShape(value: unknown, rules: MessageRules): ReadMessage {
  // Own members only, not inherited ones.
  if (!isRecord(value) || !Object.hasOwn(value, 'jsonrpc')) return 'noise';
  if (value.jsonrpc !== '2.0') return 'malformed';
  return Object.hasOwn(value, 'method') ? checkRequest(value) : checkResponse(value, rules);
}

/** JSON-RPC 1.0 libraries write null for absent members: for params, and for the id of a notification. */
function checkRequest(message: Raw): ReadMessage {
  const { method, params, id } = message;
  if (typeof method !== 'string') return 'malformed';
  if (params !== undefined && params !== null && !isRecord(params)) return 'malformed';
  if (id !== undefined && id !== null && !isId(id)) return 'malformed';
  return withoutNulls(message, REQUEST_NULLS);
}

/** `error: null` next to a result is how JSON-RPC 1.0 reports no error. */
function checkResponse(message: Raw, rules: MessageRules): ReadMessage {
  const { id, result, error } = message;
  if (!isId(id)) return 'unasked';
  if (error === undefined || error === null)
    return isRecord(result)
      ? withoutNulls(message, RESPONSE_NULLS)
      : rejectMessage(message, 'malformed', rules);
  const isSound = isRecord(error) && Number.isInteger(error.code) && typeof error.message === 'string';
  return isSound ? (message as JSONRPCMessage) : rejectMessage(message, 'malformed', rules);
}

const REQUEST_NULLS: readonly string[] = ['params', 'id'];
const RESPONSE_NULLS: readonly string[] = ['error'];

function withoutNulls(message: Raw, keys: readonly string[]): JSONRPCMessage {
  for (const key of keys)
    if (message[key] == null && Object.hasOwn(message, key)) return withoutKeys(message, keys);
  // The caller has validated the shape.
  return message as JSONRPCMessage;
}

function withoutKeys(message: Raw, keys: readonly string[]): JSONRPCMessage {
  const kept = Object.entries(message).filter(([key, part]) => part != null || !keys.includes(key));
  return copyRawNumbers(message, Object.fromEntries(kept)) as unknown as JSONRPCMessage;
}

const FAULT_TEXTS = {
  malformed: 'with neither a result nor an error',
  'too-deep': 'that is nested too deeply',
} as const;

/** A response fails its pending request; anything else is dropped. */
function rejectMessage(
  value: unknown,
  reason: keyof typeof FAULT_TEXTS,
  { server }: MessageRules,
): ReadMessage {
  if (!isRecord(value) || Object.hasOwn(value, 'method') || !isId(value.id)) return reason;
  const said = reason === 'too-deep' ? shallowError(value.error) : undefined;
  if (said !== undefined) return { jsonrpc: '2.0', id: value.id, error: said };
  const error = new TurnbuckleError(
    'PROTOCOL_VIOLATION',
    `Server "${server}" sent a response ${FAULT_TEXTS[reason]}.`,
    {
      server,
      hint: SERVER_BUG_HINT,
    },
  );
  if (isRecord(value.result)) DEEP_RESULTS.set(error, value.result);
  return { jsonrpc: '2.0', id: value.id, error: toRpcError(error) };
}

/** The server's error is reported without the data that is nested too deeply. */
function shallowError(error: unknown): { code: number; message: string } | undefined {
  if (!isRecord(error) || typeof error.message !== 'string') return undefined;
  const { code, message } = error;
  return typeof code === 'number' && Number.isInteger(code) ? { code, message } : undefined;
}

const DEEP_RESULTS = new WeakMap<TurnbuckleError, LaneResult>();

/** The result that was rejected for its depth: for a list, whose other entries may be fine. */
export const deepResultOf = (error: unknown): LaneResult | undefined =>
  error instanceof TurnbuckleError ? DEEP_RESULTS.get(error) : undefined;

const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
