import { fixture } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { ownServer } from './own-server.js';
import { say, withRuntime } from './with-runtime.js';

const textOf = ({ content: [part] }: { content: readonly unknown[] }): unknown =>
  typeof part === 'object' && part !== null ? Reflect.get(part, 'text') : undefined;

describe.each([true, false])('unexpected responses (express lane: %s)', (expressLane) => {
  it('are dropped: each call gets its own answer, once', async () => {
    await withRuntime({ servers: { odd: ownServer('wrong-answers') }, expressLane }, async (runtime) => {
      const progress: unknown[] = [];
      const calls = Array.from({ length: 20 }, (_, index) =>
        runtime.callTool(
          'odd',
          'ask',
          { text: `call ${index}`, wait: (20 - index) * 3 },
          { timeoutMs: 5_000, onProgress: (report) => progress.push(report) },
        ),
      );
      const answers = (await Promise.all(calls)).map(textOf);
      expect(answers).toEqual(answers.map((_, index) => `call ${index}`));
      expect(progress).toEqual([]);
      expect(runtime.serverStatus('odd')).toMatchObject({
        status: 'connected',
        calls: { total: 20, succeeded: 20 },
      });
    });
  });

  it('are dropped when they arrive after the call has timed out', async () => {
    await withRuntime({ servers: { odd: ownServer('wrong-answers') }, expressLane }, async (runtime) => {
      const ask = (text: string, wait: number, timeoutMs: number) =>
        runtime.callTool('odd', 'ask', { text, wait }, { timeoutMs });
      await expect(ask('too late', 400, 100)).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
      expect(textOf(await ask('over the late one', 600, 5_000))).toBe('over the late one');
      expect(textOf(await ask('next', 0, 5_000))).toBe('next');
    });
  });

  it('never cross from one server to another, though ids and tool names are equal', async () => {
    const servers = { left: fixture('echo'), right: fixture('echo'), odd: ownServer('wrong-answers') };
    await withRuntime({ servers, expressLane }, async (runtime) => {
      const calls = Array.from({ length: 60 }, (_, index) => {
        const server = index % 2 === 0 ? 'left' : 'right';
        return say(runtime, server, `${server} ${index}`);
      });
      const noise = runtime.callTool('odd', 'ask', { text: 'odd', wait: 1 });
      const answers = await Promise.all(calls);
      expect(answers).toEqual(answers.map((_, index) => `${index % 2 === 0 ? 'left' : 'right'} ${index}`));
      expect(textOf(await noise)).toBe('odd');
    });
  });
});
