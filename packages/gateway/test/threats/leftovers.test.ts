/** Servers that do not want to end, with children that do not either: none outlives what it was started for. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fixture, processesWithEnvironment, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { type ChildDaemon, childDaemon } from './child-daemon.js';

/** A server, one child in its group, one detached, one behind a shell and the shell. */
const FAMILY = 5;
const OTHER = fixture('echo');

/** A server that ignores every signal that can be ignored; `mark` finds it and all that it starts. */
const stubborn = (mark: string) => ({
  ...fixture('stubborn', '--life-ms', '60000'),
  env: { LEFT: mark },
});
const marked = (mark: string): number[] => processesWithEnvironment('LEFT', mark);

interface Family {
  readonly mark: string;
  readonly daemon: ChildDaemon;
}

/** A daemon with such a server, for the length of the work. */
async function withFamily(work: (family: Family) => Promise<void>): Promise<void> {
  const mark = randomUUID();
  const daemon = await childDaemon({ servers: { old: stubborn(mark), other: OTHER } });
  try {
    expect(await daemon.call('old', 'pid')).toMatchObject({ success: true });
    await waitUntil(() => marked(mark).length === FAMILY);
    await work({ daemon, mark });
  } finally {
    await daemon.remove();
    for (const pid of marked(mark)) process.kill(pid, 'SIGKILL');
  }
}

/** Children of a process that have ended and that it has not taken note of. */
function zombiesOf(parent: number): number {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/stat`, 'utf8');
      } catch {
        return '';
      }
    });
  return stats.filter((stat) => stat.slice(stat.lastIndexOf(')') + 2).startsWith(`Z ${parent} `)).length;
}

describe.skipIf(process.platform !== 'linux').concurrent('nothing is left of a stubborn server', () => {
  it('when it is taken out of the configuration, and the daemon goes on', () =>
    withFamily(async ({ daemon, mark }) => {
      writeFileSync(daemon.directory.file('mcp.json'), JSON.stringify({ servers: { other: OTHER } }));
      await waitUntil(() => marked(mark).length === 0, 15_000);
      await waitUntil(() => zombiesOf(daemon.pid) === 0);
      expect(await daemon.call('old', 'pid')).toMatchObject({ code: 'SERVER_UNKNOWN' });
      expect(await daemon.call('other', 'echo', { text: 'on' })).toMatchObject({ success: true });
    }));

  it('when the daemon is told to end', () =>
    withFamily(async ({ daemon, mark }) => {
      daemon.child.kill('SIGTERM');
      expect(await daemon.ended).toBe(0);
      expect(marked(mark)).toEqual([]);
    }));

  it('when the daemon was killed, and is started again', () =>
    withFamily(async ({ daemon, mark }) => {
      daemon.child.kill('SIGKILL');
      expect(await daemon.ended).toBe('SIGKILL');
      const next = await childDaemon({ servers: { other: OTHER } }, daemon.directory);
      try {
        await waitUntil(() => marked(mark).length === 0);
      } finally {
        next.child.kill('SIGKILL');
        await next.ended;
      }
    }));
});
