/** One call over the bridge: a simple request body and a simple response. */
import type { IncomingHttpHeaders } from 'node:http';
import { type Caller, type CallOptions, type Progress, type Runtime, TurnbuckleError } from 'turnbuckle';
import { type CancelSignal, ERRORS, toTurnbuckleError } from 'turnbuckle/host';
import * as z from 'zod/mini';
import { anyObject, textMap } from '../http/any-object.js';
import { ERROR_DATA, toSafeData } from '../http/safe-data.js';
import { hostOrCaller } from '../identity/host-or-caller.js';
import { traceMetaOf } from '../traces/trace-context.js';
import type { Tracer } from '../traces/tracer.js';
import type { InlineServers, OpenedEndpoint } from './inline-servers.js';

const MAX_HEADERS = 200;
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
  /** The longest time without progress once the call is sent; progress restarts it. */
  timeout_ms: z.optional(z.number().check(z.int(), z.gte(1), z.lte(86_400_000))),
  /** The longest total duration, regardless of progress. */
  max_total_ms: z.optional(z.number().check(z.int(), z.gte(1), z.lte(86_400_000))),
  /** The longest wait for an approval; the approval stays pending. */
  approval_wait_ms: z.optional(z.number().check(z.int(), z.gte(1), z.lte(86_400_000))),
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
  readonly tracer?: Tracer | undefined;
}

const TIMEOUT_MS = 30_000;

export class Bridge {
  readonly runtime: Runtime;
  readonly #inline: InlineServers;
  readonly #tracer: Tracer | undefined;

  constructor({ runtime, inline, tracer }: BridgeOptions) {
    this.runtime = runtime;
    this.#inline = inline;
    this.#tracer = tracer;
  }

  /** The options of a request for the call (not for its server), and its trace context. */
  optionsOf({ caller, signal, request }: BridgeCallContext): CallOptions {
    const meta = traceMetaOf(request.headers);
    return { caller: hostOrCaller(caller), signal, ...(this.#tracer?.begin(meta) ?? { meta }) };
  }

  /** Never rejects. */
  async call(
    body: CallBody,
    asking: BridgeCallContext,
    onProgress?: (progress: Progress) => void,
  ): Promise<BridgeResponse> {
    const { tool_name: tool, arguments: args, timeout_ms: timeoutMs = TIMEOUT_MS, max_total_ms } = body;
    let release = (): void => {};
    try {
      const found = await this.#find(body, asking.caller);
      const { runtime, server } = found;
      release = found.release;
      const result = await runtime.call({
        ...this.optionsOf(asking),
        timeoutMs,
        maxTotalMs: max_total_ms,
        approvalWaitMs: body.approval_wait_ms,
        ...(onProgress !== undefined && { onProgress }),
        tool,
        server,
        arguments: args,
      });
      if (result.isError !== true) return { http: 200, body: { success: true, result } };
      const error = textOf(result.content) ?? 'The tool reported an error.';
      return { http: 200, body: { success: false, error, code: 'TOOL_FAILED', result } };
    } catch (thrown) {
      const { code, message, hint, server, tool: name, data } = toTurnbuckleError(thrown);
      return {
        http: ERRORS[code].http,
        body: { success: false, error: message, code, hint, server, tool: name, data: toSafeData(data) },
      };
    } finally {
      release();
    }
  }

  async #find(
    { endpoint: given, server }: CallBody,
    caller: Caller,
  ): Promise<Omit<OpenedEndpoint, 'server'> & { readonly server: string | undefined }> {
    if (given === undefined) return { runtime: this.runtime, server, release: () => {} };
    if (server !== undefined)
      throw new TurnbuckleError('ARGUMENTS_INVALID', 'The request has both "endpoint" and "server".', {
        hint: 'Send only one of them.',
      });
    return this.#inline.open(given, caller);
  }
}

function textOf(content: unknown): string | undefined {
  const parts = Array.isArray(content) ? content : [];
  const texts = parts.flatMap((part) =>
    part?.type === 'text' && typeof part.text === 'string' ? [part.text] : [],
  );
  return texts.length === 0 ? undefined : texts.join('\n');
}
