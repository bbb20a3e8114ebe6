/** Nothing of a tested server is left: not after a test, not after a test that was cancelled or took too long. */
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import {
  fixture,
  isAlive,
  processesWithEnvironment,
  readPids,
  rounds,
  timeBound,
  waitUntil,
} from '@turnbuckle/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TestServerOptions, testServer } from '../../src/quarantine/test-server.js';
import { ownDirectory, textsOf, tryServer, writeServer } from './stage.js';

const onLinux = it.skipIf(process.platform !== 'linux');

/** A server whose processes are found by a variable, wherever they are. */
function marked(entry: { command: string; args: string[] }) {
  const mark = randomUUID();
  return {
    entry: { ...entry, env: { QUARANTINE_MARK: mark } },
    running: () => processesWithEnvironment('QUARANTINE_MARK', mark),
  };
}

async function settings(): Promise<Pick<TestServerOptions, 'name' | 'stateDir' | 'sandbox'>> {
  const { path } = await ownDirectory();
  return { name: 'tested', stateDir: path, sandbox: 'where-available' };
}

// requirement E4
describe('after a test', () => {
  onLinux('a server that ignores signals is gone, with its children', async () => {
    const { entry, running } = marked(fixture('stubborn'));
    const options = await settings();
    const report = await testServer({ ...options, entry });
    expect(report.tools.length).toBeGreaterThan(0);
    expect(running()).toEqual([]);
    expect(readdirSync(options.stateDir)).toEqual([]);
  });

  onLinux('the same without a sandbox', async () => {
    const directory = await ownDirectory();
    for (const program of ['sh', 'sleep']) await symlink(`/bin/${program}`, directory.file(program));
    const { entry, running } = marked(fixture('stubborn', '--pid-file', directory.file('pids')));
    const report = await testServer({ ...(await settings()), entry, path: directory.path });
    expect(report).toMatchObject({ sandboxed: false, verdict: 'warn' });
    const pids = Object.values(readPids(directory.file('pids')));
    expect(pids.length).toBeGreaterThanOrEqual(4);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(running()).toEqual([]);
  });

  onLinux('a child without the variables of its server is gone too', async () => {
    const directory = await ownDirectory();
    const pidFile = directory.file('pid');
    const entry = await writeServer({
      setUp: `import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'], { detached: true, stdio: 'ignore', env: {} });
child.unref();
writeFileSync(${JSON.stringify(pidFile)}, 'child ' + child.pid);`,
    });
    await tryServer(entry, { path: '/nowhere' });
    expect(readPids(pidFile).child).toBeGreaterThan(0);
    await waitUntil(() => !isAlive(readPids(pidFile).child ?? 0));
  });
});

describe('a test that is cancelled', () => {
  onLinux('ends all processes within a second, whenever that happens', async () => {
    const servers = [fixture('stubborn'), fixture('slow', '--answer-ms', '40'), fixture('echo')];
    const property = fc.asyncProperty(fc.nat(2), fc.nat(500), async (index, afterMs) => {
      const { entry, running } = marked(servers[index] ?? fixture('echo'));
      const options = await settings();
      const signal = AbortSignal.timeout(afterMs);
      let abortedAt = Number.POSITIVE_INFINITY;
      signal.addEventListener('abort', () => {
        abortedAt = performance.now();
      });
      const ended = await testServer({ ...options, entry, signal }).then(
        () => 'done',
        (error: { code: string }) => error.code,
      );
      expect(['done', 'CALL_CANCELLED']).toContain(ended);
      expect(running()).toEqual([]);
      expect(performance.now() - abortedAt).toBeLessThan(timeBound(1_000));
      expect(readdirSync(options.stateDir)).toEqual([]);
    });
    await fc.assert(property, { numRuns: rounds(40, 10), endOnFailure: true });
  });

  it('before it began starts nothing', async () => {
    const { entry, running } = marked(fixture('echo'));
    const testing = testServer({ ...(await settings()), entry, signal: AbortSignal.abort() });
    await expect(testing).rejects.toMatchObject({ code: 'CALL_CANCELLED', server: 'tested' });
    if (process.platform === 'linux') expect(running()).toEqual([]);
  });
});

describe('a test that takes too long', () => {
  it('reports what it found until then', async () => {
    const entry = await writeServer({ onCall: 'return new Promise(() => {});' });
    const report = await tryServer(entry, { limits: { totalMs: 2_000, callMs: 60_000 } });
    expect(textsOf(report, 'warn')).toMatch(/test: The test was stopped after 2000 ms/);
    expect(report.tools.map(({ name }) => name)).toEqual(['good_one']);
  });

  it('fails if the server never started', async () => {
    const report = await tryServer(fixture('slow', '--start-ms', '60000'), { limits: { totalMs: 500 } });
    expect(report.verdict).toBe('fail');
    expect(textsOf(report, 'fail')).toMatch(/stopped after 500 ms/);
  });
});
