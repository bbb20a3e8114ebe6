/** Calls that end their server: each costs a new process, so an agent that makes nothing else has to wait. */
import { fixture } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { openRuntime } from './open-runtime.js';

const agent = (id: string) => ({ id, capabilities: ['mcp_integration'] });
const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );

async function open(more: object = {}) {
  let now = 1_000_000;
  const runtime = await openRuntime({
    servers: { fragile: { ...fixture('crash-mid-call'), ...more } },
    rules: [{ action: 'allow' as const }],
    now: () => now,
  });
  const call = (who: string, tool: string): Promise<string> =>
    codeOf(
      runtime.call({
        server: 'fragile',
        tool,
        arguments: tool === 'echo' ? { text: 'a' } : {},
        caller: agent(who),
      }),
    );
  const pass = (ms: number): void => {
    now += ms;
  };
  return { runtime, call, pass };
}

// requirement C10
it('an agent that crashes a server again and again is rejected for a while, and nobody else', async () => {
  const { call, pass } = await open();
  for (let count = 0; count < 5; count += 1) expect(await call('bad', 'die')).toBe('CALL_OUTCOME_UNKNOWN');
  expect(await call('bad', 'die')).toBe('OVERLOADED');
  expect(await call('bad', 'echo')).toBe('OVERLOADED');
  expect(await call('good', 'echo')).toBe('ok');
  pass(10_001);
  expect(await call('bad', 'echo')).toBe('ok');
});

it('a call that is answered starts the count again', async () => {
  const { call } = await open();
  for (let round = 0; round < 2; round += 1) {
    for (let count = 0; count < 4; count += 1) expect(await call('bad', 'die')).toBe('CALL_OUTCOME_UNKNOWN');
    expect(await call('bad', 'echo')).toBe('ok');
  }
});

it('calls that lost their server while others had calls in flight do not count', async () => {
  const { call } = await open();
  for (let count = 0; count < 6; count += 1) {
    const codes = await Promise.all([call('one', 'die'), call('two', 'die')]);
    expect(codes).not.toContain('OVERLOADED');
  }
});

it('on a connection of its own, the calls of others do not matter', async () => {
  const { runtime, call } = await open({ share: 'agent' });
  const over = new AbortController();
  const arguments_ = { ms: 60_000, everyMs: 60_000 };
  const long = runtime
    .call({
      server: 'fragile',
      tool: 'sleep',
      arguments: arguments_,
      caller: agent('good'),
      signal: over.signal,
    })
    .catch(() => {});
  for (let count = 0; count < 5; count += 1) expect(await call('bad', 'die')).toBe('CALL_OUTCOME_UNKNOWN');
  expect(await call('bad', 'die')).toBe('OVERLOADED');
  over.abort();
  await long;
});

it('a connection that the host closes counts against nobody', async () => {
  const { runtime, call } = await open();
  for (let count = 0; count < 6; count += 1) {
    const started = new Promise<void>((resolve) => {
      runtime.on('call.progress', () => resolve());
    });
    const called = runtime.call({
      server: 'fragile',
      tool: 'sleep',
      arguments: { ms: 60_000, everyMs: 10 },
      caller: agent('good'),
    });
    await Promise.all([codeOf(called), started.then(() => runtime.reconnect('fragile'))]);
  }
  expect(await call('good', 'echo')).toBe('ok');
});
