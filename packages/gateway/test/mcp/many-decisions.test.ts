/** Requests that need many decisions about URIs, or a URI of many parts: other requests are not blocked. */
import { timeBound } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireUri, withoutDeniedValues } from '../../src/mcp/completion.js';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { initialize, modern, type RawAnswer, send } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

/** A URI with many possible readings: deciding about it takes long. */
const slowUri = (end: number): string => `${'%25252e/.. ./'.repeat(280)}${end}`;
const many = (count: number): string[] => Array.from({ length: count }, (_, at) => slowUri(at));
/** As many as a URI can have. */
const EXPRESSIONS = '{a}'.repeat(2_700);
const NAMES = `{${'a,'.repeat(4_000)}a}`;
const VALUE = '✓'.repeat(8_192);

let server: Upstream;
let stand: Stand;
beforeAll(async () => {
  server = await openUpstream({
    answers: {
      'completion/complete': () => ({ completion: { values: many(100) } }),
      'resources/subscribe': () => ({}),
    },
  });
  stand = await openStand({
    servers: { up: { url: server.url } },
    options: { rules: [{ action: 'deny', kind: 'resource', tool: 'file:///secret/**' }] },
  });
});
afterAll(async () => {
  await stand.close();
  await server.close();
});

/** The response, and the longest time for which the event loop was blocked. */
async function longestBlock<Answer>(work: () => Promise<Answer>): Promise<{ answer: Answer; ms: number }> {
  let [ms, last] = [0, performance.now()];
  const timer = setInterval(() => {
    const now = performance.now();
    ms = Math.max(ms, now - last);
    last = now;
  }, 1);
  const answer = await work().finally(() => clearInterval(timer));
  return { answer, ms: Math.max(ms, performance.now() - last) };
}

const aboutTemplate = (uri: string, value: string, known?: object): Record<string, unknown> => ({
  ref: { type: 'ref/resource', uri },
  argument: { name: 'a', value },
  ...(known !== undefined && { context: { arguments: known } }),
});

const over = {
  modern: (params: Record<string, unknown>): Promise<RawAnswer> =>
    modern(stand, { method: 'completion/complete', params }),
  legacy: async (params: Record<string, unknown>): Promise<RawAnswer> => {
    const headers = { 'mcp-session-id': await initialize(stand) };
    return send(stand, { jsonrpc: '2.0', id: 1, method: 'completion/complete', params }, { headers });
  },
};

describe.each(['modern', 'legacy'] as const)('over %s', (era) => {
  it.each([
    ['one value in many expressions', aboutTemplate(`x://${EXPRESSIONS}`, VALUE)],
    ['one value under many names', aboutTemplate(`x://${NAMES}`, VALUE)],
    ['a name that is not in it', aboutTemplate(`x://${EXPRESSIONS.replaceAll('a', 'b')}`, VALUE)],
    ['a known argument', aboutTemplate(`x://{a}${NAMES.replaceAll('a', 'b')}`, '', { b: 'x'.repeat(3e6) })],
    ['a value of 3 MB', aboutTemplate('x://{a}', 'x'.repeat(3e6))],
  ])('an address that %s would make too long is refused', async (_what, params) => {
    const before = server.noted.length;
    const { answer, ms } = await longestBlock(() => over[era](params));
    expect(answer.body.error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/(longer|more) than 8192 characters/),
    });
    expect(server.noted.slice(before).map(({ method }) => method)).not.toContain('completion/complete');
    expect(ms).toBeLessThan(timeBound(250));
  });

  it('a hundred values are decided about in turn with others', async () => {
    const { answer, ms } = await longestBlock(() => over[era](aboutTemplate('x://{a}', '')));
    expect(answer.body.result?.completion).toMatchObject({
      values: expect.arrayContaining([slowUri(0), slowUri(99)]),
    });
    expect(ms).toBeLessThan(timeBound(100));
  });
});

it('so are a thousand resources that a client subscribes to', async () => {
  const leaving = new AbortController();
  const resourceSubscriptions = many(1_000).map((value) => `file:///secret/${value}`);
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const { answer, ms } = await longestBlock(async () => {
    const response = await fetch(`${stand.url}/mcp`, {
      method: 'POST',
      signal: leaving.signal,
      headers: {
        authorization: 'Bearer token',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen' },
        params: { _meta, notifications: { resourceSubscriptions } },
      }),
    });
    const { value } = (await response.body?.getReader().read()) ?? {};
    return Buffer.from(value ?? []).toString();
  });
  leaving.abort();
  expect(answer).toContain('notifications/subscriptions/acknowledged');
  expect(ms).toBeLessThan(timeBound(250));
});

describe('the functions that decide', () => {
  it('withoutDeniedValues yields after each value', () => {
    const steps = withoutDeniedValues(
      { completion: { values: ['a', 'secret', 5, 'b', 'x'.repeat(9_000)], total: 5 } },
      {
        template: 'x://{a}',
        given: { argument: { name: 'a', value: '' } },
        isDenied: (address) => address.includes('secret'),
      },
    );
    let [turns, last] = [0, steps.next()];
    for (; last.done !== true; last = steps.next()) turns += 1;
    expect(turns).toBe(4);
    expect(last.value).toEqual({ completion: { values: ['a', 'b'] } });
  });

  it.each([
    ['x://{a}/{b}', 'x://1/{b}'],
    ['x://{+a,b}', 'x://1'],
    ['x://y{?a,c}{&c}', 'x://y?a=1&c=3&c=3'],
    ['x://{a:3}{c*}', 'x://13'],
    ['x://{toString}{a}', 'x://{toString}1'],
    ['x://{__proto__}{a}', 'x://{__proto__}1'],
    ['x://{b}{c}', 'x://93', { name: 'unnamed', value: '9' }],
  ])('%s becomes %s', (template, address, argument = { name: 'a', value: '1' }) => {
    expect(requireUri(template, { argument, context: { arguments: { c: '3' } } })).toBe(address);
  });

  it('requireUri accepts a URI of exactly the maximum length', () => {
    const given = { argument: { name: 'a', value: 'x'.repeat(4_094) } };
    expect(requireUri('x://{a}{a}', given)).toHaveLength(8_192);
    expect(() => requireUri('x://{a}{a}!', given)).toThrow(/longer than 8192/);
  });
});
