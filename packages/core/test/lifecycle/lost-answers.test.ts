import { existsSync, readFileSync } from 'node:fs';
import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { loseAnswers } from './lost-answers.js';
import { openRuntime, record, textOf } from './open-runtime.js';

describe('a server that dies after the effect and before the result', () => {
  it('100 times: the outcome is reported as unknown once, no effect is repeated, the next call works', async () => {
    await Promise.all([loseAnswers(50, 'exit'), loseAnswers(50, 'kill')]);
  }, 120_000);

  it.each([
    { trusted: true, code: 'CONNECTION_LOST', effects: 3 },
    { trusted: false, code: 'CALL_OUTCOME_UNKNOWN', effects: 1 },
  ])(
    'a read-only tool is tried $effects times when trusted is $trusted',
    async ({ trusted, code, effects }) => {
      const directory = await temporaryDirectory();
      const file = directory.file('effects');
      const runtime = await openRuntime({
        servers: { server: { ...fixture('crash-mid-call', '--counter-file', file), trusted } },
      });
      const settled = record(runtime, 'call.settled');
      await expect(runtime.callTool('server', 'die_read_only')).rejects.toMatchObject({ code });
      expect(readFileSync(file, 'utf8')).toBe('die_read_only\n'.repeat(effects));
      expect(settled).toMatchObject([{ outcome: 'failed', attempts: effects }]);
      await directory.remove();
    },
  );

  it.each([
    { trusted: true, tool: 'add', ends: 'ok' },
    { trusted: true, tool: 'echo', ends: 'CALL_OUTCOME_UNKNOWN' },
    { trusted: false, tool: 'add', ends: 'CALL_OUTCOME_UNKNOWN' },
  ])('once: $tool of a server with trusted $trusted ends with $ends', async ({ trusted, tool, ends }) => {
    const directory = await temporaryDirectory();
    const runtime = await openRuntime({
      servers: {
        server: { ...fixture('flaky', '--at', 'call', '--state-file', directory.file('state')), trusted },
      },
    });
    const settled = record(runtime, 'call.settled');
    const args = { add: { a: 1, b: 2 }, echo: { text: 'x' } }[tool];
    const ended = await runtime.callTool('server', tool, args).then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );
    expect(ended).toBe(ends);
    expect(existsSync(directory.file('state'))).toBe(true);
    expect(settled.length).toBe(1);
    expect(textOf(await runtime.callTool('server', 'echo', { text: 'next' }))).toBe('next');
    await directory.remove();
  });
});
