/**
 * Callers that cancel before the work starts. The work may still fail when nobody awaits it any more: an unhandled
 * rejection would end the process.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime, type Runtime } from 'turnbuckle';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Cancellation, type CancelSignal } from '../../src/async/cancel-signal.js';
import { pause, untilAborted } from '../../src/async/until-aborted.js';
import { Deadline } from '../../src/fetching/deadline.js';
import { createGuardedFetch } from '../../src/fetching/guarded-fetch.js';
import { CallClock } from '../../src/resilience/call-clock.js';
import { Limiter } from '../../src/resilience/limiter.js';

const unhandled: unknown[] = [];
const keep = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', keep);
});
afterEach(() => void process.off('unhandledRejection', keep));

/** Node reports unhandled rejections at the end of a turn of the event loop. */
async function expectNoneUnhandled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  expect(unhandled).toEqual([]);
}

const failing = async (): Promise<never> => {
  await nextTurn();
  throw new Error('the work failed');
};

const clock = (): CallClock => new CallClock({ maxTotalMs: 60_000 });
const deadline = (signal: AbortSignal): Deadline => new Deadline(60_000, () => new Error('late'), signal);

/** Every helper that waits for work or a signal, whichever comes first. */
const HELPERS: Readonly<Record<string, (signal: AbortSignal) => Promise<unknown>>> = {
  untilAborted: (signal) => untilAborted(failing, signal),
  'untilAborted, with a Cancellation': (signal) => untilAborted(failing, toCancellation(signal)),
  pause: (signal) => pause(60_000, signal),
  'CallClock.until': (signal) => clock().until(failing(), { what: 'it', signal }),
  'Deadline.race': async (signal) => {
    const limit = deadline(signal);
    await limit.race(failing).finally(() => limit.stop());
  },
  guardedFetch: (signal) => createGuardedFetch()('http://10.0.0.1/private', { signal }),
  'Limiter.enter': async (signal) => {
    const limiter = new Limiter({ maxInFlight: 1, maxQueued: 10 });
    limiter.tryEnter();
    await limiter.enter(undefined, signal);
  },
};

function toCancellation(signal: AbortSignal): CancelSignal {
  const light = new Cancellation();
  if (signal.aborted) light.cancel();
  else signal.addEventListener('abort', () => light.cancel());
  return light;
}

describe.each(Object.entries(HELPERS))('%s', (_name, wait) => {
  it('handles the rejection of the work when the signal was aborted before', async () => {
    await expect(wait(AbortSignal.abort())).rejects.toBeDefined();
    await expectNoneUnhandled();
  });

  it('handles the rejection of the work if the signal aborts while it runs', async () => {
    const abort = new AbortController();
    const waiting = wait(abort.signal).catch((error: unknown) => error);
    abort.abort();
    expect(await waiting).toBeDefined();
    await expectNoneUnhandled();
  });
});

it('work does not start for a caller that has already cancelled', async () => {
  let begun = 0;
  const begin = async (): Promise<void> => {
    begun += 1;
  };
  await expect(untilAborted(begin, AbortSignal.abort())).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
  const limit = deadline(AbortSignal.abort());
  await expect(limit.race(begin)).rejects.toBeDefined();
  limit.stop();
  expect(begun).toBe(0);
});

describe('every call of the library that takes a signal', () => {
  let runtime: Runtime;
  let ran = 0;
  const closed: (() => unknown)[] = [];

  beforeAll(async () => {
    const guarded = createServer((_request, response) => {
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    }).listen(0, '127.0.0.1');
    await once(guarded, 'listening');
    const { port } = guarded.address() as AddressInfo;
    const directory = await temporaryDirectory();
    runtime = await createRuntime({
      servers: {
        echo: fixture('echo'),
        none: { command: 'no-such-program-anywhere' },
        guarded: { url: `http://127.0.0.1:${port}/mcp` },
      },
      stateDir: directory.file('state'),
      resourceTools: true,
    });
    runtime.registerTool({
      name: 'fails',
      inputSchema: { type: 'object' },
      run: async () => {
        ran += 1;
        throw new Error('no such record');
      },
    });
    closed.push(
      () => runtime.close(),
      () => guarded.close(),
      () => directory.remove(),
    );
  });
  afterAll(async () => {
    for (const close of closed) await close();
  });

  const open = { prompts: { open: () => {} } };
  const CALLS: Readonly<Record<string, (signal: AbortSignal) => Promise<unknown>>> = {
    'call of a native tool': (signal) => runtime.call({ tool: 'fails', arguments: {}, signal }),
    'call of a resource tool': (signal) =>
      runtime.call({ tool: 'read_mcp_resource', arguments: { server: 'none', uri: 'file:///a' }, signal }),
    'call of a tool': (signal) => runtime.callTool('echo', 'echo', { text: 'a' }, { signal }),
    'call of a server that does not start': (signal) => runtime.callTool('none', 'a', {}, { signal }),
    'call of a server that requires a sign-in': (signal) => runtime.callTool('guarded', 'a', {}, { signal }),
    readResource: (signal) => runtime.readResource('none', 'file:///a', { signal }),
    getPrompt: (signal) => runtime.getPrompt('none', 'a', {}, { signal }),
    connect: (signal) => runtime.connect('none', { signal }),
    signIn: (signal) => runtime.signIn('guarded', { signal, ...open }),
  };

  it.each(Object.entries(CALLS))('%s: aborted before it starts', async (_name, call) => {
    ran = 0;
    await expect(call(AbortSignal.abort())).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    await expectNoneUnhandled();
    // The native tool did not run for a cancelled call.
    expect(ran).toBe(0);
  });

  it.each(Object.entries(CALLS))('%s: aborted right after it starts', async (_name, call) => {
    for (const turns of [0, 1, 3]) {
      const abort = new AbortController();
      const calling = call(abort.signal).catch((error: unknown) => error);
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      abort.abort();
      await calling;
      await expectNoneUnhandled();
    }
  });

  it('a cancelled sign-in does not contact the server', async () => {
    let asked = 0;
    const guarded = createServer((_request, response) => {
      asked += 1;
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    }).listen(0, '127.0.0.1');
    await once(guarded, 'listening');
    const { port } = guarded.address() as AddressInfo;
    const other = await createRuntime({ servers: { guarded: { url: `http://127.0.0.1:${port}/mcp` } } });
    closed.push(
      () => other.close(),
      () => guarded.close(),
    );
    const calling = other.signIn('guarded', { signal: AbortSignal.abort(), ...open });
    await expect(calling).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    await expectNoneUnhandled();
    expect(asked).toBe(0);
  });
});
