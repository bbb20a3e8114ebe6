import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fixture, processesWithEnvironment, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { describe, expect, onTestFinished } from 'vitest';
import { parseServer } from '../../src/config/layers/parse.js';
import { toSandboxPolicy } from '../../src/config/schema/sandbox-schema.js';
import { confine } from '../../src/connection/sandbox/confine.js';
import { ONCE, openRuntime } from '../lifecycle/open-runtime.js';
import { startHost } from '../processes/host.js';
import { attempt, confined, createStage, factsOf } from './stage.js';

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));
/** A server and four descendants, all of which resist termination. */
const PROCESSES = 5;

async function createStubborn() {
  const directory = await temporaryDirectory();
  const mark = randomUUID();
  const marked = (): number[] => processesWithEnvironment('CYCLE', mark);
  onTestFinished(async () => {
    for (const pid of marked()) process.kill(pid, 'SIGKILL');
    await directory.remove();
  });
  const file = directory.file('pids');
  const server = {
    ...fixture('stubborn', '--pid-file', file, '--life-ms', '60000'),
    env: { CYCLE: mark },
    reconnect: ONCE,
    sandbox: { read: [REPOSITORY], write: [directory.path] },
  };
  const isUp = (): boolean =>
    existsSync(file) && readFileSync(file, 'utf8').split('\n').length - 1 === PROCESSES;
  return { directory, mark, marked, server, isUp };
}

describe('a server in a sandbox that resists termination', () => {
  confined('ends with all its processes when the runtime closes', async () => {
    const { marked, server, isUp } = await createStubborn();
    const runtime = await openRuntime({ servers: { server } });
    await runtime.connectAll();
    expect(runtime.serverStatus('server').error).toBeUndefined();
    await waitUntil(isUp);
    expect(marked().length).toBe(PROCESSES);
    await runtime.close();
    expect(marked()).toEqual([]);
  });

  confined('ends when its sandbox is killed', async () => {
    const { marked, server, isUp } = await createStubborn();
    const runtime = await openRuntime({ servers: { server } });
    await runtime.connectAll();
    await waitUntil(isUp);
    process.kill(runtime.serverStatus('server').pid ?? 0, 'SIGKILL');
    await waitUntil(() => runtime.serverStatus('server').status === 'failed');
    await waitUntil(() => marked().length === 0);
  });

  confined.each(['close', 'SIGTERM', 'exit', 'throw', 'SIGKILL'] as const)(
    'ends however its host ends, without a sweep: %s',
    async (ending) => {
      const { directory, mark, marked, server, isUp } = await createStubborn();
      const host = startHost({ servers: { server }, stateDir: directory.file('state'), ending, mark });
      try {
        expect((await host.said('READY')).status).toEqual(['connected']);
        await waitUntil(isUp, 10_000);
        expect(marked().length).toBe(PROCESSES);
        if (ending.startsWith('SIG')) host.process.kill(ending as NodeJS.Signals);
        else host.go();
        if (ending === 'close') {
          expect(await host.said('CLOSED')).toMatchObject({ left: 0 });
          host.process.stdin?.end();
        }
        await host.ended;
        await waitUntil(() => marked().length === 0);
      } finally {
        host.process.kill('SIGKILL');
      }
    },
  );
});

confined('a sandbox ends with the process that started it, even if no sweep would find it', async () => {
  const { server, stateDir, environment } = await createStage();
  const mark = randomUUID();
  const env = { MARK: mark, PATH: process.env.PATH ?? '' };
  const config = parseServer('sleeper', { ...server(true), command: 'sleep', args: ['60'] });
  const policy = toSandboxPolicy(true);
  if (config.type !== 'stdio' || policy === undefined) throw new Error('not what it was made for');
  const { command, args, toPreamble } = await confine({
    server: 'sleeper',
    config,
    policy,
    env,
    environment,
    stateDir,
  });
  const program = `
    const [command, args, preamble] = JSON.parse(process.argv[1]);
    const child = require('node:child_process').spawn(command, args, {
      env: {}, detached: true, stdio: ['pipe', 'ignore', 'inherit', 'pipe'],
    });
    child.stdio[3].end(preamble);`;
  const host = spawn(process.execPath, ['-e', program, JSON.stringify([command, args, toPreamble(env)])], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const marked = (): number[] => processesWithEnvironment('MARK', mark);
  onTestFinished(() => {
    for (const pid of marked()) process.kill(pid, 'SIGKILL');
  });
  await waitUntil(() => marked().length > 0);
  host.kill('SIGKILL');
  await waitUntil(() => marked().length === 0);
});

confined('a server in a sandbox gets SIGTERM before SIGKILL', async () => {
  const { open, server, project } = await createStage();
  await mkdir(join(project, 'data'));
  const farewell = join(project, 'data', 'farewell');
  const runtime = await open(undefined);
  await runtime.setServers({ probe: { ...server({ write: ['data'] }), args: ['server.mjs', farewell] } });
  expect(await attempt(runtime, 'read', { path: join(project, 'file') })).toHaveProperty('done');
  await runtime.close();
  expect(await readFile(farewell, 'utf8')).toBe('left in order');
});

confined('the tag by which a sweep finds processes is passed into the sandbox', async () => {
  const { open } = await createStage();
  const runtime = await open('standard');
  const { TURNBUCKLE_TAG = '' } = (await factsOf(runtime)).environment;
  const tagged = processesWithEnvironment('TURNBUCKLE_TAG', TURNBUCKLE_TAG);
  // The sandbox's two processes and the server.
  expect(tagged.length).toBe(3);
  expect(tagged).toContain(runtime.serverStatus('probe').pid);
});
