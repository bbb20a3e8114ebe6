import { fixture, OtlpCollector, startFixture } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Answer, type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';
import {
  CLIENT,
  callSpans,
  ofKind,
  PARENT,
  PARENT_SPAN,
  PARENT_TRACE,
  receivedMeta,
  SERVER,
} from './collected.js';

async function startCollector(): Promise<OtlpCollector> {
  const collector = await OtlpCollector.start();
  onTestFinished(() => collector.stop());
  return collector;
}

const posting =
  (own: OwnDaemon, headers: Record<string, string>) =>
  async (path: string, body: object): Promise<Answer> => {
    const type = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers: { ...type, ...headers }, body: JSON.stringify(body) };
    return (await (await own.fetch(path, init)).json()) as Answer;
  };

describe('spans of the bridge', () => {
  it('continue the trace of the headers to the server: a call, a batch, a resource, a prompt', async () => {
    const collector = await startCollector();
    const web = await startFixture('echo', { transport: 'http' });
    onTestFinished(() => web.stop());
    const traces = { endpoint: `${collector.url}/v1/traces`, headers: { 'x-key': 'of the collector' } };
    const own = await ownDaemon({ servers: { up: fixture('echo') }, daemon: { traces } });
    const post = posting(own, { traceparent: PARENT, tracestate: 'vendor=1', baggage: 'user=alice' });
    const { result } = await post('/mcp/call', { tool_name: 'meta', endpoint: { url: web.url } });
    const calls = [
      { tool_name: 'echo', arguments: { text: 'x' }, server: 'up' },
      { tool_name: 'fail', server: 'up' },
    ];
    expect(await post('/mcp/calls', { calls })).toMatchObject({ results: [{ success: true }, {}] });
    await post('/resources/read', { server: 'up', uri: 'nothing://there' });
    await post('/prompts/get', { server: 'up', name: 'made-up' });
    await post('/mcp/call', { tool_name: 'echo', server: 'up', arguments: {} });
    await own.close();
    expect(collector.faults).toEqual([]);
    const spans = callSpans(collector.spans);
    const served = ofKind(spans, SERVER);
    for (const span of served)
      expect(span).toMatchObject({
        traceId: PARENT_TRACE,
        parentSpanId: PARENT_SPAN,
        traceState: 'vendor=1',
      });
    const shown = served.map(({ name, attributes }) => [name, attributes['error.type']]);
    expect(shown[0]).toEqual(['tools/call meta', undefined]);
    expect(shown.slice(1, 3)).toEqual(
      expect.arrayContaining([
        ['tools/call echo', undefined],
        ['tools/call fail', 'tool_error'],
      ]),
    );
    expect(shown.slice(3)).toEqual([
      ['resources/read', 'RESOURCE_UNKNOWN'],
      ['prompts/get', 'PROMPT_UNKNOWN'],
      ['tools/call echo', 'ARGUMENTS_INVALID'],
    ]);
    const [sent] = ofKind(spans, CLIENT);
    expect(sent).toMatchObject({ name: 'tools/call meta', parentSpanId: served[0]?.spanId });
    expect(sent?.attributes['turnbuckle.server.name']).toBe(served[0]?.attributes['turnbuckle.server.name']);
    expect(receivedMeta(result)).toMatchObject({
      traceparent: `00-${PARENT_TRACE}-${sent?.spanId}-01`,
      tracestate: 'vendor=1',
      baggage: 'user=alice',
    });
    for (const { headers } of collector.requests) expect(headers['x-key']).toBe('of the collector');
    expect(collector.resources[0]).toMatchObject({
      'service.name': 'turnbuckle',
      'service.version': '0.0.0',
    });
  });
});

describe('without a collector', () => {
  it('the bridge passes on the trace context as it came, if it is well-formed', async () => {
    const own = await ownDaemon({ servers: { up: fixture('echo') } });
    onTestFinished(() => own.close());
    const received = async (headers: Record<string, string>): Promise<object> => {
      const { result } = await posting(own, headers)('/mcp/call', { tool_name: 'meta', server: 'up' });
      const { traceparent, tracestate, baggage } = receivedMeta(result);
      return { traceparent, tracestate, baggage };
    };
    expect(await received({ traceparent: PARENT, tracestate: 'a=1, b=2', baggage: 'k=v;p=1' })).toEqual({
      traceparent: PARENT,
      tracestate: 'a=1,b=2',
      baggage: 'k=v;p=1',
    });
    expect(await received({ traceparent: PARENT, tracestate: 'a'.repeat(513) })).toEqual({
      traceparent: PARENT,
    });
    for (const traceparent of ['what ever', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`])
      expect(await received({ traceparent, tracestate: 'a=1' })).toEqual({});
    const many = Array.from({ length: 65 }, (_, at) => `k${at}=v`).join(',');
    for (const baggage of ['no pair', `a=${'x'.repeat(8_200)}`, many, 'a="quoted"'])
      expect(await received({ baggage })).toEqual({});
  });
});
