import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fixture } from '@turnbuckle/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { continueTrace, toTraceparent } from '../../src/traces/trace-context.js';
import { Tracer } from '../../src/traces/tracer.js';
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
  it('goes on through us to the server, and our span is in it', async () => {
    let tracer: Tracer | undefined;
    const stand = await openStand({
      servers: { up: fixture('echo') },
      tracer: (runtime) => {
        tracer = new Tracer(runtime, { endpoint, version: '1' });
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
    const told: string = JSON.parse(text).traceparent;
    await call('up_fail');
    await tracer?.close();
    await stand.close();
    expect(spans).toMatchObject([
      { traceId: PARENT.slice(3, 35), parentSpanId: PARENT.slice(36, 52), name: 'tool up/meta' },
      { name: 'tool up/fail', status: { code: 2 } },
    ]);
    expect(told).toBe(`00-${spans[0]?.traceId}-${spans[0]?.spanId}-01`);
  });

  it('is no matter of the call when nobody collects it', async () => {
    status = 503;
    const failures: Error[] = [];
    let tracer: Tracer | undefined;
    const stand = await openStand({
      servers: { up: fixture('echo') },
      tracer: (runtime) => {
        tracer = new Tracer(runtime, { endpoint, version: '1', onFailure: (error) => failures.push(error) });
        return tracer;
      },
    });
    const params = { name: 'up_echo', arguments: { text: 'x' } };
    expect((await modern(stand, { method: 'tools/call', params })).body.result).toMatchObject({
      content: [{ text: 'x' }],
    });
    await tracer?.close();
    await stand.close();
    expect(failures.map(({ message }) => message)).toEqual(['The collector answered with HTTP 503.']);
    expect(tracer?.dropped).toBe(1);
  });

  it('begins with us when nobody began it, or what was sent is none', () => {
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
