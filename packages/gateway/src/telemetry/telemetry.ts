/**
 * Spans and durations of the daemon, by the OpenTelemetry conventions for MCP: one for each request that it serves, and
 * one for each request that it sends to a server. Names and outcomes only: no arguments and no results.
 */
import {
  type Attributes,
  type ClientTelemetry,
  DURATIONS,
  type ObservedRequest,
  parseTraceparent,
  type RemoteSpan,
  type RequestSpan,
  type RequestTarget,
  readTracestate,
  type TraceMeta,
} from 'turnbuckle/host';
import { DurationHistogram, type DurationSource } from './duration-histogram.js';
import { MetricExporter } from './metric-exporter.js';
import { type OtelSettings, type OtelSources, readOtelSettings } from './otel-settings.js';
import { OtlpSender, type OtlpTarget } from './otlp-sender.js';
import { writeAttributes } from './otlp-values.js';
import type { Sampler } from './sampler.js';
import {
  type ClientPath,
  pathAttributes,
  type ServedOperation,
  ServedOperations,
} from './served-operations.js';
import { SpanClock } from './span-clock.js';
import { SpanExporter } from './span-exporter.js';
import { newSpanId, newTraceId } from './span-ids.js';
import type { EndedSpan, StartedSpan } from './write-span.js';

export interface TelemetryOptions extends OtelSources {
  /** For timestamps. */
  readonly now?: (() => number) | undefined;
}

type Fields = Readonly<Record<string, unknown>> | undefined;

/** Where the trace context of a request is. Clients choose it freely: what contains a secret is left out. */
export interface TraceSource {
  readonly meta: Fields;
  readonly headers?: Fields;
  readonly isSecret?: (text: string) => boolean;
}

/** Shutting down does not wait longer for a collector. */
const CLOSE_MS = 5_000;

/** The kinds of spans in OTLP. */
export const SERVER_KIND = 2;
const CLIENT_KIND = 3;

/** Undefined if neither the configuration nor the environment names a collector. */
export function openTelemetry(options: TelemetryOptions): Telemetry | undefined {
  const settings = readOtelSettings(options);
  return settings && new Telemetry(settings, options);
}

export class Telemetry implements ClientTelemetry {
  readonly #clock: SpanClock;
  readonly #sampler: Sampler;
  readonly #operations = new ServedOperations();
  readonly #senders: OtlpSender[] = [];
  readonly #spans: SpanExporter | undefined;
  readonly #metrics: MetricExporter | undefined;
  readonly #durations: Readonly<Record<keyof typeof DURATIONS, DurationHistogram>>;

  /** Use `openTelemetry`. */
  constructor(settings: OtelSettings, { version, onWarning, now = Date.now }: TelemetryOptions) {
    const { traces, metrics, batch: limits, metricIntervalMs: intervalMs } = settings;
    this.#clock = new SpanClock(now);
    this.#sampler = settings.sampler;
    const startedAt = now();
    this.#durations = {
      clientRequest: new DurationHistogram(DURATIONS.clientRequest, startedAt),
      clientSession: new DurationHistogram(DURATIONS.clientSession, startedAt),
      serverRequest: new DurationHistogram(DURATIONS.serverRequest, startedAt),
      serverSession: new DurationHistogram(DURATIONS.serverSession, startedAt),
    };
    const histograms = Object.values(this.#durations);
    const shared = {
      resource: `{"attributes":[${writeAttributes(settings.resource)}]}`,
      scope: JSON.stringify({ name: 'turnbuckle', version }),
    };
    const senderFor = (what: string, target: OtlpTarget): OtlpSender => {
      const sender = new OtlpSender(target, ({ message }) => onWarning(`Cannot export ${what}: ${message}`));
      this.#senders.push(sender);
      return sender;
    };
    this.#spans = traces && new SpanExporter({ ...shared, sender: senderFor('traces', traces), limits });
    this.#metrics =
      metrics &&
      new MetricExporter({ ...shared, sender: senderFor('metrics', metrics), histograms, intervalMs, now });
  }

  /** Spans that no collector took. */
  get dropped(): number {
    return this.#spans?.dropped ?? 0;
  }

  startRequest(request: ObservedRequest): RequestSpan {
    const started = performance.now();
    const { name, attributes: shared, spanAttributes: own, meta } = request;
    const span = this.startSpan(CLIENT_KIND, { meta });
    const owner = serverOf(shared);
    return {
      traceMeta: span === undefined ? {} : traceMetaOf(span),
      end: (end, requestId) => {
        const seconds = (performance.now() - started) / 1_000;
        this.#durations.clientRequest.record(seconds, shared, { failure: end.failure, owner });
        if (span?.isSampled !== true) return;
        this.addSpan({ span, endedAt: this.#clock.now(), name, shared, own, end, requestId });
      },
    };
  }

  recordSession(seconds: number, attributes: Attributes): void {
    this.#durations.clientSession.record(seconds, attributes, { owner: serverOf(attributes) });
  }

  /** The time, for the end of a span. */
  now(): number {
    return this.#clock.now();
  }

  servedOperation(method: string, target: RequestTarget, path: ClientPath): ServedOperation {
    return this.#operations.find(method, target, path);
  }

  recordServed(seconds: number, attributes: Attributes, source: DurationSource): void {
    this.#durations.serverRequest.record(seconds, attributes, source);
  }

  recordServedSession(seconds: number, path: ClientPath): void {
    this.#durations.serverSession.record(seconds, pathAttributes(path), { owner: '' });
  }

  /** Below the span in `_meta`, or else the one in the headers. Undefined if no spans are exported. */
  startSpan(kind: number, { meta, headers, isSecret = () => false }: TraceSource): StartedSpan | undefined {
    if (this.#spans === undefined) return undefined;
    const parse = (from: Fields): RemoteSpan | undefined => {
      const span = parseTraceparent(from?.traceparent);
      return span === undefined || isSecret(span.traceId) || isSecret(span.spanId) ? undefined : span;
    };
    const [named, ambient] = [parse(meta), parse(headers)];
    const parent = named ?? ambient;
    const traceState = parent && readTracestate(named === undefined ? headers : meta);
    const traceId = parent?.traceId ?? newTraceId();
    const isLinked = named !== undefined && ambient !== undefined && named.spanId !== ambient.spanId;
    return {
      traceId,
      spanId: newSpanId(),
      parentId: parent?.spanId,
      isSampled: this.#sampler(traceId, parent),
      traceState: traceState === undefined || isSecret(traceState) ? undefined : traceState,
      link: isLinked ? ambient : undefined,
      kind,
      startedAt: this.#clock.now(),
    };
  }

  addSpan(span: EndedSpan): void {
    this.#spans?.add(span);
  }

  async close(): Promise<void> {
    for (const sender of this.#senders) sender.endAfter(CLOSE_MS);
    await Promise.all([this.#spans?.close(), this.#metrics?.close()]);
    for (const sender of this.#senders) sender.close();
  }
}

/** The trace context for those that come after the span. */
export const traceMetaOf = ({ traceId, spanId, isSampled, traceState }: StartedSpan): TraceMeta => ({
  traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`,
  ...(traceState !== undefined && { tracestate: traceState }),
});

/** Servers that requests describe count as one: a caller can describe any number of them. */
const serverOf = ({ 'turnbuckle.server.name': name = '' }: Attributes): string =>
  String(name).startsWith('inline-') ? 'inline' : String(name);
