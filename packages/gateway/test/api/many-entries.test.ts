/** A server with very many entries of any kind is rejected by their number, without blocking other requests. */
import { readFileSync } from 'node:fs';
import { timeBound } from '@turnbuckle/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';

const NAMES = Array.from({ length: 100_000 }, (_, index) => `A${index}`);
const map = (value: unknown) => Object.fromEntries(NAMES.map((name) => [name, value]));
const url = 'http://127.0.0.1:1/';
const CONFIGS: Readonly<Record<string, object>> = {
  env: { command: 'node', env: map('x') },
  headers: { url, headers: map('x') },
  labels: { command: 'node', labels: map(['private']) },
  args: { command: 'node', args: NAMES },
};

let own: OwnDaemon;
beforeAll(async () => {
  own = await ownDaemon({ servers: { known: { command: 'node', enabled: false } } });
});
afterAll(() => own.close());

/** The response, and the longest time for which the event loop was blocked. */
async function longestBlock(send: () => Promise<Response>): Promise<{ answer: Response; ms: number }> {
  let [ms, last] = [0, performance.now()];
  const timer = setInterval(() => {
    const now = performance.now();
    ms = Math.max(ms, now - last);
    last = now;
  }, 1);
  const answer = await send().finally(() => clearInterval(timer));
  return { answer, ms: Math.max(ms, performance.now() - last) };
}

it.each(Object.entries(CONFIGS))(
  'rejects 100,000 entries when a server is added or changed: %s',
  async (_what, config) => {
    const headers = { 'content-type': 'application/json' };
    const ways = [
      ['POST', '/api/servers', JSON.stringify({ name: 'a', config })],
      ['PATCH', '/api/servers/known', JSON.stringify({ command: null, ...config })],
    ] as const;
    for (const [method, path, body] of ways) {
      const { answer, ms } = await longestBlock(() => own.fetch(path, { method, headers, body }));
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        code: 'CONFIG_INVALID',
        error: expect.stringMatching(/100000 entries \(maximum 1000\)/),
      });
      expect(ms).toBeLessThan(timeBound(250));
    }
  },
);

it('writes nothing that is too large to be read again', async () => {
  const config = { command: 'node', args: Array(100).fill('x'.repeat(30_000)) };
  const answer = await own.post('/api/servers', { name: 'a', config });
  expect(answer).toMatchObject({ status: 400, body: { code: 'CONFIG_INVALID' } });
  expect((await own.fetch('/api/servers/known')).status).toBe(200);
  expect(readFileSync(own.stateDir.replace(/state$/, 'mcp.json'), 'utf8').length).toBeLessThan(1_000);
});
