/** Servers that ignore signals, with children that do too: none outlives its purpose. */
import { existsSync, writeFileSync } from 'node:fs';
import { fixture, isAlive, readPids, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { type ChildDaemon, childDaemon } from './child-daemon.js';

/** A server, a child in its group, a detached one, a shell, and a child of the shell: all ignore the signals they can. */
const FAMILY = ['server', 'same-group', 'detached', 'shell', 'behind-shell'];

interface Family {
  readonly daemon: ChildDaemon;
  /** The process id of the server itself. */
  readonly server: number;
  /** The processes of the family that are alive. */
  alive(): number[];
}

/** A daemon with such a server, for the length of the work. */
async function withFamily(work: (family: Family) => Promise<void>): Promise<void> {
  const directory = await temporaryDirectory();
  const file = directory.file('pids');
  writeFileSync(file, '');
  const old = fixture('stubborn', '--life-ms', '60000', '--pid-file', file);
  const alive = (): number[] => Object.values(readPids(file)).filter(isAlive);
  const daemon = await childDaemon({ servers: { old } }, { directory });
  try {
    expect(await daemon.call('old', 'pid')).toMatchObject({ success: true });
    await waitUntil(() => FAMILY.every((role) => role in readPids(file)));
    const { server = 0 } = readPids(file);
    expect(alive()).toHaveLength(FAMILY.length);
    await work({ daemon, server, alive });
  } finally {
    for (const pid of alive()) process.kill(pid, 'SIGKILL');
    await daemon.remove();
  }
}

describe.skipIf(process.platform !== 'linux').concurrent('nothing is left of a stubborn server', () => {
  it('when it is removed from the configuration, and the daemon keeps running', () =>
    withFamily(async ({ daemon, server, alive }) => {
      writeFileSync(daemon.directory.file('mcp.json'), '{ "servers": {} }');
      await waitUntil(() => alive().length === 0, 15_000);
      // Nor as a zombie, which only its parent can reap.
      await waitUntil(() => !existsSync(`/proc/${server}`));
      expect(await daemon.call('old', 'pid')).toMatchObject({ code: 'SERVER_UNKNOWN' });
    }));

  it('when the daemon is stopped', () =>
    withFamily(async ({ daemon, alive }) => {
      daemon.child.kill('SIGTERM');
      expect(await daemon.ended).toBe(0);
      expect(alive()).toEqual([]);
    }));

  it('when the daemon was killed, and is started again', () =>
    withFamily(async ({ daemon, alive }) => {
      daemon.child.kill('SIGKILL');
      expect(await daemon.ended).toBe('SIGKILL');
      const next = await childDaemon({ servers: {} }, { directory: daemon.directory });
      try {
        await waitUntil(() => alive().length === 0);
      } finally {
        next.child.kill('SIGKILL');
        await next.ended;
      }
    }));
});
