import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fixture, startFixture } from '@turnbuckle/testing';
import { createRuntime } from 'turnbuckle';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { continueTrace, toTraceparent } from '../../src/traces/trace-context.js';
import { Tracer } from '../../src/traces/tracer.js';
import { type Answer, ownDaemon } from '../daemon/own-daemon.js';
import { modern } from '../mcp/raw-client.js';
import { openStand } from '../mcp/stand.js';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly status?: unknown;
}

let spans: Span[];
let status: number;
const collector = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(parts).toString('utf8'));
    if (status === 200) spans.push(...body.resourceSpans[0].scopeSpans[0].spans);
    response.writeHead(status).end('{}');
  });
});
let endpoint: string;
beforeEach(async () => {
  spans = [];
  status = 200;
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`;
});
afterEach(() => new Promise((resolve) => collector.close(resolve)));

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('a trace', () => {
  it('continues through the gateway to the server, with a span of the gateway', async () => {
    let tracer: Tracer | undefined;
    const stand = await openStand({
      servers: { up: fixture('echo') },
      tracer: (runtime) => {
        tracer = new Tracer({ endpoint, version: '1' });
        tracer.follow(runtime);
        return tracer;
      },
    });
    const call = (name: string) =>
      modern(
        stand,
        { method: 'tools/call', params: { name, arguments: {} } },
        { meta: { traceparent: PARENT } },
      );
    const { body } = await call('up_meta');
    const [{ text }] = (body.result?.content ?? [{ text: '{}' }]) as [{ text: string }];
    const traceparent: string = JSON.parse(text).traceparent;
    await call('up_fail');
    await tracer?.close();
    await stand.close();
    expect(spans).toMatchObject([
      { traceId: PARENT.slice(3, 35), parentSpanId: PARENT.slice(36, 52), name: 'tool up/meta' },
      { name: 'tool up/fail', status: { code: 2 } },
    ]);
    expect(traceparent).toBe(`00-${spans[0]?.traceId}-${spans[0]?.spanId}-01`);
  });

  it('continues through the bridge, from the headers of the request', async () => {
    const web = await startFixture('echo', { transport: 'http' });
    const servers = { up: fixture('echo') };
    const own = await ownDaemon({ servers, daemon: { traces: { endpoint } } });
    const headers = { 'content-type': 'application/json', traceparent: PARENT, tracestate: 'vendor=1' };
    const post = async (path: string, body: object): Promise<Answer> =>
      (await (
        await own.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
      ).json()) as Answer;
    const meta = { tool_name: 'meta', arguments: {} };
    const { result } = await post('/mcp/call', { ...meta, endpoint: { url: web.url } });
    const calls = [{ tool_name: 'echo', arguments: { text: 'x' }, server: 'up' }];
    expect(await post('/mcp/calls', { calls })).toMatchObject({ results: [{ success: true }] });
    await post('/resources/read', { server: 'up', uri: 'nothing://there' });
    await own.close();
    await web.stop();
    const inPlace = { traceId: PARENT.slice(3, 35), parentSpanId: PARENT.slice(36, 52) };
    expect(spans).toMatchObject([
      { ...inPlace, name: expect.stringMatching(/^tool inline-127.*\/meta$/) },
      { ...inPlace, name: 'tool up/echo' },
      { ...inPlace, name: 'resource up/nothing://there', status: { code: 2 } },
    ]);
    const [{ text }] = (result as { content: [{ text: string }] }).content;
    expect(JSON.parse(text)).toMatchObject({
      traceparent: `00-${spans[0]?.traceId}-${spans[0]?.spanId}-01`,
      tracestate: 'vendor=1',
    });
  });

  it('is forwarded unchanged by the bridge without a collector', async () => {
    const own = await ownDaemon({ servers: { up: fixture('echo') } });
    const received = async (headers: Record<string, string>): Promise<unknown> => {
      const body = JSON.stringify({ tool_name: 'meta', arguments: {}, server: 'up' });
      const type = { 'content-type': 'application/json' };
      const init = { method: 'POST', headers: { ...type, ...headers }, body };
      const { result } = (await (await own.fetch('/mcp/call', init)).json()) as {
        result: { content: [{ text: string }] };
      };
      const { traceparent, tracestate } = JSON.parse(result.content[0].text);
      return { traceparent, tracestate };
    };
    expect(await received({ traceparent: PARENT, tracestate: 'a=1' })).toEqual({
      traceparent: PARENT,
      tracestate: 'a=1',
    });
    expect(await received({ traceparent: PARENT, tracestate: 'a'.repeat(513) })).toEqual({
      traceparent: PARENT,
    });
    for (const traceparent of ['what ever', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`])
      expect(await received({ traceparent, tracestate: 'a=1' })).toEqual({});
    await own.close();
  });

  it('is recorded even after many spans that never end', async () => {
    const runtime = await createRuntime({ servers: { up: fixture('echo') } });
    const tracer = new Tracer({ endpoint, version: '1' });
    tracer.follow(runtime);
    for (let count = 0; count < 5_000; count += 1) tracer.begin(undefined);
    await runtime.callTool('up', 'echo', { text: 'x' }, tracer.begin({ traceparent: PARENT }));
    await runtime.close();
    await tracer.close();
    expect(spans).toMatchObject([{ name: 'tool up/echo' }]);
  });

  it('does not affect the call when the collector is down', async () => {
    status = 503;
    const failures: Error[] = [];
    let tracer: Tracer | undefined;
    const stand = await openStand({
      servers: { up: fixture('echo') },
      tracer: (runtime) => {
        tracer = new Tracer({ endpoint, version: '1', onFailure: (error) => failures.push(error) });
        tracer.follow(runtime);
        return tracer;
      },
    });
    const params = { name: 'up_echo', arguments: { text: 'x' } };
    expect((await modern(stand, { method: 'tools/call', params })).body.result).toMatchObject({
      content: [{ text: 'x' }],
    });
    await tracer?.close();
    await stand.close();
    expect(failures.map(({ message }) => message)).toEqual(['The collector returned HTTP 503.']);
    expect(tracer?.dropped).toBe(1);
  });

  it('starts here when the request has no valid trace context', () => {
    for (const wrong of [
      undefined,
      7,
      '',
      'x',
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
      PARENT.toUpperCase(),
    ]) {
      const { traceId, parentId, sampled } = continueTrace(wrong);
      expect(traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(parentId).toBeUndefined();
      expect(sampled).toBe(true);
    }
    const below = continueTrace(PARENT);
    expect(below).toMatchObject({
      traceId: PARENT.slice(3, 35),
      parentId: PARENT.slice(36, 52),
      sampled: true,
    });
    expect(toTraceparent(below)).toBe(`00-${below.traceId}-${below.spanId}-01`);
    expect(continueTrace(PARENT.replace(/01$/, '00')).sampled).toBe(false);
  });
});
