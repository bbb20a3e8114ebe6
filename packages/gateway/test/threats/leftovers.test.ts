/** Servers that do not want to end, with children that do not either: none outlives what it was started for. */
import { existsSync, writeFileSync } from 'node:fs';
import { fixture, isAlive, readPids, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { type ChildDaemon, childDaemon } from './child-daemon.js';

/** A server, one child in its group, one detached, a shell, and one behind it: none heeds a signal that it may ignore. */
const FAMILY = ['server', 'same-group', 'detached', 'shell', 'behind-shell'];

interface Family {
  readonly daemon: ChildDaemon;
  /** The process id of the server itself. */
  readonly server: number;
  /** Those of the family that live. */
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
  it('when it is taken out of the configuration, and the daemon goes on', () =>
    withFamily(async ({ daemon, server, alive }) => {
      writeFileSync(daemon.directory.file('mcp.json'), '{ "servers": {} }');
      await waitUntil(() => alive().length === 0, 15_000);
      // Nor as a zombie, which only its parent can take away.
      await waitUntil(() => !existsSync(`/proc/${server}`));
      expect(await daemon.call('old', 'pid')).toMatchObject({ code: 'SERVER_UNKNOWN' });
    }));

  it('when the daemon is told to end', () =>
    withFamily(async ({ daemon, alive }) => {
      daemon.child.kill('SIGTERM');
      expect(await daemon.ended).toBe(0);
      expect(alive()).toEqual([]);
    }));

  it('when the daemon was killed, and is started again', () =>
    withFamily(async ({ daemon, alive }) => {
      daemon.child.kill('SIGKILL');
      expect(await daemon.ended).toBe('SIGKILL');
      const next = await childDaemon({ servers: {} }, daemon.directory);
      try {
        await waitUntil(() => alive().length === 0);
      } finally {
        next.child.kill('SIGKILL');
        await next.ended;
      }
    }));
});
