/** The settings of telemetry: the usual `OTEL_*` variables, and `daemon.traces`, which takes precedence. */
import type { Attributes, DaemonSettings } from 'turnbuckle/host';
import { EnvironmentReader } from './environment-reader.js';
import type { OtlpTarget } from './otlp-sender.js';
import { DEFAULT_SAMPLER, SAMPLERS, type Sampler } from './sampler.js';
import type { BatchLimits } from './span-exporter.js';

export interface OtelSettings {
  readonly traces: OtlpTarget | undefined;
  readonly metrics: OtlpTarget | undefined;
  readonly resource: Attributes;
  readonly sampler: Sampler;
  readonly batch: BatchLimits;
  readonly metricIntervalMs: number;
}

export interface OtelSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly traces: DaemonSettings['traces'];
  readonly version: string;
  /** A setting that cannot be used; the message contains no value. */
  readonly onWarning: (message: string) => void;
}

type Signal = 'TRACES' | 'METRICS';

const PATHS: Readonly<Record<Signal, string>> = { TRACES: 'v1/traces', METRICS: 'v1/metrics' };
const DEFAULT_ENDPOINT = 'http://localhost:4318';
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_MS = 3_600_000;

/** Undefined if nothing is exported. */
export function readOtelSettings(sources: OtelSources): OtelSettings | undefined {
  const reader = new EnvironmentReader(sources.environment, sources.onWarning);
  const isDisabled = reader.word('OTEL_SDK_DISABLED', ['true', 'false']) === 'true';
  const traces =
    sources.traces === undefined
      ? readTarget(reader, 'TRACES', isDisabled)
      : configuredTarget(reader, sources.traces);
  const metrics = readTarget(reader, 'METRICS', isDisabled);
  if (traces === undefined && metrics === undefined) return undefined;
  return {
    traces,
    metrics,
    resource: readResource(reader, sources.version),
    sampler: traces === undefined ? DEFAULT_SAMPLER : readSampler(reader),
    batch: readBatchLimits(reader),
    metricIntervalMs: reader.integer('OTEL_METRIC_EXPORT_INTERVAL', { usual: 60_000, min: 100, max: MAX_MS }),
  };
}

/** `daemon.traces` says where spans go; the variables say the rest. */
function configuredTarget(
  reader: EnvironmentReader,
  { endpoint, headers = {} }: NonNullable<DaemonSettings['traces']>,
): OtlpTarget | undefined {
  if (reader.checkUrl('daemon.traces.endpoint', endpoint, 'No spans are exported.') === undefined)
    return undefined;
  return {
    endpoint,
    headers: reader.checkHeaders('daemon.traces.headers', headers),
    timeoutMs: timeoutOf(reader, 'TRACES'),
  };
}

function readTarget(reader: EnvironmentReader, signal: Signal, isDisabled: boolean): OtlpTarget | undefined {
  const exporter = reader.word(
    `OTEL_${signal}_EXPORTER`,
    ['otlp', 'none'],
    'This signal (traces or metrics) is not exported.',
  );
  const ownEndpoint = `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`;
  const isWanted =
    reader.has(`OTEL_${signal}_EXPORTER`) ||
    reader.has(ownEndpoint) ||
    reader.has('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (isDisabled || !isWanted || (reader.has(`OTEL_${signal}_EXPORTER`) && exporter !== 'otlp'))
    return undefined;
  if (!canSpeakProtocol(reader, signal)) return undefined;
  const endpoint = reader.has(ownEndpoint)
    ? reader.url(ownEndpoint)
    : withPath(
        reader.has('OTEL_EXPORTER_OTLP_ENDPOINT')
          ? reader.url('OTEL_EXPORTER_OTLP_ENDPOINT')
          : DEFAULT_ENDPOINT,
        PATHS[signal],
      );
  if (endpoint === undefined) return undefined;
  const headers = {
    ...reader.headers('OTEL_EXPORTER_OTLP_HEADERS'),
    ...reader.headers(`OTEL_EXPORTER_OTLP_${signal}_HEADERS`),
  };
  return { endpoint, headers, timeoutMs: timeoutOf(reader, signal) };
}

function withPath(base: string | undefined, path: string): string | undefined {
  if (base === undefined) return undefined;
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`;
  return url.href;
}

const PROTOCOLS = ['http/json', 'http/protobuf', 'grpc'] as const;

/** JSON over HTTP is the only protocol. The OpenTelemetry Collector takes protobuf and JSON at the same address. */
function canSpeakProtocol(reader: EnvironmentReader, signal: Signal): boolean {
  const own = `OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`;
  const name = reader.has(own) ? own : 'OTEL_EXPORTER_OTLP_PROTOCOL';
  const protocol = reader.word(name, PROTOCOLS, 'Using http/json.');
  if (protocol === 'http/protobuf')
    reader.warn(name, 'is http/protobuf, which is not supported. Using http/json.');
  if (protocol !== 'grpc') return true;
  reader.warn(
    name,
    "is grpc, which is not supported, so nothing is exported. Use http/json, and point the endpoint at the collector's HTTP port (usually 4318).",
  );
  return false;
}

function timeoutOf(reader: EnvironmentReader, signal: Signal): number {
  const limits = { usual: DEFAULT_TIMEOUT_MS, min: 1, max: MAX_MS };
  const own = `OTEL_EXPORTER_OTLP_${signal}_TIMEOUT`;
  const timeoutMs = reader.integer(reader.has(own) ? own : 'OTEL_EXPORTER_OTLP_TIMEOUT', limits);
  const whole = signal === 'TRACES' ? 'OTEL_BSP_EXPORT_TIMEOUT' : 'OTEL_METRIC_EXPORT_TIMEOUT';
  return Math.min(timeoutMs, reader.integer(whole, { ...limits, usual: 30_000 }));
}

function readResource(reader: EnvironmentReader, version: string): Attributes {
  return {
    'service.name': 'turnbuckle',
    'service.version': version,
    ...reader.pairs('OTEL_RESOURCE_ATTRIBUTES'),
    ...(reader.has('OTEL_SERVICE_NAME') && { 'service.name': reader.text('OTEL_SERVICE_NAME') }),
  };
}

function readSampler(reader: EnvironmentReader): Sampler {
  const name = reader.word('OTEL_TRACES_SAMPLER', [...SAMPLERS.keys()], 'Using parentbased_always_on.');
  const create = name === undefined ? undefined : SAMPLERS.get(name);
  if (create === undefined) return DEFAULT_SAMPLER;
  return create(name?.includes('ratio') === true ? reader.ratio('OTEL_TRACES_SAMPLER_ARG') : 1);
}

function readBatchLimits(reader: EnvironmentReader): BatchLimits {
  const maxQueue = reader.integer('OTEL_BSP_MAX_QUEUE_SIZE', { usual: 5_000, min: 1, max: 100_000 });
  return {
    delayMs: reader.integer('OTEL_BSP_SCHEDULE_DELAY', { usual: 2_000, min: 1, max: MAX_MS }),
    maxQueue,
    maxBatch: Math.min(
      maxQueue,
      reader.integer('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', { usual: 512, min: 1, max: 4_096 }),
    ),
  };
}
