import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chown, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { canLimitProcesses } from '../../src/connection/sandbox/sandbox-support.js';
import { attempt, BUBBLEWRAP, confined, createStage, type Stage } from './stage.js';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** Memory that Node.js 24 and newer reserve at start. */
const RESERVED_MB = Number(process.versions.node.split('.')[0]) >= 24 ? 768 : 0;

describe('limits of a sandbox', () => {
  confined('memory: allocations within the limit succeed, others fail', async () => {
    const { open } = await createStage();
    const memoryMb = 512 + RESERVED_MB;
    const runtime = await open({ memoryMb });
    expect(await attempt(runtime, 'allocate', { megabytes: 128 })).toEqual({ done: 128 });
    const outcome = await attempt(runtime, 'allocate', { megabytes: 2 * memoryMb }).catch(() => ({
      failed: 'ended',
    }));
    expect(outcome).toHaveProperty('failed');
    expect(runtime.serverStatus('probe').config).toMatchObject({ sandbox: { memoryMb } });
  });

  confined('the minimum memory is enough for a Node.js server', async () => {
    const { open } = await createStage();
    expect((await open({ memoryMb: 128 + RESERVED_MB })).serverStatus('probe').status).toBe('connected');
  });

  confined('files in memory are limited', async () => {
    const { open } = await createStage();
    const runtime = await open({ home: 'empty' });
    for (const path of ['/tmp/much', '/dev/shm/much'])
      expect(await attempt(runtime, 'fill', { path, megabytes: 300 })).toEqual({ failed: 'ENOSPC' });
  });

  confined('CPU time: a server that uses more is ended', async () => {
    const { open } = await createStage();
    const runtime = await open({ cpuSeconds: 2 });
    await expect(runtime.callTool('probe', 'spin', {}, { timeoutMs: 20_000 })).rejects.toMatchObject({
      code: expect.stringMatching(/^(SERVER_EXITED|CONNECTION_LOST|CALL_OUTCOME_UNKNOWN)$/),
    });
  });

  it.skipIf(confined !== it || canLimitProcesses())(
    'processes: a server with a limit is not started if it cannot be enforced',
    async () => {
      const { open } = await createStage();
      const asked = (await open({ processes: 64 })).serverStatus('probe');
      expect(asked).toMatchObject({
        status: 'failed',
        pid: undefined,
        error: { code: 'SANDBOX_UNAVAILABLE' },
      });
      expect(asked.error?.message).toContain('root');
      const unasked = (await open('standard')).serverStatus('probe');
      expect(unasked).toMatchObject({ status: 'connected', sandbox: { processes: undefined } });
    },
  );
});

/** Runs the program as a user other than root: the process limit does not apply to root. */
async function asUser(stage: Stage, program: string, argument: unknown): Promise<unknown> {
  const host = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { createRuntime } from 'turnbuckle';${program}`,
      JSON.stringify(argument),
    ],
    {
      env: { PATH: process.env.PATH, HOME: stage.home },
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
      ...(isRoot && { uid: NOBODY, gid: NOBODY }),
    },
  );
  const [said] = await Promise.all([text(host.stdout), once(host, 'close')]);
  return JSON.parse(said);
}

/** Makes the other user the owner of all files of the stage. */
async function handOver({ home }: Stage): Promise<void> {
  if (!isRoot) return;
  const root = dirname(home);
  await chown(root, NOBODY, NOBODY);
  for (const entry of await readdir(root, { recursive: true }))
    await chown(join(root, entry), NOBODY, NOBODY);
}

/** The other user must be able to read this repository, and to use a sandbox. */
const canBeUser =
  confined === it &&
  (!isRoot ||
    spawnSync(BUBBLEWRAP, ['--unshare-user', '--ro-bind', '/', '/', 'ls', import.meta.dirname], {
      uid: NOBODY,
      gid: NOBODY,
    }).status === 0);

it.skipIf(!canBeUser)('processes: no more than the limit, whatever else its user runs', async () => {
  const stage = await createStage();
  await handOver(stage);
  const { stateDir, environment, server } = stage;
  const options = { stateDir, environment, servers: { probe: server({ processes: 40 }) } };
  const program = `
    const runtime = await createRuntime(JSON.parse(process.argv[1]));
    await runtime.connectAll();
    const { status, sandbox, error } = runtime.serverStatus('probe');
    const forks = error ? String(error) : (await runtime.callTool('probe', 'fork', { count: 100 })).content[0].text;
    console.log(JSON.stringify({ status, sandbox, forks }));
    await runtime.close();`;
  const outcome = await asUser(stage, program, options);
  expect(outcome).toMatchObject({ status: 'connected', sandbox: { processes: 40, inForce: true } });
  const { forks } = outcome as { forks: string };
  const { done } = JSON.parse(forks);
  expect(done).toBeGreaterThan(0);
  expect(done).toBeLessThan(40);
});
