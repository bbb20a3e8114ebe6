/** Batches of very many messages: passing each of them on would take as long as reading them. */
import { timeBound, waitUntil } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { MessageReader } from '../../src/connection/protocol/message-reader.js';
import { strainOf } from './strain.js';

const RULES = { server: 'big', maxDepth: 100 };
const NOTICE = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}';

it.each([
  ['notices', NOTICE],
  ['nothing', '{}'],
  ['numbers', '1'],
])('of %s are not passed on, and no request waits for them', async (_what, one) => {
  const seen: unknown[] = [];
  const ignored: unknown[] = [];
  const reader = new MessageReader(RULES, {
    onmessage: (message) => seen.push(message),
    onignored: (reason) => ignored.push(reason),
  });
  const text = `[${`${one},`.repeat(3_000_000 / one.length)}${one}]`;
  const { stallMs } = await strainOf(async () => {
    reader.push(text);
    await waitUntil(() => ignored.length > 0);
  });
  expect(stallMs).toBeLessThan(timeBound(250));
  expect(seen).toEqual([]);
  expect(ignored).toEqual([expect.stringMatching(/^(?:unasked|too-large)$/)]);
});

it('a response in a very large batch fails as too large', async () => {
  const seen: unknown[] = [];
  const reader = new MessageReader(RULES, {
    onmessage: (message) => seen.push(message),
    isawaited: (id) => id === 7,
  });
  reader.push(`[${`${NOTICE},`.repeat(20_000)}{"jsonrpc":"2.0","id":7,"result":{}}]`);
  await waitUntil(() => seen.length > 0);
  expect(seen).toMatchObject([
    { id: 7, error: { message: expect.stringContaining('more than 1000 messages') } },
  ]);
});
