/** Very many small lines at once on one connection: other clients are served in between. */
import { PassThrough } from 'node:stream';
import { timeBound } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVERYTHING, openStand, type Stand } from './stand.js';

const COUNT = 5_000;
const KINDS: Readonly<Record<string, (id: number) => string>> = {
  pings: (id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`,
  'calls of an unknown tool': (id) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"nope"}}`,
  lists: (id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`,
  cancellations: (id) => `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`,
  'modern requests': (id) =>
    `{"jsonrpc":"2.0","id":${id},"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
  'objects that are no messages': () => '{}',
  'no JSON': () => '{',
  'empty lines': () => '',
};

let stand: Stand;
beforeAll(async () => {
  stand = await openStand({ servers: {} });
});
afterAll(() => stand.close());

/** Until it is called: the number of turns of the event loop, and the longest time between two. */
function watchTurns(): () => { turns: number; longestMs: number } {
  let last = performance.now();
  let turns = 0;
  let longestMs = 0;
  let isOver = false;
  const turn = (): void => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - last);
    last = now;
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    isOver = true;
    return { turns, longestMs: Math.max(longestMs, performance.now() - last) };
  };
}

describe('many lines at once', () => {
  it.each(Object.keys(KINDS))('leave a turn to all other clients: %s', async (kind) => {
    const lines = Array.from({ length: COUNT }, (_, at) => `${KINDS[kind]?.(at + 10)}\n`).join('');
    const streams = [1, 2, 3, 4].map(() => ({ input: new PassThrough(), output: new PassThrough() }));
    const served = streams.map(({ input, output }) => {
      output.resume();
      return stand.endpoint.serveStdio({ input, output, caller: EVERYTHING, maxBytes: 4 * 1_024 * 1_024 });
    });
    const stop = watchTurns();
    for (const { input } of streams) input.end(lines);
    const begun = performance.now();
    await Promise.all(served);
    const { turns, longestMs } = stop();
    // As many turns as there was time for, not one after all lines.
    expect(turns).toBeGreaterThan(Math.floor((performance.now() - begun) / timeBound(50)));
    expect(longestMs).toBeLessThan(timeBound(100));
  });
});
