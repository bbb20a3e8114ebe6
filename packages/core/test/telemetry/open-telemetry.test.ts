import * as api from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { fixture, startFixture, temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime, type Runtime, type RuntimeOptions } from 'turnbuckle';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';

let exporter: InMemorySpanExporter;
let provider: NodeTracerProvider;

beforeEach(() => {
  exporter = new InMemorySpanExporter();
  provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  provider.register();
});

afterEach(async () => {
  await provider.shutdown();
  for (const one of [api.trace, api.context, api.propagation, api.metrics]) one.disable();
});

async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  const runtime = await createRuntime(options);
  onTestFinished(() => runtime.close());
  await runtime.connectAll();
  return runtime;
}

const callSpans = (): ReadableSpan[] =>
  exporter.getFinishedSpans().filter(({ name }) => name.startsWith('tools/call') || name === 'host work');

const metaOf = (result: unknown): Record<string, unknown> =>
  JSON.parse((result as { content: [{ text: string }] }).content[0].text);

describe('a host with OpenTelemetry', () => {
  it('gets a span for each request, below its active span, and the server gets the context', async () => {
    const runtime = await openRuntime({ servers: { up: fixture('echo') } });
    const tracer = api.trace.getTracer('host');
    const baggage = api.propagation.createBaggage({ user: { value: 'alice' } });
    const result = await api.context.with(api.propagation.setBaggage(api.context.active(), baggage), () =>
      tracer.startActiveSpan('host work', async (span) => {
        const called = await runtime.callTool('up', 'meta', {});
        span.end();
        return called;
      }),
    );
    const [sent, work] = callSpans();
    expect(work?.name).toBe('host work');
    expect(sent).toMatchObject({
      name: 'tools/call meta',
      kind: api.SpanKind.CLIENT,
      parentSpanContext: { spanId: work?.spanContext().spanId, traceId: work?.spanContext().traceId },
      status: { code: api.SpanStatusCode.UNSET },
      instrumentationScope: { name: 'turnbuckle' },
      attributes: {
        'mcp.method.name': 'tools/call',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'meta',
        'network.transport': 'pipe',
        'turnbuckle.server.name': 'up',
        'jsonrpc.request.id': expect.stringMatching(/^\d+$/),
        'mcp.protocol.version': expect.stringMatching(/^20\d\d-\d\d-\d\d$/),
      },
    });
    const { traceId, spanId } = sent?.spanContext() ?? {};
    expect(metaOf(result)).toMatchObject({
      traceparent: `00-${traceId}-${spanId}-01`,
      baggage: 'user=alice',
    });
  });

  it('gets the root of a trace without an active span, and a child of the span in `meta`', async () => {
    const runtime = await openRuntime({ servers: { up: fixture('echo') } });
    await runtime.callTool('up', 'echo', { text: 'x' });
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const result = await runtime.callTool(
      'up',
      'meta',
      {},
      { meta: { traceparent, tracestate: 'v=1', own: 1 } },
    );
    const [root, child] = callSpans();
    expect(root?.parentSpanContext).toBeUndefined();
    expect(child?.parentSpanContext).toMatchObject({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) });
    expect(metaOf(result)).toMatchObject({
      traceparent: `00-${'a'.repeat(32)}-${child?.spanContext().spanId}-01`,
      tracestate: 'v=1',
      own: 1,
    });
  });

  it('sees failures and retries', async () => {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const flags = ['--at', 'call', '--how', 'exit', '--state-file', directory.file('state')];
    const runtime = await openRuntime({
      servers: { flaky: { ...fixture('flaky', ...flags), trusted: true }, up: fixture('echo') },
    });
    await runtime.callTool('flaky', 'add', { a: 1, b: 2 });
    await runtime.callTool('up', 'fail', {});
    await runtime.callTool('up', 'rpc_error', { code: -32050 }).catch(() => {});
    const shown = callSpans().map(({ name, attributes, status }) => [
      name,
      attributes['error.type'],
      status.code,
    ]);
    expect(shown).toEqual([
      [
        'tools/call add',
        expect.stringMatching(/^(?:CONNECTION_LOST|SERVER_EXITED)$/),
        api.SpanStatusCode.ERROR,
      ],
      ['tools/call add', undefined, api.SpanStatusCode.UNSET],
      ['tools/call fail', 'tool_error', api.SpanStatusCode.ERROR],
      ['tools/call rpc_error', '-32050', api.SpanStatusCode.ERROR],
    ]);
    expect(callSpans()[3]?.attributes['rpc.response.status_code']).toBe('-32050');
  });

  it('gets durations if it has a meter provider', async () => {
    const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3_600_000 });
    const meters = new MeterProvider({ readers: [reader] });
    onTestFinished(() => meters.shutdown());
    api.metrics.setGlobalMeterProvider(meters);
    const web = await startFixture('echo', { transport: 'http', flags: ['--era', 'legacy'] });
    onTestFinished(() => web.stop());
    const runtime = await createRuntime({ servers: { up: { url: web.url } } });
    await runtime.callTool('up', 'echo', { text: 'x' });
    await runtime.close();
    await reader.forceFlush();
    const found = metrics.getMetrics().flatMap((one) => one.scopeMetrics.flatMap((scope) => scope.metrics));
    const byName = new Map(found.map((metric) => [metric.descriptor.name, metric]));
    expect([...byName.keys()].sort()).toEqual([
      'mcp.client.operation.duration',
      'mcp.client.session.duration',
    ]);
    const points = byName.get('mcp.client.operation.duration')?.dataPoints ?? [];
    expect(points.find(({ attributes }) => attributes['gen_ai.tool.name'] === 'echo')).toMatchObject({
      value: {
        count: 1,
        buckets: { boundaries: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] },
      },
    });
  });

  it('keeps its calls if its telemetry fails', async () => {
    const broken = (): never => {
      throw new Error('broken');
    };
    const telemetry = { startRequest: () => ({ traceMeta: {}, end: broken }), recordSession: broken };
    for (const one of [telemetry, { ...telemetry, startRequest: broken }]) {
      const runtime = await createRuntime({ servers: { up: fixture('echo') }, telemetry: one });
      expect(await runtime.callTool('up', 'echo', { text: 'x' })).toMatchObject({ content: [{ text: 'x' }] });
      await runtime.close();
    }
  });

  it('gets nothing with `telemetry: false`', async () => {
    const runtime = await openRuntime({ servers: { up: fixture('echo') }, telemetry: false });
    expect(metaOf(await runtime.callTool('up', 'meta', {}))).not.toHaveProperty('traceparent');
    expect(exporter.getFinishedSpans()).toEqual([]);
  });
});

describe('a host without a tracer provider', () => {
  beforeEach(() => api.trace.disable());

  it('has no spans, unless it passes the API and registers a provider later', async () => {
    const off = await openRuntime({ servers: { up: fixture('echo') } });
    const on = await openRuntime({ servers: { up: fixture('echo') }, telemetry: api });
    provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    provider.register();
    await off.callTool('up', 'echo', { text: 'x' });
    expect(exporter.getFinishedSpans()).toEqual([]);
    await on.callTool('up', 'echo', { text: 'x' });
    expect(callSpans().map(({ name }) => name)).toEqual(['tools/call echo']);
  });
});
