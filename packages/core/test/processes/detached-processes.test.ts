import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { processesWithEnvironment, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRuntime } from '../lifecycle/open-runtime.js';
import { startHost } from './host.js';

const SERVER = fileURLToPath(new URL('detached-processes.mjs', import.meta.url));
/** Leaders of their own session without a link to the server, and their children. */
const DETACHED = ['daemon', 'daemons-helper', 'daemons-pipe'];
const ATTACHED = ['forked-away', 'browser', 'holds-stdout', 'child', 'grandchild'];
const ROLES = [...DETACHED, ...ATTACHED];

/** A server whose processes have roles. All of them end with the test. */
function family(more: Record<string, unknown> = {}) {
  const mark = randomUUID();
  const pidsOf = (role: string): number[] => processesWithEnvironment('ROLE', `${role}-${mark}`);
  const alive = (): string[] => ROLES.filter((role) => pidsOf(role).length > 0);
  onTestFinished(() => {
    for (const pid of ROLES.flatMap(pidsOf)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // already ended with the previous one
      }
    }
  });
  const server = { command: process.execPath, args: [SERVER, mark], era: 'legacy' as const, ...more };
  // The intermediate process of the double fork has ended.
  const isComplete = (): boolean => alive().length === ROLES.length && pidsOf('forked-away').length === 1;
  return { mark, server, alive, isComplete };
}

describe.skipIf(process.platform !== 'linux')('what a server started', () => {
  it('end with it, except detached processes', async () => {
    const { server, alive, isComplete } = family();
    const runtime = await openRuntime({ servers: { home: server } });
    await runtime.connectAll();
    await waitUntil(isComplete, 20_000);
    await runtime.disconnect('home');
    expect(alive()).toEqual(DETACHED);
    await runtime.close();
    expect(alive()).toEqual(DETACHED);
  }, 60_000);

  it('all end with it if the configuration says so', async () => {
    const { server, alive, isComplete } = family({ endDetached: true });
    const runtime = await openRuntime({ servers: { home: server } });
    await runtime.connectAll();
    await waitUntil(isComplete, 20_000);
    await runtime.close();
    expect(alive()).toEqual([]);
  }, 60_000);

  it.each(['exit', 'SIGTERM'])(
    'end with its host, except detached processes (%s)',
    async (ending) => {
      const { mark, server, alive, isComplete } = family();
      const directory = await temporaryDirectory();
      onTestFinished(() => directory.remove());
      const host = startHost({ servers: { home: server }, stateDir: directory.path, ending, mark });
      onTestFinished(() => void host.process.kill('SIGKILL'));
      await host.said('READY');
      await waitUntil(isComplete, 20_000);
      if (ending === 'exit') host.go();
      else host.process.kill('SIGTERM');
      await host.ended;
      await waitUntil(() => alive().length === DETACHED.length, 10_000);
      expect(alive()).toEqual(DETACHED);
    },
    60_000,
  );

  it.each([
    [false, DETACHED],
    [true, []],
  ])(
    'are swept after its host was killed, except session leaders (endDetached: %s)',
    async (endDetached, left) => {
      const { mark, server, alive, isComplete } = family({ endDetached });
      const directory = await temporaryDirectory();
      onTestFinished(() => directory.remove());
      const host = startHost({ servers: { home: server }, stateDir: directory.path, ending: 'exit', mark });
      onTestFinished(() => void host.process.kill('SIGKILL'));
      await host.said('READY');
      await waitUntil(isComplete, 20_000);
      host.process.kill('SIGKILL');
      await host.ended;
      await openRuntime({});
      await waitUntil(() => alive().length === left.length, 10_000);
      expect(alive()).toEqual(left);
    },
    60_000,
  );
});
