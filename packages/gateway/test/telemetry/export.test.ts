import { fixture, type OtlpCollector, startFixture, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modern } from '../mcp/raw-client.js';
import { connectHttp, connectStreams, createClient, openStand, type Stand } from '../mcp/stand.js';
import { type Collected, collect } from './collected.js';

async function standFor(collected: Collected): Promise<Stand> {
  return openStand({ servers: { up: fixture('echo') }, telemetry: collected.telemetry });
}

const callEcho = async (stand: Stand): Promise<void> => {
  const params = { name: 'up_echo', arguments: { text: 'x' } };
  expect((await modern(stand, { method: 'tools/call', params })).body.result).toMatchObject({
    content: [{ text: 'x' }],
  });
};

describe('a collector that fails', () => {
  const FAILURES: ReadonlyArray<[OtlpCollector['answer'] | 'absent', RegExp]> = [
    [400, /HTTP 400/],
    [503, /HTTP 503/],
    ['redirect', /HTTP 307/],
    ['silent', /did not respond/],
    ['upgrade', /cannot be reached/],
    ['hang-up', /cannot be reached/],
    ['absent', /cannot be reached \(ECONNREFUSED\)/],
  ];
  for (const [answer, reason] of FAILURES)
    it(`by ${answer} costs no call, and is reported once`, async () => {
      const collected = await collect({
        ...(answer === 'silent' && { OTEL_EXPORTER_OTLP_TIMEOUT: '200' }),
        OTEL_BSP_SCHEDULE_DELAY: '20',
        OTEL_METRICS_EXPORTER: 'none',
      });
      const { collector, telemetry, warnings } = collected;
      if (answer === 'absent') await collector.stop();
      else collector.answer = answer;
      const stand = await standFor(collected);
      await callEcho(stand);
      await waitUntil(() => warnings.length > 0);
      await callEcho(stand);
      await stand.close();
      await telemetry.close();
      expect(warnings).toEqual([expect.stringMatching(reason)]);
      expect(warnings[0]).toMatch(/^Cannot export traces: /);
      expect(telemetry.dropped).toBeGreaterThanOrEqual(4);
      expect(collector.requests.every(({ url }) => url === '/v1/traces')).toBe(true);
    });

  it('with an answer that has no end is cut off', async () => {
    const collected = await collect({ OTEL_METRICS_EXPORTER: 'none' });
    collected.collector.answer = 'endless';
    const stand = await standFor(collected);
    await callEcho(stand);
    await stand.close();
    await collected.telemetry.close();
    expect(collected.warnings).toEqual([]);
  });

  it('for a while gets the spans later', async () => {
    const collected = await collect({ OTEL_BSP_SCHEDULE_DELAY: '20', OTEL_METRICS_EXPORTER: 'none' });
    const { collector, telemetry } = collected;
    collector.answer = 503;
    const stand = await standFor(collected);
    await callEcho(stand);
    await waitUntil(() => collector.requests.length > 0);
    collector.answer = 200;
    await waitUntil(() => collector.spans.some(({ name }) => name === 'tools/call up_echo'));
    await stand.close();
    await collected.finish();
    expect(telemetry.dropped).toBe(0);
  });

  it('for long costs a limited amount of memory', async () => {
    const collected = await collect({
      OTEL_BSP_MAX_QUEUE_SIZE: '10',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_EXPORTER_OTLP_TIMEOUT: '300',
    });
    const { collector, telemetry } = collected;
    collector.answer = 'silent';
    const COUNT = 100;
    const request = { name: 'tools/call x', attributes: {}, spanAttributes: {}, meta: undefined };
    for (let count = 0; count < COUNT; count += 1) telemetry.startRequest(request).end({});
    expect(telemetry.dropped).toBeGreaterThanOrEqual(COUNT - 20);
    await telemetry.close();
    expect(telemetry.dropped).toBe(COUNT);
  });
});

describe('a collector', () => {
  it('gets a burst of spans at once, in batches', async () => {
    const { collector, telemetry } = await collect({
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_BSP_SCHEDULE_DELAY: '3600000',
    });
    const request = { name: 'tools/call x', attributes: {}, spanAttributes: {}, meta: undefined };
    for (let count = 0; count < 100; count += 1) telemetry.startRequest(request).end({});
    await waitUntil(() => collector.spans.length === 100);
    await telemetry.close();
    expect(telemetry.dropped).toBe(0);
  });
});

describe('the durations', () => {
  // requirement D3
  it('are histograms with the buckets of the conventions, of both sides', async () => {
    const web = await startFixture('echo', { transport: 'http', flags: ['--era', 'legacy'] });
    onTestFinished(() => web.stop());
    const collected = await collect({ OTEL_TRACES_EXPORTER: 'none' });
    const stand = await openStand({ servers: { up: { url: web.url } }, telemetry: collected.telemetry });
    const overHttp = await connectHttp(stand, createClient({ era: 'legacy' }), { era: 'legacy' });
    await overHttp.callTool({ name: 'up_echo', arguments: { text: 'x' } });
    await overHttp.callTool({ name: 'up_echo', arguments: { text: 'y' } });
    await overHttp.callTool({ name: 'up_fail', arguments: {} });
    await connectStreams(stand, createClient({ era: 'legacy' })).then((client) => client.close());
    await overHttp.close();
    await stand.close();
    expect(await collected.finish()).toEqual([]);
    const { metrics, spans } = collected.collector;
    expect(spans).toEqual([]);
    expect([...metrics.keys()].sort()).toEqual([
      'mcp.client.operation.duration',
      'mcp.client.session.duration',
      'mcp.server.operation.duration',
      'mcp.server.session.duration',
    ]);
    const points = (name: string) => metrics.get(name)?.histogram.dataPoints ?? [];
    for (const metric of metrics.values()) {
      expect(metric.unit).toBe('s');
      for (const { explicitBounds } of metric.histogram.dataPoints)
        expect(explicitBounds).toEqual([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]);
    }
    const network = { 'network.transport': 'tcp', 'network.protocol.name': 'http' };
    const version = { 'mcp.protocol.version': '2025-11-25' };
    const server = {
      ...network,
      ...version,
      'server.address': '127.0.0.1',
      'server.port': expect.any(String),
    };
    const client = { ...server, 'turnbuckle.server.name': 'up' };
    const call = { 'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool' };
    expect(points('mcp.client.operation.duration')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          count: '2',
          attributes: { ...client, ...call, 'gen_ai.tool.name': 'echo' },
        }),
        expect.objectContaining({
          count: '1',
          attributes: { ...client, ...call, 'gen_ai.tool.name': 'fail', 'error.type': 'tool_error' },
        }),
      ]),
    );
    expect(points('mcp.server.operation.duration')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          count: '2',
          attributes: { ...network, ...version, ...call, 'gen_ai.tool.name': 'up_echo' },
        }),
      ]),
    );
    expect(points('mcp.client.session.duration')).toMatchObject([{ count: '1', attributes: client }]);
    expect(points('mcp.server.session.duration').map(({ attributes }) => attributes)).toEqual(
      expect.arrayContaining([
        { ...network, ...version },
        { 'network.transport': 'pipe', ...version },
      ]),
    );
  });

  it('of more than 2,000 kinds are counted together', async () => {
    const { telemetry, collector, finish } = await collect({ OTEL_TRACES_EXPORTER: 'none' });
    const COUNT = 2_500;
    for (let count = 0; count < COUNT; count += 1)
      telemetry
        .startRequest({
          name: 'tools/call',
          attributes: {
            'gen_ai.tool.name': `tool-${count}`,
            'turnbuckle.server.name': `server-${count % 100}`,
          },
          spanAttributes: {},
          meta: undefined,
        })
        .end({});
    await finish();
    const points = collector.metrics.get('mcp.client.operation.duration')?.histogram.dataPoints ?? [];
    expect(points).toHaveLength(2_000);
    expect(points.find(({ attributes }) => attributes['otel.metric.overflow'] === true)?.count).toBe('501');
  });
});
