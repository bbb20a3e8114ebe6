import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fixture } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';

const NAMESPACE_OPTIONS = ['--user', '--map-root-user', '--mount'];
const canMount =
  process.platform === 'linux' &&
  spawnSync('unshare', [...NAMESPACE_OPTIONS, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
const reason = canMount ? '' : ' (skipped: it needs unshare and mount, and the right to use them)';
const BIN = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));
const PROGRAM = fileURLToPath(new URL('full-disk-space.sh', import.meta.url));

type How = 'full' | 'read-only' | 'full-at-start' | 'read-only-at-start';

/** The output of each step, with its exit code in the first line. */
async function play(how: How): Promise<Readonly<Record<string, string>>> {
  const [server = ''] = fixture('echo').args;
  const { stdout } = await promisify(execFile)(
    'unshare',
    [...NAMESPACE_OPTIONS, 'sh', PROGRAM, BIN, server, how],
    {
      maxBuffer: 1e7,
    },
  );
  const steps = stdout.split(/^== /m).slice(1);
  return Object.fromEntries(
    steps.map((step) => [step.slice(0, step.search(/\s/)), step.slice(step.search(/\s/) + 1)]),
  );
}

describe.skipIf(!canMount)(`a disk that takes no more writes${reason}`, () => {
  it.each([
    ['full', 'the disk is full (ENOSPC)'],
    ['read-only', 'the disk is read-only (EROFS)'],
  ] as const)(
    'while the daemon runs: calls still work, creating a token fails with a code, the daemon ends cleanly: %s',
    async (how, why) => {
      const { before, token, api, call, stop, left } = await play(how);
      expect(before).toMatch(/^exit 0\nhi/);
      expect(token).toMatch(/^exit 24\nerror SECRETS_UNAVAILABLE /);
      expect(token).toContain(why);
      expect(api).toContain('"code":"SECRETS_UNAVAILABLE"');
      expect(api).toContain(why);
      expect(call).toMatch(/^exit 0\nhi/);
      expect(stop).toMatch(/^exit 0\n/);
      expect(stop).not.toMatch(/^\s+at /m);
      expect(left?.trim()).toBe('');
    },
    180_000,
  );

  it.each([
    ['full-at-start', 'the disk is full (ENOSPC)'],
    ['read-only-at-start', 'the disk is read-only (EROFS)'],
  ] as const)(
    'when the daemon starts is reported: %s',
    async (how, why) => {
      const { start = '' } = await play(how);
      expect(start).toMatch(/^exit 10\nerror CONFIG_INVALID Cannot use the state directory /);
      expect(start).toContain(why);
      expect(start).not.toMatch(/^\s+at /m);
    },
    120_000,
  );
});
