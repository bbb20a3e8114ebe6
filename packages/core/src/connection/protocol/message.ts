/**
 * From what a server sent to JSON-RPC messages: the one place where their shape is checked, for every transport.
 * What comes out of here has a method or an answer, params that are an object, an error with a code and a text.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { isDeeperThan, isTextDeeperThan, MAX_JSON_DEPTH } from '../json/depth.js';
import { keepSpelling, parseSpelled } from '../json/spelling.js';
import type { IgnoredReason } from './ignored-messages.js';
import type { LaneResult } from './lane.js';
import { toAnswer } from './server-error.js';

/** A request of the server's. */
export type ServerQuestion = Extract<JSONRPCMessage, { method: string; id: unknown }>;

/** Whose messages are read, and how deep they may be nested. */
export interface MessageRules {
  readonly server: string;
  /** Of a result or of params: the message around them does not count. */
  readonly maxDepth: number;
}

/** A message; or why what came is none, or none that can be used. */
export type ReadMessage = JSONRPCMessage | IgnoredReason;

type Raw = Readonly<Record<string, unknown>>;
type Id = string | number;

const isId = (id: unknown): id is Id => typeof id === 'string' || Number.isFinite(id);

/** The message, and its result or params, are two levels of a text. */
export const levelsOf = ({ maxDepth }: MessageRules): number => Math.min(maxDepth, MAX_JSON_DEPTH) + 2;

/**
 * The messages in a text: one, or those of a batch (2025-03-26 has them). An answer that cannot be used comes out as
 * an answer that says so: whoever waits for it does not wait in vain. Never throws.
 */
export function readText(text: string, rules: MessageRules): ReadMessage | ReadMessage[] {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const first = text.charCodeAt(start);
  if (first !== OPEN_OBJECT && first !== OPEN_LIST && first > 32) return 'noise'; // nor white space before one
  const isDeep = isTextDeeperThan(text, levelsOf(rules));
  try {
    // The plain parser knows no depth; what it reads is only asked whose answer it is.
    const value: unknown = isDeep ? JSON.parse(text.slice(start)) : parseSpelled(text.slice(start));
    return readParsed({ value, isDeep }, rules);
  } catch {
    return 'noise';
  }
}

/** The same for a text that was read elsewhere. */
export function readParsed(
  { value, isDeep }: { readonly value: unknown; readonly isDeep: boolean },
  rules: MessageRules,
): ReadMessage | ReadMessage[] {
  if (!Array.isArray(value)) return isDeep ? unusable(value, 'too-deep', rules) : checkShape(value, rules);
  return value.length === 0 ? 'malformed' : value.map((one) => readValue(one, rules));
}

/** Who takes the messages of a transport. */
export interface MessageSink {
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  onignored?: ((reason: IgnoredReason) => void) | undefined;
}

/** Hands on what a text says. */
export function deliverText(text: string, rules: MessageRules, sink: MessageSink): void {
  const read = readText(text, rules);
  for (const message of Array.isArray(read) ? read : [read])
    if (typeof message === 'string') sink.onignored?.(message);
    else sink.onmessage?.(message);
}

/** The same for what is a value already: of a batch, of a server in this process, or read by the SDK. */
export function readValue(value: unknown, rules: MessageRules): ReadMessage {
  return isDeeperThan(value, levelsOf(rules)) ? unusable(value, 'too-deep', rules) : checkShape(value, rules);
}

function checkShape(value: unknown, rules: MessageRules): ReadMessage {
  // Own members only: what a message does not say itself it does not say.
  if (!isRecord(value) || !Object.hasOwn(value, 'jsonrpc')) return 'noise';
  if (value.jsonrpc !== '2.0') return 'malformed';
  return Object.hasOwn(value, 'method') ? checkRequest(value) : checkAnswer(value, rules);
}

/** Libraries of JSON-RPC 1.0 write null for what is not there: for params, and for the id of a notice. */
function checkRequest(message: Raw): ReadMessage {
  const { method, params, id } = message;
  if (typeof method !== 'string') return 'malformed';
  if (params !== undefined && params !== null && !isRecord(params)) return 'malformed';
  if (id !== undefined && id !== null && !isId(id)) return 'malformed';
  return withoutNulls(message, ['params', 'id']);
}

/** `error: null` beside a result is how JSON-RPC 1.0 says that there is none. */
function checkAnswer(message: Raw, rules: MessageRules): ReadMessage {
  const { id, result, error } = message;
  if (!isId(id)) return 'unasked';
  if (error === undefined || error === null)
    return isRecord(result) ? withoutNulls(message, ['error']) : unusable(message, 'malformed', rules);
  const isSound = isRecord(error) && Number.isInteger(error.code) && typeof error.message === 'string';
  return isSound ? (message as JSONRPCMessage) : unusable(message, 'malformed', rules);
}

function withoutNulls(message: Raw, keys: readonly string[]): JSONRPCMessage {
  // The shape was checked by whoever calls this.
  if (!keys.some((key) => message[key] == null && Object.hasOwn(message, key)))
    return message as JSONRPCMessage;
  const kept = Object.entries(message).filter(([key, part]) => part != null || !keys.includes(key));
  return keepSpelling(message, Object.fromEntries(kept)) as unknown as JSONRPCMessage;
}

const WORDS = {
  malformed: 'with neither a result nor an error',
  'too-deep': 'with something that is nested too deep',
} as const;

/** An answer says so to who waits for it; the rest has nobody. */
function unusable(value: unknown, reason: keyof typeof WORDS, { server }: MessageRules): ReadMessage {
  if (!isRecord(value) || Object.hasOwn(value, 'method') || !isId(value.id)) return reason;
  const said = reason === 'too-deep' ? shallowError(value.error) : undefined;
  if (said !== undefined) return { jsonrpc: '2.0', id: value.id, error: said };
  const error = new TurnbuckleError('PROTOCOL_VIOLATION', `Server "${server}" answered ${WORDS[reason]}.`, {
    server,
    hint: 'This is a defect of the server.',
  });
  if (isRecord(value.result)) DEEP_RESULTS.set(error, value.result);
  return { jsonrpc: '2.0', id: value.id, error: toAnswer(error) };
}

/** What the server says went wrong is told without the data that nobody can take. */
function shallowError(error: unknown): { code: number; message: string } | undefined {
  if (!isRecord(error) || typeof error.message !== 'string') return undefined;
  const { code, message } = error;
  return typeof code === 'number' && Number.isInteger(code) ? { code, message } : undefined;
}

const DEEP_RESULTS = new WeakMap<TurnbuckleError, LaneResult>();

/** The result that was refused for its depth: for a list, of which the other entries may be fine. */
export const deepResultOf = (error: unknown): LaneResult | undefined =>
  error instanceof TurnbuckleError ? DEEP_RESULTS.get(error) : undefined;

const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
