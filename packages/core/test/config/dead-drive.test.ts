/** A drive that does not respond delays only operations on that drive, and those not for long. */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { temporaryDirectory, timeBound } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';

const run = promisify(execFile);
const SCRIPT = new URL('dead-drive.mjs', import.meta.url).pathname;
/** A FUSE file system whose program never responds, in its own mount namespace. */
const MOUNT = `exec 3<>/dev/fuse && mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none "$1" || exit 77
  shift; "$@"`;

async function onDeadDrive(drive: string, ...command: string[]): Promise<string> {
  const args = ['-rm', 'bash', '-c', MOUNT, 'bash', drive, ...command];
  const { stdout } = await run('unshare', args, { timeout: 60_000, killSignal: 'SIGKILL' }).catch((error) => {
    // The script kills itself instead of waiting for its threads.
    if (error.stdout === '') throw error;
    return error as { stdout: string };
  });
  return stdout;
}

const canMount = async (drive: string): Promise<boolean> =>
  onDeadDrive(drive, 'echo', 'mounted').then(
    (text) => text.includes('mounted'),
    () => false,
  );

it('a dead drive stops no server of another, no reload and no edit', { timeout: 90_000 }, async (context) => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const [drive, home] = [directory.file('drive'), directory.file('home')];
  for (const one of [drive, home]) mkdirSync(one);
  if (!(await canMount(drive))) return context.skip('no such drive can be mounted here');
  const { outcomes, longestMs } = JSON.parse(await onDeadDrive(drive, process.execPath, SCRIPT, drive, home));
  expect(outcomes).toEqual({
    cwd: expect.stringMatching(/^CONNECT_FAILED .*timed out\. Check that the drive/),
    command: expect.stringMatching(/^CONNECT_FAILED .*timed out\. Check that the drive/),
    path: expect.stringMatching(/^CONNECT_FAILED .*timed out\. Check that the drive/),
    load: expect.stringMatching(/^CONFIG_INVALID .*may not be available/),
    follow: 'done',
    edit: expect.stringMatching(/^CONFIG_INVALID .*ETIMEDOUT/),
  });
  expect(longestMs).toBeLessThan(timeBound(250));
});
