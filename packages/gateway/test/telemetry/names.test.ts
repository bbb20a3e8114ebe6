/** Names, ids and trace contexts that callers and servers choose: short, without secrets, and each has its share. */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { OtlpCollector } from '@turnbuckle/testing';
import fc from 'fast-check';
import { inSlices } from 'turnbuckle/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DurationHistogram } from '../../src/telemetry/duration-histogram.js';
import { ServedOperations } from '../../src/telemetry/served-operations.js';
import { ServerSpan } from '../../src/telemetry/server-span.js';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';
import { initialize, send } from '../mcp/raw-client.js';
import type { Stand } from '../mcp/stand.js';
import { collect, ofKind, PARENT_SPAN, PARENT_TRACE, SERVER } from './collected.js';

const PROGRAM = fileURLToPath(new URL('./any-name.mjs', import.meta.url));
const SECRET = 'sk_live_q8w7e6r5t4y3u2';
/** A key that looks like the id of a trace. */
const HEX_SECRET = '5f2c9a1b7e3d4c6f8091a2b3c4d5e6f7';
const LONG = 'n'.repeat(4_000);

async function observedDaemon(): Promise<{ own: OwnDaemon; collector: OtlpCollector }> {
  const collector = await OtlpCollector.start();
  onTestFinished(() => collector.stop());
  const any = {
    ...{ type: 'stdio', command: process.execPath, args: [PROGRAM], era: 'legacy' },
    env: { KEY: '${env:ANY_KEY}', OTHER_KEY: '${env:ANY_HEX}' },
  };
  const environment = {
    ...process.env,
    ...{ ANY_KEY: SECRET, ANY_HEX: HEX_SECRET },
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  };
  const own = await ownDaemon({ servers: { any }, rules: [{ action: 'allow' }] }, { environment });
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (!isClosed) await own.close();
    isClosed = true;
  };
  onTestFinished(close);
  await own.daemon.configured.runtime.connectAll();
  return { own: { ...own, close }, collector };
}

const exported = ({ spans, metrics }: OtlpCollector): string => JSON.stringify([spans, [...metrics]]);

describe('what is exported', () => {
  it('has no secret that is the name of a tool, and no long name', async () => {
    const { own, collector } = await observedDaemon();
    await own.daemon.configured.runtime.listPrompts('any');
    const call = { server: 'any', tool_name: SECRET, arguments: {} };
    expect((await own.post('/mcp/call', call)).body).toMatchObject({ success: true });
    expect((await own.post('/prompts/get', { server: 'any', name: LONG })).status).toBe(200);
    const stand = { url: own.daemon.url } as Stand;
    const session = await initialize(stand, { token: String(own.daemon.token) });
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: `any_${SECRET}` } };
    const headers = { 'mcp-session-id': session };
    await send(stand, request, { token: String(own.daemon.token), headers });
    await own.close();
    const text = exported(collector);
    expect(text).toContain('tools/call');
    expect(text).toContain('n'.repeat(200));
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain('n'.repeat(257));
    expect(text).not.toContain(session);
    expect(text).toContain(createHash('sha256').update(session).digest('hex').slice(0, 32));
  });

  it('has the names of prompts that the server lists, in metrics only those', async () => {
    const { own, collector } = await observedDaemon();
    await own.daemon.configured.runtime.listPrompts('any');
    for (const name of ['listed', 'made-up'])
      expect((await own.post('/prompts/get', { server: 'any', name })).status).toBe(200);
    await own.close();
    const served = ofKind(collector.spans, SERVER).map(({ name }) => name);
    expect(served).toEqual(expect.arrayContaining(['prompts/get listed', 'prompts/get']));
    const metric = collector.metrics.get('mcp.server.operation.duration');
    expect(JSON.stringify(metric)).toContain('listed');
    expect(JSON.stringify(metric)).not.toContain('made-up');
  });

  it.each([
    ['tracestate', { traceparent: `00-${PARENT_TRACE}-${PARENT_SPAN}-01`, tracestate: `a=${SECRET}` }, true],
    ['id of the trace', { traceparent: `00-${HEX_SECRET}-${PARENT_SPAN}-01`, tracestate: 'a=1' }, false],
  ])('has no secret in the %s of a client', async (_what, headers, hasParent) => {
    const { own, collector } = await observedDaemon();
    await own.fetch('/prompts/get', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ server: 'any', name: 'listed' }),
    });
    await own.close();
    const text = exported(collector);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(HEX_SECRET);
    const [serving] = ofKind(collector.spans, SERVER);
    expect(serving?.parentSpanId).toBe(hasParent ? PARENT_SPAN : undefined);
    expect(serving).not.toHaveProperty('traceState');
  });

  it('has no secret and no long text, wherever a request may have one', async () => {
    const text = fc.oneof(
      fc.string({ maxLength: 40 }).map((around) => around + SECRET),
      fc.string({ minLength: 300, maxLength: 2_000 }),
    );
    const collected = await collect();
    const redact = (value: unknown): unknown => String(value).replaceAll(SECRET, '[redacted]');
    fc.assert(
      fc.property(
        text,
        fc.constantFrom('tools/call', 'prompts/get', 'resources/read', 'x/y'),
        (odd, method) => {
          const span = new ServerSpan(collected.telemetry, {
            ...{
              method,
              params: { name: odd, uri: odd },
              redact,
              callerId: odd,
              requestId: odd,
              sessionId: odd,
            },
            meta: { traceparent: `00-${PARENT_TRACE}-${PARENT_SPAN}-01`, tracestate: `a=${odd}` },
            headers: {},
          });
          span.confirmTarget(odd);
          span.end();
        },
      ),
      { numRuns: 50 },
    );
    await collected.finish();
    for (const { traceState, name, attributes } of collected.collector.spans) {
      expect(traceState ?? '').not.toContain(SECRET);
      for (const value of [name, ...Object.values(attributes)]) {
        expect(String(value)).not.toContain(SECRET);
        expect(String(value).length).toBeLessThan(300);
      }
    }
    expect(JSON.stringify([...collected.collector.metrics])).not.toContain(SECRET);
  });
});

describe('the series of a metric', () => {
  const about = { name: 'x', description: 'x' };
  const countOf = async (histogram: DurationHistogram, owner: string): Promise<number> => {
    const text = (await inSlices(histogram.write(1))) ?? '';
    return text.split(`"${owner}-`).length - 1;
  };

  it('are shared: one caller cannot take those of the others', async () => {
    const histogram = new DurationHistogram(about, 0);
    for (let number = 0; number < 5_000; number += 1)
      histogram.record(1, { name: `greedy-${number}` }, { owner: 'greedy' });
    for (let number = 0; number < 100; number += 1)
      histogram.record(1, { name: `other-${number}` }, { owner: 'other' });
    expect(await countOf(histogram, 'greedy')).toBeLessThanOrEqual(1_000);
    expect(await countOf(histogram, 'other')).toBe(100);
    const same = { name: 'late-1' };
    histogram.record(1, same, { owner: 'greedy' });
    expect(await countOf(histogram, 'late')).toBe(0);
    histogram.record(1, same, { owner: 'other' });
    expect(await countOf(histogram, 'late')).toBe(1);
  });

  it('are written a little at a time', () => {
    const histogram = new DurationHistogram(about, 0);
    for (let number = 0; number < 900; number += 1)
      histogram.record(1, { name: `${number}-${'"'.repeat(255)}` }, { owner: 'one' });
    expect([...histogram.write(1)].length).toBeGreaterThanOrEqual(900);
  });
});

it('methods that clients make up take no place of others', () => {
  const operations = new ServedOperations();
  const path = { isHttp: true, protocolVersion: undefined };
  const first = operations.find('made/up', {}, path);
  for (let number = 0; number < 6_000; number += 1) operations.find(`made/up/${number}`, {}, path);
  expect(operations.find('made/another', {}, path)).toBe(first);
  for (let number = 0; number < 6_000; number += 1)
    operations.find('tools/call', { tool: `t${number}` }, path);
  const late = operations.find('tools/call', { tool: 'late' }, path);
  expect(operations.find('tools/call', { tool: 'late' }, path)).toBe(late);
});
