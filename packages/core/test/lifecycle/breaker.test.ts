import { readFileSync } from 'node:fs';
import { fixture, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import fc from 'fast-check';
import type { Caller, Runtime } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Breaker } from '../../src/resilience/breaker.js';
import { TinyServer, toolNamed } from '../policy/tiny-server.js';
import { ONCE, openRuntime } from './open-runtime.js';

/** A short call timeout of the server. */
const SHORT_TIMEOUT = { callTimeoutMs: 150, pingMs: 0 };

/** The outcome of a call that has enough time. */
function outcome(runtime: Runtime, tool = 'echo', args: object = { text: 'x' }): Promise<string> {
  return codeOf(runtime.callTool('server', tool, { ...args }, { timeoutMs: 20_000 }));
}

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );

/** Calls that exceed the timeout of the server, by alternating callers. */
function slowCalls(runtime: Runtime, callers: readonly (Caller | undefined)[] = [undefined, agent('a')]) {
  let count = 0;
  return (): Promise<string> => {
    const caller = callers[count % callers.length];
    count += 1;
    return codeOf(runtime.callTool('server', 'sleep', { ms: 5_000, everyMs: 5_000 }, { caller }));
  };
}

const agent = (id: string): Caller => ({ id, capabilities: ['mcp_integration'] });
const rules = [{ action: 'allow' as const }];

it('opens after five failures in a row, rejects immediately, admits one probe, and closes', async () => {
  let now = 1_000_000;
  const server = { ...fixture('echo'), ...SHORT_TIMEOUT };
  const runtime = await openRuntime({
    servers: { server },
    rules,
    now: () => now,
    breaker: { openMs: 30_000 },
  });
  await runtime.connectAll();
  const sleep = slowCalls(runtime);

  for (let failure = 1; failure <= 4; failure += 1) expect(await sleep()).toBe('CALL_TIMEOUT');
  // A success in between resets the count.
  expect(await outcome(runtime)).toBe('ok');
  for (let failure = 1; failure <= 5; failure += 1) expect(await sleep()).toBe('CALL_TIMEOUT');
  expect(runtime.serverStatus('server').breaker).toBe('open');
  for (let refused = 0; refused < 3; refused += 1) expect(await outcome(runtime)).toBe('BREAKER_OPEN');

  now += 29_999;
  expect(await outcome(runtime)).toBe('BREAKER_OPEN');
  now += 1;
  const together = await Promise.all([outcome(runtime), outcome(runtime), outcome(runtime)]);
  expect(together).toEqual(['ok', 'BREAKER_OPEN', 'BREAKER_OPEN']);
  expect(runtime.serverStatus('server').breaker).toBe('closed');
  expect(await outcome(runtime)).toBe('ok');
});

it('a failed probe opens the breaker again, for longer', async () => {
  let now = 1_000_000;
  const server = { ...fixture('echo'), ...SHORT_TIMEOUT };
  const runtime = await openRuntime({
    servers: { server },
    rules,
    now: () => now,
    breaker: { failures: 2, openMs: 1_000, maxOpenMs: 60_000 },
  });
  await runtime.connectAll();
  const sleep = slowCalls(runtime);
  await sleep();
  await sleep();
  now += 1_000;
  // One failed caller is not enough: then the next call is the probe.
  expect(await sleep()).toBe('CALL_TIMEOUT');
  expect(await sleep()).toBe('CALL_TIMEOUT');
  now += 1_999;
  expect(await outcome(runtime)).toBe('BREAKER_OPEN');
  now += 1;
  expect(await outcome(runtime)).toBe('ok');
});

it('opens for a server that never starts: calls do not start it again and again', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  let now = 1_000_000;
  const flags = ['--at', 'start', '--times', '1000', '--state-file', directory.file('starts')];
  const server = {
    ...fixture('flaky', ...flags),
    era: 'legacy' as const,
    start: 'lazy' as const,
    reconnect: ONCE,
  };
  const runtime = await openRuntime({ servers: { server }, now: () => now, breaker: { failures: 3 } });
  const starts = (): number => readFileSync(directory.file('starts'), 'utf8').length;
  const codes: string[] = [];
  for (let call = 0; call < 6; call += 1) codes.push(await outcome(runtime));
  expect(codes.slice(-3)).toEqual(['BREAKER_OPEN', 'BREAKER_OPEN', 'BREAKER_OPEN']);
  const before = starts();
  expect(before).toBe(3);
  expect(await outcome(runtime)).toBe('BREAKER_OPEN');
  expect(starts()).toBe(before);
  now += 30_000;
  expect(await outcome(runtime)).not.toBe('BREAKER_OPEN');
  expect(starts()).toBe(before + 1);
});

it('rejects a thousand calls immediately', async () => {
  const server = { ...fixture('echo'), ...SHORT_TIMEOUT };
  const runtime = await openRuntime({ servers: { server }, rules, breaker: { failures: 2 } });
  await runtime.connectAll();
  const sleep = slowCalls(runtime);
  await sleep();
  await sleep();
  const started = performance.now();
  const codes = await Promise.all(Array.from({ length: 1_000 }, () => outcome(runtime)));
  expect(new Set(codes)).toEqual(new Set(['BREAKER_OPEN']));
  expect(performance.now() - started).toBeLessThan(5_000);
});

it('a crash counts as one failure, however many calls were pending: the next call restarts the server', async () => {
  const server = { ...fixture('echo'), start: 'lazy' as const };
  const runtime = await openRuntime({ servers: { server } });
  expect(await outcome(runtime)).toBe('ok');
  const { pid = 0 } = runtime.serverStatus('server');
  let begun = 0;
  runtime.on('call.progress', () => {
    begun += 1;
  });
  const lost = Array.from({ length: 16 }, () =>
    runtime.callTool('server', 'sleep', { ms: 60_000, everyMs: 20 }, { timeoutMs: 60_000 }).then(
      () => 'ok',
      (error: { code: string }) => error.code,
    ),
  );
  await waitUntil(() => begun >= 16);
  process.kill(pid, 'SIGKILL');
  expect(new Set(await Promise.all(lost))).toEqual(new Set(['CALL_OUTCOME_UNKNOWN']));
  expect(runtime.serverStatus('server').breaker).toBe('closed');
  expect(await outcome(runtime)).toBe('ok');
});

it('a failed attempt to connect counts as one failure, however many callers shared it', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const flags = ['--at', 'start', '--times', '1', '--state-file', directory.file('starts')];
  const server = {
    ...fixture('flaky', ...flags),
    era: 'legacy' as const,
    start: 'lazy' as const,
    reconnect: ONCE,
  };
  const runtime = await openRuntime({ servers: { server } });
  const first = await Promise.all(Array.from({ length: 16 }, () => outcome(runtime)));
  expect(new Set(first)).toEqual(new Set(['SERVER_EXITED']));
  expect(await outcome(runtime)).toBe('ok');
});

describe('one caller', () => {
  it('does not open it for others by not waiting, however often', async () => {
    const server = { ...fixture('echo'), pingMs: 0 };
    const runtime = await openRuntime({ servers: { server }, rules });
    await runtime.connectAll();
    for (const limits of [{ timeoutMs: 1 }, { maxTotalMs: 1 }, { timeoutMs: 50 }]) {
      const calls = Array.from({ length: 10 }, (_, count) =>
        codeOf(
          runtime.callTool(
            'server',
            'sleep',
            { ms: 2_000, everyMs: 2_000 },
            { caller: agent(`${count}`), ...limits },
          ),
        ),
      );
      expect(new Set(await Promise.all(calls))).toEqual(new Set(['CALL_TIMEOUT']));
    }
    expect(runtime.serverStatus('server').breaker).toBe('closed');
    expect(await outcome(runtime)).toBe('ok');
  });

  it('does not open it for others by calls of a tool that never responds, while the server is alive', async () => {
    const server = { ...fixture('echo'), ...SHORT_TIMEOUT };
    const runtime = await openRuntime({ servers: { server }, rules, breaker: { failures: 2 } });
    await runtime.connectAll();
    for (const caller of [undefined, agent('a')]) {
      const sleep = slowCalls(runtime, [caller]);
      for (let count = 0; count < 5; count += 1) expect(await sleep()).toBe('CALL_TIMEOUT');
      expect(runtime.serverStatus('server').breaker).toBe('closed');
      expect(await outcome(runtime)).toBe('ok');
    }
  });

  it('opens it if the server does not respond to anything else either', async () => {
    const silent = new TinyServer([toolNamed('sleep')]);
    const server = silent.config({ callTimeoutMs: 100, pingMs: 100 });
    const runtime = await openRuntime({ servers: { server }, breaker: { failures: 2 } });
    await runtime.connectAll();
    silent.isSilent = true;
    const sleep = slowCalls(runtime, [undefined]);
    await waitUntil(async () => {
      await sleep();
      return runtime.serverStatus('server').breaker === 'open';
    });
  });
});

describe('Breaker', () => {
  const event = fc.record({
    what: fc.constantFrom('fail', 'failFor', 'confirm', 'succeed', 'abstain', 'admit', 'later'),
    who: fc.constantFrom('a', 'b', 'c'),
  });
  type Step = { readonly what: string; readonly who: string };
  const play = (steps: readonly Step[], look: (breaker: Breaker) => void): void => {
    const breaker = new Breaker({ failures: 3, openMs: 10, maxOpenMs: 100 });
    let now = 0;
    for (const { what, who } of steps) {
      if (what === 'later') now += 7;
      else if (what === 'failFor') breaker.failFor(who, now);
      else if (what === 'admit') breaker.admit(now);
      else if (what === 'fail' || what === 'confirm') breaker[what](now);
      else if (what === 'succeed' || what === 'abstain') breaker[what]();
      look(breaker);
    }
  };

  it('never opens because of the failures of a single caller', () => {
    const alone = event.filter(({ what, who }) => what !== 'fail' && what !== 'confirm' && who === 'a');
    fc.assert(
      fc.property(fc.array(alone, { maxLength: 60 }), (steps) => {
        play(steps, (breaker) => expect(breaker.state).toBe('closed'));
      }),
      { numRuns: 2_000, seed: 1 },
    );
  });

  it('opens after three failures of two callers, or of the server itself', () => {
    const states = (steps: readonly string[]): string => {
      let last = '';
      play(
        steps.map((step) => ({ what: step.length === 1 ? 'failFor' : step, who: step })),
        ({ state }) => {
          last = state;
        },
      );
      return last;
    };
    expect(states(['a', 'a', 'b'])).toBe('open');
    expect(states(['a', 'b', 'succeed', 'a', 'a', 'a'])).toBe('closed');
    expect(states(['a', 'a', 'a', 'a', 'b'])).toBe('open');
    expect(states(['fail', 'fail', 'fail'])).toBe('open');
    expect(states(['a', 'a', 'a', 'confirm'])).toBe('open');
    expect(states(['a', 'confirm', 'a'])).toBe('closed');
    expect(states(['confirm', 'a', 'a', 'a', 'a'])).toBe('closed');
  });

  it('admits a call again eventually, and one at a time while it is half open', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (steps) => {
        let last: Breaker | undefined;
        play(steps, (breaker) => {
          last = breaker;
        });
        last?.abstain();
        expect(last?.admit(1_000_000) ?? 0).toBe(0);
        if (last?.state === 'half-open') expect(last.admit(1_000_000)).toBeGreaterThan(0);
      }),
      { numRuns: 2_000, seed: 1 },
    );
  });
});
