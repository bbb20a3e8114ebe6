import { randomUUID } from 'node:crypto';
import { fixture, processesWithEnvironment, waitUntil } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { openRuntime } from '../lifecycle/open-runtime.js';

// The first round also loads the protocol library: a close during that time must not be lost.
it.skipIf(process.platform !== 'linux').each(['close', 'disconnect', 'close'] as const)(
  '%s() while a server is starting does not wait for it, and leaves no process',
  async (how) => {
    const mark = randomUUID();
    const marked = (): number[] => processesWithEnvironment('CYCLE', mark);
    // Waiting for the start would exceed the timeout of this test.
    const slow = { ...fixture('slow', '--start-ms', '120000'), connectTimeoutMs: 60_000 };
    const runtime = await openRuntime({ servers: { server: { ...slow, env: { CYCLE: mark } } } });
    const connecting = runtime.connectAll();
    await waitUntil(() => marked().length === 1);
    if (how === 'close') await runtime.close();
    else await runtime.disconnect('server');
    expect(marked()).toEqual([]);
    await connecting;
  },
  20_000,
);
