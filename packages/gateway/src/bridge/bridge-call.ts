/** One call over the bridge: a simple request body and a simple response. */
import type { IncomingHttpHeaders } from 'node:http';
import { type Caller, type CallOptions, type Progress, type Runtime, TurnbuckleError } from 'turnbuckle';
import {
  CallClock,
  type CancelSignal,
  ERRORS,
  isRecord,
  type RequestEnd,
  readTraceMeta,
  type TraceMeta,
  toTurnbuckleError,
} from 'turnbuckle/host';
import * as z from 'zod/mini';
import { anyObject, textMap } from '../http/any-object.js';
import { ERROR_DATA, toSafeData } from '../http/safe-data.js';
import { hostOrCaller } from '../identity/host-or-caller.js';
import { withoutFile } from '../identity/without-file.js';
import { type ServedRequest, ServerSpan } from '../telemetry/server-span.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { InlineServers, OpenedEndpoint } from './inline-servers.js';

const MAX_HEADERS = 200;
const MILLISECONDS = z.number().check(z.int(), z.gte(1), z.lte(86_400_000));
const text = (most: number) => z.string().check(z.maxLength(most));

const endpoint = z.strictObject({
  url: z.optional(text(8_192)),
  transport: z.optional(z.enum(['http', 'streamable-http', 'sse', 'websocket', 'stdio'])),
  command: z.optional(text(4_096)),
  args: z.optional(z.array(text(32_768)).check(z.maxLength(1_000))),
  headers: z.optional(textMap(MAX_HEADERS, z.record(text(256), text(32_768)))),
});

export const CALL_BODY = z.strictObject({
  /** The server of the tool; or `server`; or neither, if the tool name includes it. */
  endpoint: z.optional(endpoint),
  /** The name of a configured server. */
  server: z.optional(text(256)),
  tool_name: text(512),
  arguments: z.optional(anyObject()),
  /** The longest total duration (30,000), regardless of progress; null: the limits of the server. */
  timeout_ms: z.optional(z.nullable(MILLISECONDS)),
  /** The longest time without progress. Without `timeout_ms`, the server's `maxCallMs` is the total. */
  silence_ms: z.optional(MILLISECONDS),
  /** The longest wait for an approval; the approval stays pending. */
  approval_wait_ms: z.optional(MILLISECONDS),
});

export type CallBody = z.output<typeof CALL_BODY>;

export const CALL_RESPONSE = z.looseObject({
  success: z.boolean(),
  /** The result of the tool, unchanged. */
  result: z.optional(z.unknown()),
  /** A sentence. */
  error: z.optional(z.string()),
  code: z.optional(z.string()),
  hint: z.optional(z.string()),
  data: z.optional(ERROR_DATA),
});

export interface BridgeResponse {
  readonly http: number;
  readonly body: z.output<typeof CALL_RESPONSE>;
}

/** Who makes the request, and its context. */
export interface BridgeCallContext {
  readonly caller: Caller;
  readonly signal: CancelSignal;
  readonly request: { readonly headers: IncomingHttpHeaders };
}

export interface BridgeOptions {
  readonly runtime: Runtime;
  readonly inline: InlineServers;
  readonly telemetry?: Telemetry | undefined;
}

/** A request in terms of MCP; `server`: the one that it is about, if it names a resource or prompt. */
type PerformedRequest = Pick<ServedRequest, 'method' | 'params'> & { readonly server?: string };

/** The server of a call, and the time limits from then on. */
interface FoundServer extends Omit<OpenedEndpoint, 'server'> {
  readonly server: string | undefined;
  readonly limits: ReturnType<typeof timeLimitsOf>;
}

type ToolResult = Awaited<ReturnType<Runtime['call']>>;

const TIMEOUT_MS = 30_000;

export class Bridge {
  readonly runtime: Runtime;
  readonly #inline: InlineServers;
  readonly #telemetry: Telemetry | undefined;

  constructor({ runtime, inline, telemetry }: BridgeOptions) {
    this.runtime = runtime;
    this.#inline = inline;
    this.#telemetry = telemetry;
  }

  /**
   * Does the work of a request, with the options that it has for the call (not for its server). In terms of MCP it is
   * a request with this method and these params.
   */
  async perform<Result>(
    context: BridgeCallContext,
    request: PerformedRequest,
    work: (options: CallOptions) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await this.#performObserved(context, request, work);
    } catch (thrown) {
      throw hostOrCaller(context.caller) === undefined ? thrown : withoutFile(thrown);
    }
  }

  async #performObserved<Result>(
    context: BridgeCallContext,
    request: PerformedRequest,
    work: (options: CallOptions) => Promise<Result>,
  ): Promise<Result> {
    const { caller, signal } = context;
    const { headers } = context.request;
    const meta = emptyToUndefined(readTraceMeta(headers));
    const who = { caller: hostOrCaller(caller), signal };
    const telemetry = this.#telemetry;
    if (telemetry === undefined) return work({ ...who, meta });
    const redact = (value: unknown): unknown => this.runtime.redact(value);
    const { method, params } = request;
    const span = new ServerSpan(telemetry, { method, params, meta, headers, callerId: caller.id, redact });
    let end: RequestEnd = {};
    try {
      const onResolved: CallOptions['onResolved'] = ({ server }) => span.confirmTarget(server);
      const result = await work({ ...who, meta: span.metaFor(meta), onResolved });
      if (this.#isListed(request)) span.confirmTarget(request.server);
      if (isRecord(result) && result.isError === true) end = TOOL_FAILURE;
      return result;
    } catch (thrown) {
      const { code } = toTurnbuckleError(thrown);
      end = { failure: { 'error.type': code }, status: code };
      throw thrown;
    } finally {
      span.end(end);
    }
  }

  /** A server may answer to any name of a prompt. Tools are confirmed where they are resolved. */
  #isListed({ method, params, server }: PerformedRequest): boolean {
    if (server === undefined || method !== 'prompts/get') return server !== undefined;
    return this.runtime.catalog.items(server, 'prompts').some(({ key }) => key === params.name);
  }

  /** Never rejects. */
  call(
    body: CallBody,
    asking: BridgeCallContext,
    onProgress?: (progress: Progress) => void,
  ): Promise<BridgeResponse> {
    const request = { method: 'tools/call', params: { name: body.tool_name } };
    return this.perform(asking, request, (options) =>
      this.#call(body, { ...options, onProgress }, asking.caller),
    ).then(toResponse, (thrown) => toFailedResponse(withTimeoutHint(thrown, body)));
  }

  async #call(body: CallBody, options: CallOptions, caller: Caller): Promise<ToolResult> {
    const { tool_name: tool, arguments: args } = body;
    const found = this.#find(body, options, caller);
    const { runtime, server, release, limits } = await found.catch((thrown) =>
      this.#refuse(body, options, thrown),
    );
    try {
      return await runtime.call({
        ...options,
        ...limits,
        approvalWaitMs: body.approval_wait_ms,
        tool,
        server,
        arguments: args,
      });
    } finally {
      release();
    }
  }

  /** The server of the request is not opened: recorded like a call of the configured servers. */
  async #refuse(
    { tool_name: item, arguments: args }: CallBody,
    { caller }: CallOptions,
    thrown: unknown,
  ): Promise<never> {
    await this.runtime.recordRefusal({ kind: 'tool', item, arguments: args, caller }, thrown);
    throw thrown;
  }

  /** With the time that is left: opening an inline server counts like the rest of the call. */
  async #find(body: CallBody, { signal }: CallOptions, caller: Caller): Promise<FoundServer> {
    const { endpoint: given, server } = body;
    const limits = timeLimitsOf(body);
    if (given === undefined) return { runtime: this.runtime, server, release: () => {}, limits };
    if (server !== undefined)
      throw new TurnbuckleError('ARGUMENTS_INVALID', 'The request has both "endpoint" and "server".', {
        hint: 'Send only one of them.',
      });
    this.#checkSecrets(given, caller);
    const clock = new CallClock(limits);
    const opening = this.#inline.open(given, caller);
    try {
      const opened = await clock.until(opening, { what: 'the server of the request', signal });
      const { maxTotalMs } = limits;
      const left = maxTotalMs === undefined ? undefined : Math.max(Math.ceil(clock.leftMs), 1);
      return { ...opened, limits: { ...limits, maxTotalMs: left } };
    } catch (thrown) {
      // It may still open: nobody uses it then.
      opening.then(({ release }) => release()).catch(() => {});
      throw thrown;
    }
  }

  /** What a request sends to its endpoint beside the arguments may contain no secret either. */
  #checkSecrets({ url, headers }: NonNullable<CallBody['endpoint']>, caller: Caller): void {
    if (hostOrCaller(caller) === undefined || !this.runtime.knowsSecret({ url, headers })) return;
    throw new TurnbuckleError('CALL_DENIED', 'The endpoint contains a known secret in its URL or headers.', {
      hint: 'Remove it from the request. To use the secret at this server, configure the server and use its name.',
    });
  }
}

const TOOL_FAILURE: RequestEnd = { failure: { 'error.type': 'tool_error' }, status: 'tool_error' };

const emptyToUndefined = (meta: TraceMeta): CallOptions['meta'] =>
  Object.keys(meta).length === 0 ? undefined : { ...meta };

function toResponse(result: ToolResult): BridgeResponse {
  if (result.isError !== true) return { http: 200, body: { success: true, result } };
  const error = textOf(result.content) ?? 'The tool reported an error.';
  return { http: 200, body: { success: false, error, code: 'TOOL_FAILED', result } };
}

function toFailedResponse(thrown: unknown): BridgeResponse {
  const { code, message, hint, server, tool, data } = toTurnbuckleError(thrown);
  return {
    http: ERRORS[code].http,
    body: { success: false, error: message, code, hint, server, tool, data: toSafeData(data) },
  };
}

/** The limit was the one of the request, or its default. */
function withTimeoutHint(thrown: unknown, { timeout_ms }: CallBody): TurnbuckleError {
  const error = toTurnbuckleError(thrown);
  if (error.code !== 'CALL_TIMEOUT' || timeout_ms === null) return error;
  const { message, server, tool, data, cause } = error;
  const hint = "Send a larger timeout_ms, or null to use the server's limits.";
  return new TurnbuckleError('CALL_TIMEOUT', message, { server, tool, data, cause, hint });
}

/** A call without any limit in its request ends after the default, progress or not. */
function timeLimitsOf({ timeout_ms, silence_ms }: CallBody): Pick<CallOptions, 'timeoutMs' | 'maxTotalMs'> {
  if (timeout_ms === null) return { timeoutMs: silence_ms, maxTotalMs: undefined };
  const maxTotalMs = timeout_ms ?? (silence_ms === undefined ? TIMEOUT_MS : undefined);
  return { timeoutMs: silence_ms ?? maxTotalMs, maxTotalMs };
}

function textOf(content: unknown): string | undefined {
  const parts = Array.isArray(content) ? content : [];
  const texts = parts.flatMap((part) =>
    part?.type === 'text' && typeof part.text === 'string' ? [part.text] : [],
  );
  return texts.length === 0 ? undefined : texts.join('\n');
}
