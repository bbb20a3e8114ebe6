/** A span for every call, sent to an OpenTelemetry collector; servers are told where in the trace they stand. */
import { randomUUID } from 'node:crypto';
import { type CallOptions, keepSpelling, type Runtime, type RuntimeEvents } from 'turnbuckle';
import { continueTrace, type TraceContext, toTraceparent } from './trace-context.js';

export interface TracerOptions {
  /** The collector's address for traces (OTLP over HTTP, JSON). */
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly version: string;
  readonly onFailure?: ((error: Error) => void) | undefined;
}

const MOST_WAITING = 5_000;
const AT_ONCE = 512;
const EVERY_MS = 2_000;
const SEND_MS = 5_000;
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
    this.#timer = setInterval(() => void this.#send(), EVERY_MS).unref();
  }

  /** Spans that were not sent because the collector did not take them. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Calls of this runtime that were begun here become spans when they have ended. */
  follow(runtime: Watched): void {
    this.#stops.push(runtime.on('call.settled', (event) => this.#settled(event, runtime)));
  }

  /** A call begins, at the place that its `_meta` names; its server is told that it stands below. */
  begin(meta: CallOptions['meta']): Pick<CallOptions, 'requestId' | 'meta'> {
    const requestId = randomUUID();
    const context = continueTrace(meta?.traceparent);
    // A call of nothing that is known is never heard of again.
    const [oldest] = this.#open.size >= MOST_WAITING ? this.#open.keys() : [];
    if (oldest !== undefined) this.#open.delete(oldest);
    this.#open.set(requestId, context);
    const told = { ...meta, traceparent: toTraceparent(context) };
    return { requestId, meta: meta === undefined ? told : keepSpelling(meta, told) };
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    clearInterval(this.#timer);
    await this.#sending;
    await this.#send();
  }

  #settled(event: Settled, runtime: Watched): void {
    const context = this.#open.get(event.requestId);
    if (context === undefined) return;
    this.#open.delete(event.requestId);
    if (!context.sampled) return;
    if (this.#waiting.length >= MOST_WAITING) this.#dropped += 1;
    else this.#waiting.push(toSpan(withoutSecrets(event, runtime), context));
    if (this.#waiting.length >= AT_ONCE) void this.#send();
  }

  #send(): Promise<void> {
    this.#sending ??= this.#post().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #post(): Promise<void> {
    const spans = this.#waiting.splice(0, AT_ONCE);
    if (spans.length === 0) return;
    const { endpoint, headers, version, onFailure } = this.#options;
    const resource = { attributes: attributes({ 'service.name': 'turnbuckle', 'service.version': version }) };
    const scopeSpans = [{ scope: { name: 'turnbuckle', version }, spans }];
    try {
      const response = await fetch(endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
        signal: AbortSignal.timeout(SEND_MS),
      });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`The collector answered with HTTP ${response.status}.`);
    } catch (thrown) {
      this.#dropped += spans.length;
      onFailure?.(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }
}

/** Names of tools that ran hold no secret; an address of a resource, or what somebody made up, may. */
function withoutSecrets(event: Settled, runtime: Watched): Settled {
  if (event.kind === 'tool' && event.outcome !== 'failed') return event;
  const text = (name: string): string => String(runtime.redact(name));
  return { ...event, server: text(event.server), tool: text(event.tool) };
}

/** Names and outcomes only: arguments and results stay here. */
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
