import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { initialize, modern, send } from '../mcp/raw-client.js';
import {
  connectHttp,
  connectStreams,
  createClient,
  type Era,
  openStand,
  type Stand,
  type StandOptions,
  upstream,
  type Way,
} from '../mcp/stand.js';
import {
  CLIENT,
  type Collected,
  collect,
  ofKind,
  PARENT,
  PARENT_SPAN,
  PARENT_TRACE,
  receivedMeta,
  SERVER,
} from './collected.js';

async function observedStand(
  options: StandOptions,
  environment?: Record<string, string>,
): Promise<{ stand: Stand; collected: Collected }> {
  const collected = await collect(environment);
  const stand = await openStand({ ...options, telemetry: collected.telemetry });
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (!isClosed) await stand.close();
    isClosed = true;
  };
  onTestFinished(close);
  return { stand: { ...stand, close }, collected };
}

const callMeta = (stand: Stand, meta: Record<string, unknown>, headers: Record<string, string> = {}) =>
  modern(stand, { method: 'tools/call', params: { name: 'up_meta', arguments: {} } }, { meta, headers });

const CASES: ReadonlyArray<{ era: Era; way: Way }> = [
  { era: 'legacy', way: 'http' },
  { era: 'legacy', way: 'stdio' },
  { era: 'modern', way: 'http' },
  { era: 'modern', way: 'stdio' },
];

describe('spans of the MCP endpoint', () => {
  for (const { era, way } of CASES)
    it(`follow the conventions for a ${era} client over ${way} and a ${era} server over ${way}`, async () => {
      const server = await upstream('echo', { era, way });
      onTestFinished(() => server.stop());
      const { stand, collected } = await observedStand({ servers: { up: server.config } });
      const client = createClient({ era });
      await (way === 'http' ? connectHttp(stand, client, { era }) : connectStreams(stand, client));
      const result = await client.callTool({
        name: 'up_meta',
        arguments: {},
        _meta: { traceparent: PARENT, tracestate: 'vendor=1,other=2', baggage: 'user=alice' },
      });
      await client.close();
      await stand.close();
      const spans = await collected.finish();
      const version = era === 'modern' ? '2026-07-28' : '2025-11-25';
      const network = {
        'network.transport': way === 'http' ? 'tcp' : 'pipe',
        ...(way === 'http' && { 'network.protocol.name': 'http' }),
      };
      const [serving, ...others] = ofKind(spans, SERVER);
      expect(others).toEqual([]);
      expect(serving).toMatchObject({
        name: 'tools/call up_meta',
        traceId: PARENT_TRACE,
        parentSpanId: PARENT_SPAN,
        traceState: 'vendor=1,other=2',
      });
      expect(serving?.attributes).toEqual({
        'mcp.method.name': 'tools/call',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'up_meta',
        'mcp.protocol.version': version,
        'jsonrpc.request.id': expect.stringMatching(/^\d+$/),
        'turnbuckle.caller.id': 'agent',
        'turnbuckle.server.name': 'up',
        ...(era === 'legacy' && { 'mcp.session.id': expect.stringMatching(/^[\w-]{12,}$/) }),
        ...network,
      });
      expect(serving).not.toHaveProperty('status');
      const [sent] = ofKind(spans, CLIENT);
      expect(sent).toMatchObject({
        name: 'tools/call meta',
        traceId: PARENT_TRACE,
        parentSpanId: serving?.spanId,
        traceState: 'vendor=1,other=2',
      });
      expect(sent?.attributes).toEqual({
        'mcp.method.name': 'tools/call',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'meta',
        'mcp.protocol.version': version,
        'jsonrpc.request.id': expect.stringMatching(/^\d+$/),
        'turnbuckle.server.name': 'up',
        ...(way === 'http' && {
          'server.address': '127.0.0.1',
          'server.port': expect.stringMatching(/^\d+$/),
          ...(era === 'legacy' && { 'mcp.session.id': expect.stringMatching(/^[0-9a-f]{32}$/) }),
        }),
        ...network,
      });
      expect(receivedMeta(result)).toMatchObject({
        traceparent: `00-${PARENT_TRACE}-${sent?.spanId}-01`,
        tracestate: 'vendor=1,other=2',
        baggage: 'user=alice',
      });
    });

  it('cover every request, also those without a call', async () => {
    const { stand, collected } = await observedStand({ servers: { up: fixture('echo', '--era', 'legacy') } });
    const session = await initialize(stand);
    const headers = { 'mcp-session-id': session };
    await send(stand, { jsonrpc: '2.0', id: 'second', method: 'tools/list', params: {} }, { headers });
    await stand.close();
    await collected.finish();
    const served = ofKind(collected.collector.spans, SERVER);
    expect(served.map(({ name, attributes }) => [name, attributes['jsonrpc.request.id']])).toEqual([
      ['initialize', '0'],
      ['tools/list', 'second'],
    ]);
    expect(ofKind(collected.collector.spans, CLIENT)[0]).toMatchObject({ name: 'tools/list' });
  });

  it('say how a request failed', async () => {
    const { stand, collected } = await observedStand({
      servers: { up: fixture('echo') },
      options: { rules: [{ action: 'deny', tool: 'pid' }] },
    });
    const call = (name: string, args = {}) =>
      modern(stand, { method: 'tools/call', params: { name, arguments: args } });
    await call('up_fail');
    await call('up_rpc_error', { code: -32050 });
    await call('up_echo', { text: 7 });
    await call('up_pid');
    await modern(stand, { method: 'made/up', params: {} });
    await stand.close();
    const spans = await collected.finish();
    const shown = (kind: number) =>
      ofKind(spans, kind).map(({ name, status, attributes }) => [
        name,
        attributes['error.type'],
        attributes['rpc.response.status_code'],
        status?.message,
      ]);
    expect(shown(SERVER)).toEqual([
      ['tools/call up_fail', 'tool_error', undefined, 'tool_error'],
      ['tools/call up_rpc_error', '-32050', '-32050', 'SERVER_ERROR'],
      ['tools/call up_echo', 'tool_error', undefined, 'ARGUMENTS_INVALID'],
      ['tools/call up_pid', '-32602', '-32602', 'TOOL_UNKNOWN'],
      ['_OTHER', '-32601', '-32601', expect.any(String)],
    ]);
    expect(shown(CLIENT).slice(0, 2)).toEqual([
      ['tools/call fail', 'tool_error', undefined, 'tool_error'],
      ['tools/call rpc_error', '-32050', '-32050', 'SERVER_ERROR'],
    ]);
    for (const { status } of spans) expect(status?.code).toBe(2);
  });

  it('show a retry as a second span of the client', async () => {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const flags = ['--at', 'call', '--how', 'exit', '--state-file', directory.file('state')];
    const { stand, collected } = await observedStand({
      servers: { up: { ...fixture('flaky', ...flags), trusted: true } },
    });
    const params = { name: 'up_add', arguments: { a: 1, b: 2 } };
    expect((await modern(stand, { method: 'tools/call', params })).body.result).toMatchObject({
      structuredContent: { sum: 3 },
    });
    await stand.close();
    const spans = await collected.finish();
    const [serving] = ofKind(spans, SERVER);
    expect(serving).not.toHaveProperty('status');
    const attempts = ofKind(spans, CLIENT).filter(({ name }) => name === 'tools/call add');
    expect(attempts.map(({ parentSpanId, attributes }) => [parentSpanId, attributes['error.type']])).toEqual([
      [serving?.spanId, expect.stringMatching(/^(?:CONNECTION_LOST|SERVER_EXITED)$/)],
      [serving?.spanId, undefined],
    ]);
  });

  it.each(['legacy', 'modern'] as const)('include a call in which a %s client is asked', async (era) => {
    const server = await upstream('asking', { era: 'legacy', way: 'stdio' });
    const { stand, collected } = await observedStand({ servers: { up: server.config } });
    const client = createClient({ era, capabilities: { roots: {} } });
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///here' }] }));
    await connectHttp(stand, client, { era });
    const result = await client.callTool({ name: 'up_ask', arguments: { kind: 'roots' } });
    expect(JSON.stringify(result.content)).toContain('file:///here');
    await client.close();
    await stand.close();
    const spans = await collected.finish();
    const served = ofKind(spans, SERVER).filter(({ name }) => name.startsWith('tools/call'));
    // The newer revision returns the question, and the client sends another request with its answer.
    expect(served).toHaveLength(era === 'modern' ? 2 : 1);
    expect(ofKind(spans, CLIENT).filter(({ name }) => name === 'tools/call ask')).toMatchObject([
      { parentSpanId: served[0]?.spanId },
    ]);
    for (const span of spans) expect(span).not.toHaveProperty('status');
  });

  it('contain no name that a client made up, and no secret', async () => {
    const secret = `ghp_${'a1B2c3D4'.repeat(5)}`;
    const { stand, collected } = await observedStand({ servers: { up: fixture('echo') } });
    await modern(stand, { method: 'tools/call', params: { name: `up_${secret}`, arguments: { secret } } });
    await modern(stand, { method: 'resources/read', params: { uri: `https://x/?token=${secret}` } });
    await modern(stand, { method: 'prompts/get', params: { name: 'made-up' } });
    await stand.close();
    const spans = await collected.finish();
    expect(ofKind(spans, SERVER).map(({ name }) => name)).toEqual([
      'tools/call',
      'resources/read',
      'prompts/get',
    ]);
    const all = JSON.stringify([spans, [...collected.collector.metrics]]);
    expect(all).not.toContain(secret);
    expect(ofKind(spans, SERVER)[1]?.attributes['mcp.resource.uri']).toContain('https://x/');
    expect(ofKind(spans, SERVER)[2]?.attributes['gen_ai.prompt.name']).toBe('made-up');
    expect(JSON.stringify([...collected.collector.metrics])).not.toContain('made-up');
  });
});

describe('the trace context', () => {
  it('of a request that is not sampled reaches the server, and nothing is exported', async () => {
    const { stand, collected } = await observedStand({ servers: { up: fixture('echo') } });
    const { body } = await callMeta(stand, { traceparent: PARENT.replace(/01$/, '00') });
    expect(receivedMeta(body.result).traceparent).toMatch(new RegExp(`^00-${PARENT_TRACE}-[0-9a-f]{16}-00$`));
    await stand.close();
    expect(await collected.finish()).toEqual([]);
    expect(
      collected.collector.metrics.get('mcp.server.operation.duration')?.histogram.dataPoints,
    ).toMatchObject([{ count: '1' }]);
  });

  it('comes from the headers if `_meta` has none; otherwise the headers are a link', async () => {
    const { stand, collected } = await observedStand({ servers: { up: fixture('echo') } });
    const other = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const headers = { traceparent: other, tracestate: 'from=headers', baggage: 'from=headers' };
    const first = receivedMeta((await callMeta(stand, {}, headers)).body.result);
    expect(first).toMatchObject({ tracestate: 'from=headers', baggage: 'from=headers' });
    const second = receivedMeta((await callMeta(stand, { traceparent: PARENT }, headers)).body.result);
    expect(second.traceparent).toContain(PARENT_TRACE);
    expect(second).not.toHaveProperty('tracestate');
    await stand.close();
    const served = ofKind(await collected.finish(), SERVER);
    expect(served).toMatchObject([
      { traceId: 'a'.repeat(32), parentSpanId: 'b'.repeat(16) },
      { traceId: PARENT_TRACE, links: [{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }] },
    ]);
    expect(served[0]).not.toHaveProperty('links');
  });

  it('starts here if that of the request is malformed, and malformed parts are not passed on', async () => {
    const { stand, collected } = await observedStand({ servers: { up: fixture('echo') } });
    const wrong = { traceparent: 'what ever', tracestate: 'a=1', baggage: `a=${'x'.repeat(9_000)}` };
    const meta = receivedMeta((await callMeta(stand, { ...wrong, 'example.com/own': 1 })).body.result);
    expect(meta.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(meta).not.toHaveProperty('tracestate');
    expect(meta).not.toHaveProperty('baggage');
    expect(meta['example.com/own']).toBe(1);
    await stand.close();
    expect(ofKind(await collected.finish(), SERVER)[0]).not.toHaveProperty('parentSpanId');
  });
});
