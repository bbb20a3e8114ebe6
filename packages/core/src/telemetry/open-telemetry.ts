/** Requests to servers as spans of the host's own OpenTelemetry: they join the trace that is active in the host. */
import {
  type ClientTelemetry,
  DURATION_BOUNDS,
  DURATIONS,
  type ObservedRequest,
  type RequestSpan,
} from './client-telemetry.js';
import { parseTraceparent, readTraceMeta } from './trace-meta.js';

/** The part of `@opentelemetry/api` 1.x that is used. */
export interface OpenTelemetryApi {
  readonly context: { active(): ApiContext };
  readonly trace: {
    getTracer(name: string): ApiTracer;
    setSpan(context: ApiContext, span: ApiSpan): ApiContext;
  };
  readonly propagation: {
    extract(context: ApiContext, from: unknown): ApiContext;
    inject(context: ApiContext, into: unknown): void;
  };
  readonly metrics: { getMeter(name: string): ApiMeter };
}

interface ApiContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): ApiContext;
  deleteValue(key: symbol): ApiContext;
}

interface ApiSpan {
  setAttributes(attributes: Record<string, string | number | boolean | undefined>): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  end(): void;
}
interface ApiTracer {
  startSpan(
    name: string,
    options: {
      readonly kind: number;
      readonly attributes: Record<string, string | number | boolean | undefined>;
    },
    context: ApiContext,
  ): ApiSpan;
}
interface ApiHistogram {
  record(value: number, attributes: Record<string, string | number | boolean | undefined>): void;
}
interface ApiMeter {
  createHistogram(
    name: string,
    options: {
      readonly unit: string;
      readonly description: string;
      readonly advice: { explicitBucketBoundaries: number[] };
    },
  ): ApiHistogram;
}

const SCOPE = 'turnbuckle';
/** `SpanKind.CLIENT` and `SpanStatusCode.ERROR` of the API. */
const CLIENT_KIND = 2;
const ERROR_STATUS = 2;

export function createOpenTelemetry(api: OpenTelemetryApi): ClientTelemetry {
  const meter = api.metrics.getMeter(SCOPE);
  const histogram = ({ name, description }: (typeof DURATIONS)[keyof typeof DURATIONS]): ApiHistogram =>
    meter.createHistogram(name, {
      unit: 's',
      description,
      advice: { explicitBucketBoundaries: [...DURATION_BOUNDS] },
    });
  const requests = histogram(DURATIONS.clientRequest);
  const sessions = histogram(DURATIONS.clientSession);
  return {
    startRequest: (request) => startRequest(api, requests, request),
    recordSession: (seconds, attributes) => sessions.record(seconds, { ...attributes }),
  };
}

function startRequest(
  { context, trace, propagation }: OpenTelemetryApi,
  durations: ApiHistogram,
  request: ObservedRequest,
): RequestSpan {
  const { name, attributes, spanAttributes, meta } = request;
  const started = performance.now();
  // A parent that the caller names takes precedence over the active span.
  const parent =
    parseTraceparent(meta?.traceparent) === undefined
      ? context.active()
      : propagation.extract(context.active(), readTraceMeta(meta));
  const options = { kind: CLIENT_KIND, attributes: { ...attributes, ...spanAttributes } };
  const span = trace.getTracer(SCOPE).startSpan(name, options, parent);
  const injected: Record<string, unknown> = {};
  propagation.inject(trace.setSpan(parent, span), injected);
  return {
    traceMeta: readTraceMeta(injected),
    end: ({ failure, status }, requestId) => {
      span.setAttributes({ ...failure, ...(requestId !== undefined && { 'jsonrpc.request.id': requestId }) });
      if (failure !== undefined)
        span.setStatus({ code: ERROR_STATUS, ...(status !== undefined && { message: status }) });
      span.end();
      durations.record((performance.now() - started) / 1_000, { ...attributes, ...failure });
    },
  };
}
