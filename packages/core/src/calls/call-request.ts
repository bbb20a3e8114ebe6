/** The options of a call, their validation, and the part that is sent to the server. */
import type { CancelSignal } from '../async/cancel-signal.js';
import type { ToolIdentity } from '../catalog/names.js';
import type { NestedCallOptions } from '../catalog/native.js';
import type { Progress } from '../connection/lanes/lane.js';
import type { ClientResponder } from '../connection/server-requests/client-responders.js';
import { TurnbuckleError } from '../errors.js';
import type { ApprovalRequestData, CallKind } from '../events.js';
import { copyRawNumbers } from '../json/lossless-json.js';
import type { Caller } from '../policy/capabilities.js';
import type { Server } from '../servers/server.js';
import type { Permit } from './authorization/permit.js';

export interface CallOptions {
  /** Identifies the call in events and records; generated if absent. */
  readonly requestId?: string | undefined;
  /** Absent: the host itself. */
  readonly caller?: Caller | undefined;
  readonly signal?: CancelSignal | undefined;
  /** Maximum silence, of the server and of each wait before it; progress resets it. */
  readonly timeoutMs?: number | undefined;
  /** Maximum total duration from request to result; time spent waiting for approval does not count. */
  readonly maxTotalMs?: number | undefined;
  /** The call ends with APPROVAL_PENDING after this time without an approval; the request stays open. */
  readonly approvalWaitMs?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Called when the call waits for approval. */
  readonly onApproval?: ((asked: ApprovalRequestData) => void) | undefined;
  /** Called with what a person approved. */
  readonly onPermit?: ((permit: Permit) => void) | undefined;
  /** Called with the resolved server and tool: the name may later refer to another tool. */
  readonly onResolved?: ((found: ToolIdentity) => void) | undefined;
  /** Further params of the request, passed through unchanged. */
  readonly extraParams?: Readonly<Record<string, unknown>> | undefined;
  /** Extra `_meta` for the server. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** Requests of the server in the middle of the call go to the runtime's handlers, or are returned as the result. */
  readonly inputRequired?: 'answer' | 'return' | undefined;
  /** Answers to an earlier request of the server, with its state. */
  readonly inputResponses?: Readonly<Record<string, unknown>> | undefined;
  readonly requestState?: unknown;
  /** Who handles requests and notifications that belong to this call. Absent: the runtime's handlers. */
  readonly responder?: ClientResponder | undefined;
}

/** The options of a call that hold for the calls that its tool makes; `leftMs` is the rest of its total time. */
export function nestedOptions(options: CallOptions, leftMs: number): NestedCallOptions {
  const { timeoutMs, approvalWaitMs, onProgress, onApproval, responder } = options;
  const maxTotalMs = leftMs === Number.POSITIVE_INFINITY ? undefined : Math.max(leftMs, 1);
  return { timeoutMs, maxTotalMs, approvalWaitMs, onProgress, onApproval, responder };
}

/** How long to wait for an operation other than a call. */
export type WaitLimits = Pick<CallOptions, 'timeoutMs' | 'maxTotalMs' | 'signal'>;

export interface CallRequest extends CallOptions {
  /** The name an agent sees; or, with `server`, the tool's name there. */
  readonly tool: string;
  readonly server?: string | undefined;
  /** The caller's view has no such name: denied and recorded, even if the name exists elsewhere. */
  readonly isUnlisted?: boolean | undefined;
  /** Continues a result of this tool: if the name now refers to another tool, it fails as unknown. */
  readonly onlyFor?: ToolIdentity | undefined;
  /** Absent: by `tool`, and by `server` where that is given. */
  readonly calledAs?: CalledAs | undefined;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

const NO_OPTIONS: CallOptions = {};

/** Every option by name: engines read objects with the same keys in the same order much faster. */
export function toCallRequest(
  what: Pick<CallRequest, 'tool' | 'server' | 'arguments'>,
  given?: CallOptions | undefined,
): { -readonly [Key in keyof Required<CallRequest>]: CallRequest[Key] } {
  // Programs without types pass null too.
  const options = given ?? NO_OPTIONS;
  return {
    tool: what.tool,
    server: what.server,
    isUnlisted: undefined,
    onlyFor: undefined,
    calledAs: undefined,
    arguments: what.arguments,
    requestId: options.requestId,
    caller: options.caller,
    signal: options.signal,
    timeoutMs: options.timeoutMs,
    maxTotalMs: options.maxTotalMs,
    approvalWaitMs: options.approvalWaitMs,
    onProgress: options.onProgress,
    onApproval: options.onApproval,
    onPermit: options.onPermit,
    onResolved: options.onResolved,
    extraParams: options.extraParams,
    meta: options.meta,
    inputRequired: options.inputRequired,
    inputResponses: options.inputResponses,
    requestState: options.requestState,
    responder: options.responder,
  };
}

/** The name that the caller used, if its view has its own names: errors about hidden tools mention nothing else. */
export interface CalledAs {
  readonly name: string;
  /** Other names that the caller can see there, for suggestions. */
  readonly others: () => readonly string[];
}

/** A resource to read, a prompt to get, or any other request: the same path without a schema. */
export interface ReadRequest extends CallOptions {
  readonly kind: CallKind;
  readonly server: string;
  readonly method: string;
  readonly item: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** What argument rules compare for this request. Not sent. */
  readonly implied?: Readonly<Record<string, unknown>> | undefined;
  /** The request is about a task of a call to the tool `item`: decided like that call. */
  readonly task?: TaskFacts | undefined;
  /**
   * Follows the resource at this server, in place of sending the request. Nobody is asked about it: it has no end at
   * which an approval would be used up.
   */
  readonly follow?: ((server: Server) => Promise<unknown>) | undefined;
}

/** A call that ended before it reached an item of a server. */
export interface RefusedCall {
  readonly kind: CallKind;
  readonly server?: string | undefined;
  /** What it names, whether it exists or not. */
  readonly item: string;
  readonly arguments?: unknown;
  readonly caller?: Caller | undefined;
}

export const resourceRead = (server: string, uri: string, options: CallOptions): ReadRequest => ({
  ...options,
  kind: 'resource',
  server,
  item: uri,
  method: 'resources/read',
  params: { uri },
});

/** The same decision, limits and record as for reading it. */
export const resourceFollow = (
  {
    server,
    uri,
    caller,
  }: { readonly server: string; readonly uri: string; readonly caller: Caller | undefined },
  follow: ReadRequest['follow'],
): ReadRequest => ({
  caller,
  kind: 'resource',
  server,
  item: uri,
  method: 'resources/subscribe',
  params: { uri },
  follow,
});

export const promptRead = (
  server: string,
  params: { readonly name: string; readonly arguments: Readonly<Record<string, string>> },
  options: CallOptions,
): ReadRequest => ({ ...options, kind: 'prompt', server, item: params.name, method: 'prompts/get', params });

export interface TaskFacts {
  /** The approval of the call covers its task too, for the same reasons only. */
  readonly permit?: Permit | undefined;
  /** The request changes nothing and may be sent again. */
  readonly isSafe: boolean;
}

/** Throws REQUEST_INVALID for invalid options: an invalid time limit would mean no limit. */
export function checkOptions(options: CallOptions): void {
  const { requestId, timeoutMs, maxTotalMs, approvalWaitMs, onProgress, signal, caller } = options;
  checkMs('timeoutMs', timeoutMs);
  checkMs('maxTotalMs', maxTotalMs);
  checkMs('approvalWaitMs', approvalWaitMs);
  if (requestId !== undefined && typeof requestId !== 'string')
    throw invalid('requestId', 'a string', requestId);
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw invalid('onProgress', 'a function', onProgress);
  if (signal !== undefined && typeof signal?.addEventListener !== 'function')
    throw invalid('signal', 'an AbortSignal', signal);
  if (caller !== undefined && (typeof caller?.id !== 'string' || !Array.isArray(caller.capabilities)))
    throw invalid('caller', '{ id, capabilities }', caller);
}

/** Names and URIs are looked up, displayed, stored and scanned for secrets. */
export const MAX_NAME_LENGTH = 8_192;
/** Shown characters of a longer name. */
const TRUNCATED_NAME_LENGTH = 200;

/** For messages and records. */
export const truncateName = (name: string): string =>
  typeof name === 'string' && name.length > MAX_NAME_LENGTH
    ? `${name.slice(0, TRUNCATED_NAME_LENGTH)}…`
    : name;

/** Throws REQUEST_INVALID for a name that is too long. */
export function checkName(what: string, name: string | undefined): void {
  if (typeof name !== 'string' || name.length <= MAX_NAME_LENGTH) return;
  const message = `${what} is too long: ${name.length} characters, maximum ${MAX_NAME_LENGTH}.`;
  throw new TurnbuckleError('REQUEST_INVALID', message, { hint: 'Nothing was sent. Use a shorter value.' });
}

function checkMs(name: string, value: unknown): void {
  if (value === undefined || (typeof value === 'number' && value > 0)) return;
  throw invalid(name, 'a number of milliseconds greater than 0', value);
}

function invalid(name: string, expected: string, found: unknown): TurnbuckleError {
  const shown =
    typeof found === 'number' ? String(found) : found === null ? 'null' : `a value of type ${typeof found}`;
  return new TurnbuckleError(
    'REQUEST_INVALID',
    `Invalid call option ${name}: expected ${expected}, got ${shown}.`,
    {
      hint: 'Nothing was sent. Correct or omit the option.',
    },
  );
}

/** What is sent besides the arguments. */
export type RequestExtras = readonly [
  extraParams: CallOptions['extraParams'],
  meta: CallOptions['meta'],
  inputResponses: CallOptions['inputResponses'],
  requestState: unknown,
  /** From the caller: can be any value. */
  method: string | undefined,
];

/** Usually undefined. */
export function extrasOf(
  { extraParams, meta, inputResponses, requestState }: CallOptions,
  method?: string,
): RequestExtras | undefined {
  const isNothing =
    extraParams === undefined &&
    meta === undefined &&
    inputResponses === undefined &&
    requestState === undefined;
  return isNothing && method === undefined
    ? undefined
    : [extraParams, meta, inputResponses, requestState, method];
}

/** The method of a request that is passed through. All others are known methods. */
export const callerMethod = ({ kind, task, method }: ReadRequest): string | undefined =>
  kind === 'tool' && task === undefined ? method : undefined;

/** Without the state, which the server itself created. */
export const withoutRequestState = ([
  extraParams,
  meta,
  inputResponses,
  ,
  method,
]: readonly unknown[]): readonly unknown[] => [extraParams, meta, inputResponses, method];

export function withMeta(
  params: Readonly<Record<string, unknown>>,
  options: CallOptions,
): Readonly<Record<string, unknown>> {
  if (extrasOf(options) === undefined) return params;
  const { extraParams, meta, inputResponses, requestState } = options;
  return copyRawNumbers(extraParams ?? params, {
    ...extraParams,
    ...params,
    ...(meta !== undefined && { _meta: meta }),
    ...(inputResponses !== undefined && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
  });
}
