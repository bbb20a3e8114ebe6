import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { attempt, confined, createStage, factsOf, type Sandbox } from './stage.js';

/** Listens on loopback and counts connections. */
async function startCanary(): Promise<{ port: number; visits: () => number }> {
  let visits = 0;
  const canary = createServer((socket) => {
    visits += 1;
    socket.destroy();
  });
  canary.listen(0, '127.0.0.1');
  await once(canary, 'listening');
  onTestFinished(() => void canary.close());
  const address = canary.address();
  return { port: typeof address === 'object' && address !== null ? address.port : 0, visits: () => visits };
}

confined.each<[name: string, sandbox: Sandbox]>([
  ['offline', 'offline'],
  ['strict', { preset: 'strict', read: ['server.mjs'] }],
  ['network: false', { network: false }],
])('%s: no network, not even loopback of the host', async (_, sandbox) => {
  const { open } = await createStage();
  const { port, visits } = await startCanary();
  const runtime = await open(sandbox);
  expect(await attempt(runtime, 'connect', { port })).toEqual({ failed: 'ECONNREFUSED' });
  expect(await attempt(runtime, 'lookup', { name: 'turnbuckle.example' })).toEqual({
    failed: expect.stringMatching(/^(EAI_AGAIN|ENOTFOUND)$/),
  });
  expect(visits()).toBe(0);
  expect(runtime.serverStatus('probe').sandbox).toMatchObject({ network: false });
});

confined.each<[name: string, sandbox: Sandbox]>([
  ['standard', 'standard'],
  ['network: true', { preset: 'strict', read: ['server.mjs'], network: true }],
])('%s: the network is that of the host', async (_, sandbox) => {
  const { open } = await createStage();
  const { port, visits } = await startCanary();
  const runtime = await open(sandbox);
  expect(await attempt(runtime, 'connect', { port })).toEqual({ done: 'connected' });
  expect(await attempt(runtime, 'lookup', { name: 'localhost' })).toHaveProperty('done');
  expect(visits()).toBe(1);
});

confined('no other process is visible, and there are no privileges and no way to gain any', async () => {
  const { open } = await createStage();
  const other = spawn('sleep', ['600'], { env: { ...process.env, SECRET_OF_ANOTHER: 'x' } });
  onTestFinished(() => void other.kill());
  const runtime = await open('standard');
  const { processes, status } = await factsOf(runtime);
  expect(processes.length).toBeLessThanOrEqual(2);
  expect(JSON.stringify(processes)).not.toContain('sleep');
  expect(await attempt(runtime, 'read', { path: `/proc/${other.pid}/environ` })).toHaveProperty('failed');
  for (const set of ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
    expect(status).toMatch(new RegExp(`^${set}:\\t0+$`, 'm'));
  expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  expect(await attempt(runtime, 'nest')).not.toEqual({ done: 0 });
  // Root owns the kernel settings: with `core_pattern` it could run programs outside.
  for (const path of ['/proc/sys/kernel/core_pattern', '/proc/sys/vm/swappiness', '/proc/self/oom_score_adj'])
    expect(await attempt(runtime, 'openToWrite', { path })).toEqual({
      failed: expect.stringMatching(/^(EROFS|EACCES)$/),
    });
});

confined('its environment is the same as without a sandbox, and in no process list', async () => {
  const host = { LANG: 'C.UTF-8', ANTHROPIC_API_KEY: 'a key of the host', LD_PRELOAD: '/no/such.so' };
  const { open, project } = await createStage();
  const seen: unknown[] = [];
  for (const sandbox of [undefined, 'standard'] as const) {
    const runtime = await open(sandbox, { env: { OWN: 'sandbox-env-canary' }, environment: host });
    const { environment, descriptors } = await factsOf(runtime);
    const { TURNBUCKLE_TAG, PWD, ...rest } = environment;
    expect(TURNBUCKLE_TAG).toEqual(expect.any(String));
    expect(PWD).toBe(sandbox === undefined ? undefined : project);
    seen.push(rest);
    // 0 to 2 are its pipes; the others are opened by Node.js itself, or closed.
    for (const [number, target] of Object.entries(descriptors).filter(([number]) => Number(number) > 2))
      expect([number, target ?? 'anon_inode']).toEqual([
        number,
        expect.stringMatching(/^(anon_inode|pipe:|\/dev\/null$)/),
      ]);
    const { pid = 0 } = runtime.serverStatus('probe');
    const family = [pid, ...childrenOf(pid)];
    for (const one of family) expect(readFileSync(`/proc/${one}/cmdline`, 'utf8')).not.toContain('canary');
  }
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[0]).toMatchObject({ OWN: 'sandbox-env-canary', LANG: 'C.UTF-8' });
  expect(JSON.stringify(seen)).not.toContain('a key of the host');
});

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  return children.map(Number).flatMap((child) => [child, ...childrenOf(child)]);
}

confined('libraries that a server preloads are loaded only inside', async () => {
  const { open, project } = await createStage();
  const library = join(project, 'evil.so');
  const runtime = await open('standard', { env: { LD_PRELOAD: library } });
  const { pid = 0, stderr } = runtime.serverStatus('probe');
  // The process outside does not have the variable; the loader reports the invalid file only inside.
  expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toMatch(/^TURNBUCKLE_TAG=[^\0]*\0?$/);
  expect(stderr).toContain('evil.so');
  expect((await factsOf(runtime)).environment.LD_PRELOAD).toBe(library);
});

// requirement C11
it.skipIf(process.platform !== 'linux')(
  'open files that the host inherited are not passed on, with or without a sandbox',
  async () => {
    const { project, stateDir, environment, server } = await createStage();
    const servers = [undefined, ...(confined === it ? ['standard' as const] : [])].map((sandbox) => ({
      ...server(sandbox),
      name: sandbox ?? 'plain',
    }));
    const program = `
      import { createRuntime } from 'turnbuckle';
      const runtime = await createRuntime(JSON.parse(process.argv[1]));
      await runtime.connectAll();
      for (const { name } of runtime.status()) {
        const { content } = await runtime.callTool(name, 'facts');
        console.log(JSON.stringify(JSON.parse(content[0].text).done.descriptors));
      }
      await runtime.close();`;
    const directory = openSync(project, 'r');
    // Node.js would mark descriptors below 16, and all others up to the first gap, as close-on-exec.
    const stdio = ['ignore', 'pipe', 'inherit', ...Array<'ignore'>(74).fill('ignore'), directory] as const;
    const options = JSON.stringify({ servers, stateDir, environment });
    const host = spawn(process.execPath, ['--input-type=module', '-e', program, options], {
      env: { PATH: process.env.PATH },
      cwd: import.meta.dirname,
      stdio: [...stdio],
    });
    closeSync(directory);
    let said = '';
    host.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await once(host, 'close');
    const lines = said.trim().split('\n');
    expect(lines.length).toBe(servers.length);
    for (const line of lines) {
      expect(line).not.toContain(project);
      expect(JSON.parse(line)).toMatchObject({ 77: '/dev/null' });
    }
  },
);
