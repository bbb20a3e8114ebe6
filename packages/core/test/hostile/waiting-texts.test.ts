import { setImmediate as nextTurn } from 'node:timers/promises';
import { fixture, timeBound } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MessageReader } from '../../src/connection/protocol/message-reader.js';
import { createOwnRuntime } from './own-runtime.js';
import { rawServer } from './raw-server.js';
import { expectCalm, strainOf } from './strain.js';
import { say } from './with-runtime.js';

const RULES = { server: 'one', maxDepth: 100 };
const answer = (id: number, items: number): string =>
  `{"jsonrpc":"2.0","id":${id},"result":{"v":[${'[1],'.repeat(items)}1]}}`;
const note = (data: number): string =>
  `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":${data}}}`;

describe('messages that are queued behind a large one', () => {
  it('cost the same each, however many there are, and come in their order, a slice at a time', async () => {
    const seen: unknown[] = [];
    const reader = new MessageReader(RULES, {
      onmessage: (message) => void seen.push('method' in message ? message.params?.data : message.id),
    });
    const count = 200_000;
    const began = performance.now();
    reader.push(answer(1, 100_000));
    let most = 0;
    for (let index = 0; index < count; index += 1) {
      reader.push(note(index));
      most = Math.max(most, reader.queuedCharacters);
    }
    expect(most).toBeGreaterThan(count * note(0).length);
    let turns = 0;
    let isIdle = false;
    reader.whenIdle(() => {
      isIdle = true;
    });
    const { stallMs } = await strainOf(async () => {
      for (; !isIdle; turns += 1) await nextTurn();
    });
    expect(seen).toEqual([1, ...Array.from({ length: count }, (_, index) => index)]);
    expect(turns).toBeGreaterThan(5);
    expect(reader.queuedCharacters).toBe(0);
    expect(performance.now() - began).toBeLessThan(timeBound(2_000));
    expectCalm(stallMs);
  }, 120_000);

  it('count even if they are empty', async () => {
    const reader = new MessageReader(RULES, {});
    reader.push(answer(1, 100_000));
    for (let index = 0; index < 1_000; index += 1) reader.push('');
    expect(reader.queuedCharacters).toBeGreaterThan(1_000 * 32);
    await new Promise<void>((resolve) => reader.whenIdle(resolve));
    expect(reader.queuedCharacters).toBe(0);
  });

  it.each(['stdio', 'websocket', 'http', 'sse'] as const)(
    'do not block other servers over %s',
    async (transport) => {
      const server = await rawServer(transport);
      onTestFinished(() => server.stop());
      const runtime = await createOwnRuntime({ servers: { big: server.config, good: fixture('echo') } });
      onTestFinished(() => runtime.close());
      await runtime.connectAll();
      await say(runtime, 'good', 'warm');
      const lines = [answer(1_999_999_999, 200_000), ...Array<string>(20_000).fill('x')];
      let isOver = false;
      const work = runtime.callTool('big', 'say', { lines }, { timeoutMs: 60_000 });
      const over = work
        .catch(() => {})
        .finally(() => {
          isOver = true;
        });
      let answers = 0;
      const { stallMs } = await strainOf(async () => {
        for (; !isOver; answers += 1) {
          expect(await say(runtime, 'good', `n${answers}`)).toBe(`n${answers}`);
          await nextTurn();
        }
      });
      await over;
      expect(answers).toBeGreaterThan(1);
      expectCalm(stallMs);
    },
    120_000,
  );
});
