import { fixture, OtlpCollector } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createHome, type Home } from '../commands/turnbuckle.js';
import { startClientForTest } from './conversation.js';
import { daemonForTest, post } from './running-daemon.js';

const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
const RULES = [{ action: 'allow', caller: 'stdio:test', tool: 'echo' }];
const SERVER = 2;
const CLIENT = 3;

let home: Home;
let collector: OtlpCollector;
beforeEach(async () => {
  home = await createHome();
  collector = await OtlpCollector.start();
  onTestFinished(() => collector.stop());
  await home.write('.config/turnbuckle/mcp.json', { servers: { up: fixture('echo') }, rules: RULES });
});

async function callOverStdio(env: Record<string, string>): Promise<string> {
  const client = startClientForTest(['serve', '--stdio'], { home, env });
  client.send(1, 'initialize', HELLO);
  client.send(2, 'tools/call', { name: 'up_echo', arguments: { text: 'hi' } });
  expect(await client.response(2)).toMatchObject({ result: { content: [{ text: 'hi' }] } });
  expect(await client.close()).toBe(0);
  return client.stderr();
}

const spanOf = (kind: number) =>
  collector.spans.find((span) => span.kind === kind && span.name.startsWith('tools/call'));

describe('telemetry of the command', () => {
  it('of serve --stdio without a daemon is configured by the usual variables', async () => {
    const stderr = await callOverStdio({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=of%20mine',
      OTEL_SERVICE_NAME: 'my agent',
      OTEL_BSP_SCHEDULE_DELAY: 'soon',
    });
    expect(stderr).toContain('OTEL_BSP_SCHEDULE_DELAY must be a whole number from 1 to 3600000. Using 2000.');
    expect(collector.faults).toEqual([]);
    expect(spanOf(SERVER)).toMatchObject({
      name: 'tools/call up_echo',
      attributes: {
        'network.transport': 'pipe',
        'mcp.session.id': expect.any(String),
        'turnbuckle.caller.id': 'stdio:test',
      },
    });
    expect(spanOf(CLIENT)).toMatchObject({ name: 'tools/call echo', parentSpanId: spanOf(SERVER)?.spanId });
    expect([...collector.metrics.keys()]).toContain('mcp.server.session.duration');
    for (const resource of collector.resources)
      expect(resource).toMatchObject({ 'service.name': 'my agent' });
    for (const { headers } of collector.requests) expect(headers['x-key']).toBe('of mine');
  });

  it('of serve --stdio through the daemon, and of the bridge, is that of the daemon', async () => {
    const daemon = await daemonForTest([], { home, env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    await callOverStdio({});
    await post(daemon, '/mcp/call', { server: 'up', tool_name: 'echo', arguments: { text: 'hi' } });
    await daemon.stop();
    expect(collector.faults).toEqual([]);
    const served = collector.spans.filter(
      ({ kind, name }) => kind === SERVER && name.startsWith('tools/call'),
    );
    expect(
      served.map(({ name, attributes }) => [
        name,
        attributes['network.transport'],
        attributes['turnbuckle.caller.id'],
      ]),
    ).toEqual([
      ['tools/call up_echo', 'pipe', 'stdio:test'],
      ['tools/call echo', 'tcp', 'owner'],
    ]);
  });

  it('is absent without a variable', async () => {
    expect(await callOverStdio({})).not.toContain('OTEL');
    expect(collector.requests).toEqual([]);
  });
});
