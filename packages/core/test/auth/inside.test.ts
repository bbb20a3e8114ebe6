import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@turnbuckle/testing';
import { beforeAll, describe, expect, it } from 'vitest';

const SPACE = ['--user', '--map-root-user', '--net'];
const succeeds = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;
const hasSpace =
  process.platform === 'linux' &&
  succeeds('unshare', ...SPACE, 'ip', 'link', 'set', 'lo', 'up') &&
  succeeds('openssl', 'version');
const reason = hasSpace ? '' : ' (skipped: it needs openssl, unshare and ip, and the right to use them)';
const CERTIFICATE =
  'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=public -addext subjectAltName=IP:93.184.215.14';

interface Attempt {
  readonly home: string;
  readonly spot: string;
  readonly target: string;
  readonly reached: number;
  readonly found: readonly string[];
  readonly pages: readonly string[];
  readonly code?: string;
  readonly asked: readonly string[];
}
interface Report {
  readonly control: ReadonlyArray<{ target: string; found: readonly string[] }>;
  readonly attempts: readonly Attempt[];
  readonly honest: readonly Attempt[];
}

describe.skipIf(!hasSpace)(`S20: in a network where every address answers${reason}`, () => {
  let report: Report | undefined;
  beforeAll(async () => {
    const directory = await temporaryDirectory();
    const [key, certificate] = [directory.file('key.pem'), directory.file('certificate.pem')];
    execFileSync('openssl', [...CERTIFICATE.split(' '), '-keyout', key, '-out', certificate], {
      stdio: 'ignore',
    });
    const program = fileURLToPath(new URL('inside-space.mjs', import.meta.url));
    const { stdout } = await promisify(execFile)(
      'unshare',
      [...SPACE, process.execPath, program, key, certificate],
      { maxBuffer: 1e8, env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate } },
    );
    await directory.remove();
    report = JSON.parse(stdout) as Report;
  }, 180_000);

  it('the canary can be found, and a legitimate sign-in succeeds', () => {
    expect(report?.control.filter(({ found }) => found.length === 0)).toEqual([]);
    // The server never accepts the token, so the sign-in fails: only the requests matter here.
    for (const { asked } of report?.honest ?? [])
      expect(asked).toEqual(expect.arrayContaining(['/register', '/authorize', '/token', '/revoke']));
  });

  it('no text of a server leads a sign-in to it: 14 places, 4 targets next to the server, 5 far from it', () => {
    expect(report?.attempts.length).toBe(14 * 4 + 14 * 5);
    expect(report?.attempts.filter(({ reached }) => reached === 0)).toEqual([]);
    expect(report?.attempts.filter(({ found }) => found.length > 0)).toEqual([]);
    expect(report?.attempts.filter(({ pages, target }) => pages.includes(target))).toEqual([]);
  });
});
