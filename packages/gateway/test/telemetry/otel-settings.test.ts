import { describe, expect, it } from 'vitest';
import { type OtelSettings, readOtelSettings } from '../../src/telemetry/otel-settings.js';

const ENDPOINT = 'http://127.0.0.1:4318';
const TRACES = `${ENDPOINT}/v1/traces`;
const METRICS = `${ENDPOINT}/v1/metrics`;

function read(
  environment: Record<string, string>,
  traces?: { endpoint: string; headers?: Record<string, string> },
): { settings: OtelSettings | undefined; warnings: string[] } {
  const warnings: string[] = [];
  const onWarning = (message: string): void => void warnings.push(message);
  return { settings: readOtelSettings({ environment, traces, version: '1', onWarning }), warnings };
}

const endpoints = (environment: Record<string, string>, traces?: { endpoint: string }) => {
  const { settings } = read(environment, traces);
  return [settings?.traces?.endpoint, settings?.metrics?.endpoint];
};

describe('the endpoints', () => {
  const BASE = { OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT };
  const CASES: ReadonlyArray<[Record<string, string>, Array<string | undefined>]> = [
    [{}, [undefined, undefined]],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, [undefined, undefined]],
    [BASE, [TRACES, METRICS]],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: `${ENDPOINT}/` }, [TRACES, METRICS]],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: `${ENDPOINT}/base` },
      [`${ENDPOINT}/base/v1/traces`, `${ENDPOINT}/base/v1/metrics`],
    ],
    [{ ...BASE, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${ENDPOINT}/own` }, [`${ENDPOINT}/own`, METRICS]],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${ENDPOINT}/own` }, [undefined, `${ENDPOINT}/own`]],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, ['http://localhost:4318/v1/traces', undefined]],
    [{ ...BASE, OTEL_TRACES_EXPORTER: 'none' }, [undefined, METRICS]],
    [{ ...BASE, OTEL_METRICS_EXPORTER: 'none' }, [TRACES, undefined]],
    [{ ...BASE, OTEL_SDK_DISABLED: 'true' }, [undefined, undefined]],
    [{ ...BASE, OTEL_SDK_DISABLED: 'TRUE' }, [undefined, undefined]],
    [{ ...BASE, OTEL_SDK_DISABLED: 'false' }, [TRACES, METRICS]],
  ];
  for (const [environment, expected] of CASES)
    it(`of ${JSON.stringify(environment)}`, () => {
      expect(endpoints(environment)).toEqual(expected);
      expect(read(environment).warnings).toEqual([]);
    });

  it('of daemon.traces takes precedence for spans', () => {
    const traces = { endpoint: 'http://127.0.0.1:1/own' };
    expect(endpoints(BASE, traces)).toEqual([traces.endpoint, METRICS]);
    for (const off of [{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }])
      expect(endpoints(off, traces)).toEqual([traces.endpoint, undefined]);
  });
});

describe('the other variables', () => {
  const BASE = { OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT };

  it('set headers, timeouts, batches and the resource', () => {
    const { settings, warnings } = read({
      ...BASE,
      OTEL_EXPORTER_OTLP_HEADERS: 'Api-Key=a%20b, x-both=common',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-both=traces',
      OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
      OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: '2000',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_EXPORT_TIMEOUT: '500',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_BSP_MAX_QUEUE_SIZE: '100',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '200',
      OTEL_METRIC_EXPORT_INTERVAL: '1500',
      OTEL_SERVICE_NAME: 'gateway',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=a%2Cb',
    });
    expect(warnings).toEqual([]);
    expect(settings).toMatchObject({
      traces: { headers: { 'api-key': 'a b', 'x-both': 'traces' }, timeoutMs: 500 },
      metrics: { headers: { 'api-key': 'a b', 'x-both': 'common' }, timeoutMs: 2_000 },
      batch: { delayMs: 50, maxQueue: 100, maxBatch: 100 },
      metricIntervalMs: 1_500,
      resource: { 'service.name': 'gateway', 'service.version': '1', 'deployment.environment.name': 'a,b' },
    });
  });

  it('choose the sampler', () => {
    const low = `${'0'.repeat(31)}1`;
    const high = 'f'.repeat(32);
    const decisions = (sampler: string, argument?: string): boolean[] => {
      const { settings, warnings } = read({
        ...BASE,
        OTEL_TRACES_SAMPLER: sampler,
        ...(argument !== undefined && { OTEL_TRACES_SAMPLER_ARG: argument }),
      });
      expect(warnings).toEqual([]);
      const parents = [undefined, { isSampled: true }, { isSampled: false }];
      return [low, high].flatMap((id) => parents.map((parent) => settings?.sampler(id, parent) === true));
    };
    expect(decisions('always_on')).toEqual([true, true, true, true, true, true]);
    expect(decisions('always_off')).toEqual([false, false, false, false, false, false]);
    expect(decisions('traceidratio', '0.5')).toEqual([true, true, true, false, false, false]);
    expect(decisions('traceidratio')).toEqual([true, true, true, true, true, true]);
    expect(decisions('parentbased_always_on')).toEqual([true, true, false, true, true, false]);
    expect(decisions('parentbased_always_off')).toEqual([false, true, false, false, true, false]);
    expect(decisions('parentbased_traceidratio', '0.5')).toEqual([true, true, false, false, true, false]);
  });

  it('that are malformed are warnings with the name and without the value', () => {
    const MALFORMED: ReadonlyArray<[string, string, RegExp]> = [
      ['OTEL_SDK_DISABLED', 'secret', /true or false/],
      ['OTEL_TRACES_EXPORTER', 'zipkin', /otlp or none/],
      ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'secret', /http or https URL/],
      ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'ftp://secret', /http or https URL/],
      ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:secret@127.0.0.1', /put credentials in the headers/],
      ['OTEL_EXPORTER_OTLP_HEADERS', 'secret', /key=value/],
      ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%zz-secret', /key=value/],
      ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=secret', /valid HTTP header/],
      ['OTEL_EXPORTER_OTLP_HEADERS', 'trailer=x', /sets itself/],
      ['OTEL_EXPORTER_OTLP_HEADERS', 'Transfer-Encoding=chunked', /sets itself/],
      ['OTEL_EXPORTER_OTLP_HEADERS', 'a=secret%0d%0ab:c', /valid HTTP header/],
      ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /not supported, so nothing is exported.*http\/json/],
      ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/protobuf', /Using http\/json/],
      ['OTEL_EXPORTER_OTLP_PROTOCOL', 'secret', /Using http\/json/],
      ['OTEL_EXPORTER_OTLP_TIMEOUT', '-1', /whole number.*Using 10000/],
      ['OTEL_TRACES_SAMPLER', 'xray', /parentbased_always_on/],
      ['OTEL_TRACES_SAMPLER_ARG', '1.5', /from 0 to 1/],
      ['OTEL_BSP_SCHEDULE_DELAY', 'soon', /Using 2000/],
      ['OTEL_BSP_MAX_QUEUE_SIZE', '1e99', /Using 5000/],
      ['OTEL_METRIC_EXPORT_INTERVAL', '0', /Using 60000/],
      ['OTEL_RESOURCE_ATTRIBUTES', 'secret', /key=value/],
      ['OTEL_SERVICE_NAME', 'secret'.repeat(10_000), /more than 16384 characters/],
    ];
    for (const [name, value, expected] of MALFORMED) {
      const more = name.endsWith('_ARG') ? { OTEL_TRACES_SAMPLER: 'traceidratio' } : {};
      const { warnings } = read({ ...BASE, ...more, [name]: value });
      expect(warnings, name).toEqual([expect.stringMatching(expected)]);
      expect(warnings[0]?.startsWith(name)).toBe(true);
      expect(warnings[0]).not.toContain('secret');
    }
  });

  it('that ask for gRPC turn off that signal alone', () => {
    expect(endpoints({ ...BASE, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc' })).toEqual([undefined, METRICS]);
  });

  it('do not replace a malformed endpoint of daemon.traces', () => {
    const { settings, warnings } = read({}, { endpoint: 'nowhere' });
    expect(settings).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(/^daemon\.traces\.endpoint must be an http/)]);
  });
});
