import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@turnbuckle/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { INSIDE, INSIDE_ANSWERS, PUBLIC_ADDRESS } from './inside-addresses.js';

const SPACE = ['--user', '--map-root-user', '--net'];
const succeeds = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;
const hasSpace =
  process.platform === 'linux' && succeeds('unshare', ...SPACE, 'ip', 'link', 'set', 'lo', 'up');
const reason = hasSpace
  ? ''
  : ' (skipped: a network of its own needs unshare and ip, and the right to use them)';
const hasOpenssl = succeeds('openssl', 'version');

interface Attempt {
  readonly url: string;
  readonly outcome: string;
  readonly found: readonly string[];
}
type Way = 'direct' | 'redirected' | 'named' | 'rebound';
type Report = Record<Way, Attempt[]> & { reachable: string[]; secured?: string; otherName?: string };

async function reportOf(directory: string): Promise<Report> {
  const certificate = { key: join(directory, 'key.pem'), file: join(directory, 'certificate.pem') };
  if (hasOpenssl) {
    const request =
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=public.example';
    const name = ['-addext', 'subjectAltName=DNS:public.example'];
    const files = ['-keyout', certificate.key, '-out', certificate.file];
    execFileSync('openssl', [...request.split(' '), ...name, ...files], { stdio: 'ignore' });
  }
  const table = {
    hosts: INSIDE.map(([host]) => host),
    answers: INSIDE_ANSWERS,
    publicAddress: PUBLIC_ADDRESS,
    certificate: hasOpenssl ? certificate : undefined,
  };
  const program = fileURLToPath(new URL('network-space.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(
    'unshare',
    [...SPACE, process.execPath, program, JSON.stringify(table)],
    { env: { ...process.env, ...(hasOpenssl && { NODE_EXTRA_CA_CERTS: certificate.file }) }, maxBuffer: 1e8 },
  );
  return JSON.parse(stdout) as Report;
}

describe.skipIf(!hasSpace)(`in a network where every address answers${reason}`, () => {
  let report: Report | undefined;
  beforeAll(async () => {
    const directory = await temporaryDirectory();
    report = await reportOf(directory.path).finally(() => directory.remove());
  });
  const attempts = (way: Way): Attempt[] => report?.[way] ?? [];

  it('control: internal addresses reach the canary', () => {
    expect(report?.reachable).toEqual(
      expect.arrayContaining([
        '127.0.0.1',
        '::1',
        '10.0.0.1',
        '169.254.169.254',
        '0.0.0.0',
        'fd00:ec2::254',
        '2002:7f00:1::',
      ]),
    );
    expect(report?.reachable.length).toBeGreaterThan(40);
  });

  it.each(['direct', 'redirected', 'named'] as const)('no address reaches it: %s', (way) => {
    expect(attempts(way).length).toBeGreaterThanOrEqual(40);
    expect(attempts(way).filter(({ found }) => found.length > 0)).toEqual([]);
    const refusals = attempts(way).map(({ outcome }) => outcome);
    expect(refusals.filter((outcome) => outcome !== 'address' && outcome !== 'scheme')).toEqual([]);
  });

  it('a name that resolves differently later leads to the address that was checked', () => {
    expect(attempts('rebound').length).toBeGreaterThanOrEqual(80);
    for (const { found } of attempts('rebound')) expect(found).toEqual([PUBLIC_ADDRESS]);
  });

  it.skipIf(!hasOpenssl)('a public server is reached by its name, and only with its certificate', () => {
    expect([report?.secured, report?.otherName]).toEqual(['secured', 'ERR_TLS_CERT_ALTNAME_INVALID']);
  });
});
