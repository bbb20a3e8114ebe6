import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { processesWithEnvironment, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRuntime } from '../lifecycle/open-runtime.js';
import { startHost } from './host.js';

const SERVER = fileURLToPath(new URL('letting-go.mjs', import.meta.url));
/** At the head of a session of their own, and nothing leads back; and what these started. */
const LET_GO = ['daemon', 'daemons-helper', 'daemons-pipe'];
const KEPT = ['forked-away', 'browser', 'holds-stdout', 'child', 'grandchild'];
const ROLES = [...LET_GO, ...KEPT];

/** A server whose processes are told apart, and ended with the test whatever happens. */
function family(more: Record<string, unknown> = {}) {
  const mark = randomUUID();
  const pidsOf = (role: string): number[] => processesWithEnvironment('ROLE', `${role}-${mark}`);
  const alive = (): string[] => ROLES.filter((role) => pidsOf(role).length > 0);
  onTestFinished(() => {
    for (const pid of ROLES.flatMap(pidsOf)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // gone with the one before it
      }
    }
  });
  const server = { command: process.execPath, args: [SERVER, mark], era: 'legacy' as const, ...more };
  // Of the one that forks away, the one in between has ended.
  const isComplete = (): boolean => alive().length === ROLES.length && pidsOf('forked-away').length === 1;
  return { mark, server, alive, isComplete };
}

describe.skipIf(process.platform !== 'linux')('what a server started', () => {
  it('ends with it, but for what it let go of', async () => {
    const { server, alive, isComplete } = family();
    const runtime = await openRuntime({ servers: { home: server } });
    await runtime.connectAll();
    await waitUntil(isComplete, 20_000);
    await runtime.disconnect('home');
    expect(alive()).toEqual(LET_GO);
    await runtime.close();
    expect(alive()).toEqual(LET_GO);
  }, 60_000);

  it('ends with it altogether where the configuration says so', async () => {
    const { server, alive, isComplete } = family({ endDetached: true });
    const runtime = await openRuntime({ servers: { home: server } });
    await runtime.connectAll();
    await waitUntil(isComplete, 20_000);
    await runtime.close();
    expect(alive()).toEqual([]);
  }, 60_000);

  it.each(['exit', 'SIGTERM'])(
    'ends when its host does, but for what it let go of (%s)',
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
      await waitUntil(() => alive().length === LET_GO.length, 10_000);
      expect(alive()).toEqual(LET_GO);
    },
    60_000,
  );

  it.each([
    [false, LET_GO],
    [true, []],
  ])(
    'is swept after its host was killed, but for what leads a session (all of it: %s)',
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
