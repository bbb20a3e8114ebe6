/** One call of the bridge: the body as any program can write it, and the answer as any program can read it. */
import type { IncomingHttpHeaders } from 'node:http';
import {
  type Caller,
  type CallOptions,
  type CancelSignal,
  ERRORS,
  type Progress,
  type Runtime,
  TurnbuckleError,
  toTurnbuckleError,
} from 'turnbuckle';
import * as z from 'zod/mini';
import { hostOrCaller } from '../host-or-caller.js';
import { anyObject, textMap } from '../http/any-object.js';
import { ERROR_DATA, toSafeData } from '../http/safe-data.js';
import { traceMetaOf } from '../traces/trace-context.js';
import type { Tracer } from '../traces/tracer.js';
import type { InlineServers, Opened } from './inline-servers.js';

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
  /** Where the tool is; or `server`; or neither, when the name of the tool says it. */
  endpoint: z.optional(endpoint),
  /** The name of a configured server. */
  server: z.optional(text(256)),
  tool_name: text(512),
  arguments: z.optional(anyObject()),
  /** Longest silence once the call is sent; progress starts it anew. */
  timeout_ms: z.optional(z.number().check(z.int(), z.gte(1), z.lte(86_400_000))),
  /** Longest duration in all, however much progress there is. */
  max_total_ms: z.optional(z.number().check(z.int(), z.gte(1), z.lte(86_400_000))),
  /** Longest wait for an approval; the question stays open. */
  approval_wait_ms: z.optional(z.number().check(z.int(), z.gte(1), z.lte(86_400_000))),
});

export type CallBody = z.output<typeof CALL_BODY>;

export const CALL_ANSWER = z.looseObject({
  success: z.boolean(),
  /** What the tool answered, as it answered it. */
  result: z.optional(z.unknown()),
  /** A sentence. */
  error: z.optional(z.string()),
  code: z.optional(z.string()),
  hint: z.optional(z.string()),
  data: z.optional(ERROR_DATA),
});

export interface BridgeAnswer {
  readonly http: number;
  readonly body: z.output<typeof CALL_ANSWER>;
}

/** Who asks, and from where. */
export interface Asking {
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

  /** What of a request is for a call and not for its server, and where in a trace it stands. */
  optionsOf({ caller, signal, request }: Asking): CallOptions {
    const meta = traceMetaOf(request.headers);
    return { caller: hostOrCaller(caller), signal, ...(this.#tracer?.begin(meta) ?? { meta }) };
  }

  /** Never rejects. */
  async call(
    body: CallBody,
    asking: Asking,
    onProgress?: (progress: Progress) => void,
  ): Promise<BridgeAnswer> {
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
  ): Promise<Omit<Opened, 'server'> & { readonly server: string | undefined }> {
    if (given === undefined) return { runtime: this.runtime, server, release: () => {} };
    if (server !== undefined)
      throw new TurnbuckleError('ARGUMENTS_INVALID', 'There are both an endpoint and a server.', {
        hint: 'Give one of them.',
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
