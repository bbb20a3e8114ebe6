/** A span for every call, exported to an OpenTelemetry collector; servers get the trace context. */
import { randomUUID } from 'node:crypto';
import type { CallOptions, Runtime, RuntimeEvents } from 'turnbuckle';
import { copyRawNumbers } from 'turnbuckle/host';
import { continueTrace, type TraceContext, toTraceparent } from './trace-context.js';

export interface TracerOptions {
  /** The URL of the collector for traces (OTLP over HTTP, JSON). */
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly version: string;
  readonly onFailure?: ((error: Error) => void) | undefined;
}

const MAX_QUEUED_SPANS = 5_000;
const MAX_BATCH_SPANS = 512;
const SEND_INTERVAL_MS = 2_000;
const SEND_TIMEOUT_MS = 5_000;
const SERVER_KIND = 2;
const ERROR_STATUS = 2;

type Settled = RuntimeEvents['call.settled'];
type Watched = Pick<Runtime, 'on' | 'redact'>;

export class Tracer {
  readonly #options: TracerOptions;
  readonly #open = new Map<string, TraceContext>();
  readonly #waiting: object[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #stops: Array<() => void> = [];
  #dropped = 0;
  #sending: Promise<void> | undefined;

  constructor(options: TracerOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#send(), SEND_INTERVAL_MS).unref();
  }

  /** Spans that were dropped because the collector did not accept them. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Calls of this runtime that `begin` saw become spans when they end. */
  follow(runtime: Watched): void {
    this.#stops.push(runtime.on('call.settled', (event) => this.#onSettled(event, runtime)));
  }

  /** Starts a span below the one in `_meta`; returns `_meta` with the new span for the server. */
  begin(meta: CallOptions['meta']): Pick<CallOptions, 'requestId' | 'meta'> {
    const requestId = randomUUID();
    const context = continueTrace(meta?.traceparent);
    // A call to an unknown item never settles here.
    const [oldest] = this.#open.size >= MAX_QUEUED_SPANS ? this.#open.keys() : [];
    if (oldest !== undefined) this.#open.delete(oldest);
    this.#open.set(requestId, context);
    const sent = { ...meta, traceparent: toTraceparent(context) };
    return { requestId, meta: meta === undefined ? sent : copyRawNumbers(meta, sent) };
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    clearInterval(this.#timer);
    await this.#sending;
    await this.#send();
  }

  #onSettled(event: Settled, runtime: Watched): void {
    const context = this.#open.get(event.requestId);
    if (context === undefined) return;
    this.#open.delete(event.requestId);
    if (!context.sampled) return;
    if (this.#waiting.length >= MAX_QUEUED_SPANS) this.#dropped += 1;
    else this.#waiting.push(toSpan(redactNames(event, runtime), context));
    if (this.#waiting.length >= MAX_BATCH_SPANS) void this.#send();
  }

  #send(): Promise<void> {
    this.#sending ??= this.#post().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #post(): Promise<void> {
    const spans = this.#waiting.splice(0, MAX_BATCH_SPANS);
    if (spans.length === 0) return;
    const { endpoint, headers, version, onFailure } = this.#options;
    const resource = { attributes: attributes({ 'service.name': 'turnbuckle', 'service.version': version }) };
    const scopeSpans = [{ scope: { name: 'turnbuckle', version }, spans }];
    try {
      const response = await fetch(endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
        signal: AbortSignal.timeout(SEND_TIMEOUT_MS),
      });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`The collector returned HTTP ${response.status}.`);
    } catch (thrown) {
      this.#dropped += spans.length;
      onFailure?.(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }
}

/** Names of tools that ran contain no secrets; a resource URI or a made-up name may. */
function redactNames(event: Settled, runtime: Watched): Settled {
  if (event.kind === 'tool' && event.outcome !== 'failed') return event;
  const text = (name: string): string => String(runtime.redact(name));
  return { ...event, server: text(event.server), tool: text(event.tool) };
}

/** Names and outcomes only: no arguments and results. */
function toSpan(event: Settled, { traceId, spanId, parentId }: TraceContext): object {
  const { kind, server, tool, startedAt, durationMs, outcome, error, attempts, callerId } = event;
  return {
    traceId,
    spanId,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    name: `${kind} ${server}/${tool}`,
    kind: SERVER_KIND,
    startTimeUnixNano: toNanoseconds(startedAt),
    endTimeUnixNano: toNanoseconds(startedAt + durationMs),
    attributes: attributes({
      'mcp.server': server,
      'mcp.tool': tool,
      'mcp.kind': kind,
      'mcp.caller': callerId,
      'mcp.attempts': attempts,
      'error.type': error?.code ?? (outcome === 'ok' ? undefined : outcome),
    }),
    ...(outcome !== 'ok' && { status: { code: ERROR_STATUS, message: error?.code ?? outcome } }),
  };
}

const toNanoseconds = (ms: number): string => `${Math.round(ms * 1_000)}000`;

function attributes(values: Readonly<Record<string, string | number | undefined>>): object[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [{ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }],
  );
}
