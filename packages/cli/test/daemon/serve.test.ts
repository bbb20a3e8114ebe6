import { execFile, spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fixture, freePort, isAlive, waitUntil } from '@turnbuckle/testing';
import { createRuntime } from 'turnbuckle';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  BIN,
  createHome,
  environmentOf,
  finished,
  type Home,
  json,
  type RunOptions,
  start,
  turnbuckle,
} from '../commands/turnbuckle.js';
import { callUnderWay, daemonForTest, stateOf } from './running-daemon.js';

const run = promisify(execFile);
const HAS_CURL = spawnSync('curl', ['--version']).status === 0;

let home: Home;
beforeEach(async () => {
  home = await createHome({ echo: fixture('echo') });
});

/** Everything on stdout up to the curl command and the empty line after it. */
async function printed(child: ReturnType<typeof start>): Promise<string> {
  let text = '';
  child.stdout?.on('data', (part: Buffer) => {
    text += part.toString();
  });
  await waitUntil(() => /\n\n$/.test(text) && text.includes('curl'), 15_000);
  return text;
}

describe('serve in the foreground', () => {
  it.skipIf(!HAS_CURL)('prints a curl command that works unchanged and shows no token', async () => {
    const child = start(['serve', '--demo', '--port', '0'], { home });
    onTestFinished(() => void child.kill('SIGKILL'));
    const text = await printed(child);
    const line = text.split('\n').find((one) => one.startsWith('curl ')) ?? '';
    const { stdout } = await run('sh', ['-c', `${line} -s`]);
    expect(JSON.parse(stdout)).toMatchObject({ success: true, result: { structuredContent: { sum: 5 } } });
    const token = (await readFile(join(stateOf({ home }), 'daemon-token'), 'utf8')).trim();
    expect(text).not.toContain(token);
    expect(text).toMatch(/MCP endpoint +http:\/\/127\.0\.0\.1:\d+\/mcp\n/);
  });

  it('reads its port from PORT, and reports a used or invalid port', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await waitUntil(() => taken.listening);
    const address = taken.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const [busy, wrong, bridge] = await Promise.all([
      turnbuckle(['serve'], { home, env: { PORT: port } }),
      turnbuckle(['serve', '--port', '70000'], { home: await createHome() }),
      turnbuckle(['bridge'], { home: await createHome(), env: { PORT: port } }),
    ]);
    expect(busy.code).toBe(29);
    expect(busy.stderr).toContain(`LISTEN_FAILED Cannot listen on 127.0.0.1 port ${port}`);
    expect(bridge.stderr).toContain(`port ${port}`);
    expect(wrong.code).toBe(13);
    expect(wrong.stderr).toContain('Invalid --port "70000": expected a port.');
  });

  it('on 0.0.0.0 is reached over 127.0.0.1', async () => {
    const daemon = await daemonForTest(['--host', '0.0.0.0'], { home });
    expect(daemon.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const [echo] = await json<{ pid: number }[]>(['list'], { home });
    const [again] = await json<{ pid: number }[]>(['list'], { home });
    expect(again?.pid).toBe(echo?.pid);
  });

  it.each([
    ['0.0.0.0', true],
    ['::', true],
    ['127.0.0.1', false],
    ['localhost', false],
    ['127.0.0.2', false],
  ])('on %s warns when other machines can reach it: %s', async (host, isOpen) => {
    const daemon = await daemonForTest(['--host', host], { home });
    const port = new URL(daemon.url).port;
    const shown = await turnbuckle(['serve', 'status'], { home });
    const { listensAt } = await json<{ listensAt?: string }>(['serve', 'status'], { home });
    const { stderr } = await daemon.stop();
    const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    expect(stderr.includes(`"text":"The daemon listens on ${address}. Other machines can reach it`)).toBe(
      isOpen,
    );
    expect(shown.stdout.includes(`It listens on http://${address}`)).toBe(isOpen);
    expect(listensAt).toBe(isOpen ? `http://${address}` : undefined);
  });

  it('in the background repeats that other machines can reach it', async () => {
    const { stderr } = await turnbuckle(['serve', 'start', '--host', '0.0.0.0', '--port', '0'], { home });
    await turnbuckle(['serve', 'stop'], { home });
    expect(stderr).toContain('Other machines can reach it, and the traffic is not encrypted');
  });

  it('refuses a second daemon for the same state directory, and names the first', async () => {
    const daemon = await daemonForTest([], { home });
    const second = await turnbuckle(['serve', '--port', '0'], { home });
    expect(second.code).toBe(29);
    expect(second.stderr).toContain(`process ${daemon.pid}, at ${daemon.url}`);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'finishes running calls after %s, and exits with 0',
    async (signal) => {
      const daemon = await daemonForTest([], { home });
      const { rest } = await callUnderWay(daemon, 1_500);
      const ended = daemon.stop(signal);
      expect(await rest).toMatch(/event: result\ndata: {"success":true/);
      expect((await ended).code).toBe(0);
      expect(existsSync(join(stateOf({ home }), 'daemon.json'))).toBe(false);
    },
  );

  it('stops immediately at the second signal', async () => {
    const daemon = await daemonForTest([], { home });
    const { rest } = await callUnderWay(daemon, 60_000);
    const lost = rest.then(
      () => 'answered',
      () => 'lost',
    );
    const ended = daemon.stop('SIGTERM');
    const isRefused = (): Promise<boolean> =>
      fetch(`${daemon.url}/health`).then(
        () => false,
        () => true,
      );
    await waitUntil(isRefused);
    daemon.child.kill('SIGTERM');
    expect((await ended).code).toBe(143);
    expect(await lost).toBe('lost');
  });

  it('keeps a configured server named demo, and says that it skips its own demo server', async () => {
    const own = await createHome({ demo: fixture('echo') });
    const child = start(['serve', '--demo', '--port', '0'], { home: own });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = finished(child);
    // The printed command uses no tool of the demo server, which this one may not have.
    expect(await printed(child)).toMatch(/^curl .*\/tools$/m);
    expect((await turnbuckle(['call', 'demo', 'cwd'], { home: own })).code).toBe(0);
    child.kill('SIGTERM');
    expect((await ended).stderr).toContain('Skipping the demo server because ');
  });

  it('replaces its demo server by an added server of that name, and restores it when that is removed', async () => {
    await daemonForTest(['--demo'], { home });
    const tools = async (): Promise<number> =>
      (await turnbuckle(['tools', 'demo'], { home })).stdout.trim().split('\n').length;
    expect(await tools()).toBe(3);
    const { command, args } = fixture('echo');
    expect((await turnbuckle(['add', 'demo', '--', command, ...args], { home })).code).toBe(0);
    await waitUntil(async () => (await tools()) > 3, 20_000);
    expect((await turnbuckle(['remove', 'demo'], { home })).code).toBe(0);
    await waitUntil(async () => (await tools()) === 3, 20_000);
  });

  it('leaves no server running', async () => {
    const daemon = await daemonForTest([], { home });
    const { pid } = await json<{ pid: number }[]>(['list'], { home }).then(([first]) => first ?? { pid: 0 });
    expect(isAlive(pid)).toBe(true);
    await daemon.stop();
    expect(isAlive(pid)).toBe(false);
  });
});

describe('serve in the background', () => {
  it('starts, reports its status, restarts and stops', async () => {
    const started = await json<{ url: string; pid: number; log: string }>(
      ['serve', 'start', '--demo', '--port', '0'],
      { home },
    );
    onTestFinished(() => {
      if (isAlive(started.pid)) process.kill(started.pid, 'SIGKILL');
    });
    const shown = await turnbuckle(['serve', 'status'], { home, env: { TZ: 'Asia/Kolkata' } });
    expect(shown.stdout).toMatch(
      /\nLog file: \S+daemon\.log\npid \d+, running since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n\d of 2 servers are connected(, \d (is|are) connecting)?\. /,
    );
    expect(await json(['serve', 'status'], { home })).toMatchObject({
      running: true,
      answers: true,
      url: started.url,
      pid: started.pid,
    });
    const again = await turnbuckle(['serve', 'start', '--port', '0'], { home });
    expect(again.code).toBe(29);
    expect(again.stderr).toContain(`DAEMON_RUNNING`);
    const called = await turnbuckle(['call', 'demo', 'add', 'a=1', 'b=2'], { home });
    expect(called.stdout).toBe('3\n');
    const restarted = await json<{ pid: number }>(['serve', 'restart', '--port', '0'], { home });
    expect(restarted.pid).not.toBe(started.pid);
    expect(isAlive(started.pid)).toBe(false);
    const stopped = await turnbuckle(['serve', 'stop'], { home });
    expect(stopped.code).toBe(0);
    expect(isAlive(restarted.pid)).toBe(false);
    expect((await turnbuckle(['serve', 'status'], { home })).code).toBe(3);
    expect((await turnbuckle(['serve', 'stop'], { home })).code).toBe(0);
    expect(await readFile(started.log, 'utf8')).toMatch(
      /"kind":"daemon-started","text":"Turnbuckle \S+ is running at /,
    );
  });

  it('outlives the server whose shell started it', async () => {
    const { command, args } = fixture('echo');
    const script = `"$1" "$2" serve start --port 0 --json > "$3"; shift 3; exec "$@"`;
    const server = {
      command: 'sh',
      args: ['-c', script, 'sh', process.execPath, BIN, home.file('started.json'), command, ...args],
      env: environmentOf(home),
      connectTimeoutMs: 60_000,
    };
    const runtime = await createRuntime({ servers: { shell: server }, stateDir: home.file('outer') });
    onTestFinished(() => runtime.close());
    await runtime.connectAll();
    expect(runtime.serverStatus('shell')).toMatchObject({ status: 'connected' });
    const { pid } = JSON.parse(await home.read('started.json'));
    onTestFinished(() => {
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    if (existsSync('/proc/self/environ'))
      expect(await readFile(`/proc/${pid}/environ`, 'utf8')).not.toContain('TURNBUCKLE_TAG');
    await runtime.close();
    expect(await json(['serve', 'status'], { home })).toMatchObject({ running: true, answers: true, pid });
    expect((await turnbuckle(['serve', 'stop'], { home })).code).toBe(0);
  }, 120_000);

  it('restarts with the same options and directory, unless others are given', async () => {
    const port = String(await freePort());
    await home.write('project/more.json', { servers: { more: fixture('echo') } });
    await home.write('elsewhere/other.json', { servers: { other: fixture('echo') } });
    const elsewhere = { home, cwd: home.file('elsewhere') };
    const serve = async (words: readonly string[], options: RunOptions): Promise<string> =>
      (await json<{ url: string }>(['serve', ...words], options)).url;
    onTestFinished(async () => {
      await turnbuckle(['serve', 'stop'], { home });
    });
    const names = async (): Promise<string[]> =>
      (await json<{ name: string }[]>(['list'], { home })).map(({ name }) => name).sort();
    const url = await serve(['start', '--demo', '--config', 'more.json'], { home, env: { PORT: port } });
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(await serve(['restart'], elsewhere)).toBe(url);
    expect(await names()).toEqual(['demo', 'echo', 'more']);
    const { stdout: directory } = await turnbuckle(['call', 'echo', 'cwd'], { home });
    expect(directory.trim()).toBe(realpathSync(home.project));
    expect(await serve(['restart', '--port', '0', '--config', 'other.json'], elsewhere)).not.toBe(url);
    expect(await names()).toEqual(['demo', 'echo', 'other']);
    // Options given to restart replace the earlier ones for later restarts.
    await serve(['restart'], { home });
    expect(await names()).toEqual(['demo', 'echo', 'other']);
    expect((await turnbuckle(['serve', 'stop'], { home })).code).toBe(0);
    // A daemon that is not running leaves no options behind.
    await serve(['restart', '--port', '0'], { home });
    expect(await names()).toEqual(['echo']);
  });

  it('repeats the warnings of its start', async () => {
    await home.write('.config/turnbuckle/mcp.json', {
      servers: { echo: fixture('echo') },
      daemon: { log: { keepdays: 3 } },
    });
    onTestFinished(async () => {
      await turnbuckle(['serve', 'stop'], { home });
    });
    const { code, stdout, stderr } = await turnbuckle(['serve', 'start', '--port', '0'], { home });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('Turnbuckle is running at'),
    });
    expect(stderr).toMatch(/^warning .*keepdays/m);
    const again = await turnbuckle(['serve', 'restart', '--port', '0', '--json'], { home });
    expect(JSON.parse(again.stdout)).toMatchObject({ warnings: [expect.stringContaining('keepdays')] });
    expect(again.stderr).toMatch(/^warning .*keepdays/m);
  });

  it('reports why it does not start', async () => {
    const { code, stdout, stderr } = await turnbuckle(['serve', 'start', '--host', '203.0.113.1'], { home });
    expect(code).toBe(29);
    expect(stdout).toBe('');
    expect(stderr).toContain('LISTEN_FAILED');
  });

  it('does not mistake another process with the recorded pid for the daemon', async () => {
    const { pid } = start(['demo-server'], { home });
    onTestFinished(() => void (pid !== undefined && isAlive(pid) && process.kill(pid, 'SIGKILL')));
    const record = { pid, url: 'http://127.0.0.1:9', started: new Date().toISOString(), version: '0.1.0' };
    await home.write('state/daemon.json', { ...record, process: { ...record, start: '1', space: 'x' } });
    expect((await turnbuckle(['serve', 'status'], { home })).code).toBe(3);
  });
});

describe('serve with wrong arguments', () => {
  it('suggests the subcommand', async () => {
    const { code, stderr } = await turnbuckle(['serve', 'stat'], { home });
    expect(code).toBe(13);
    expect(stderr).toContain('turnbuckle serve start');
  });

  it.each([
    [['--view', 'small'], '--view requires --stdio'],
    [['start', '--view', 'small'], '--view requires --stdio'],
    [['start', '--stdio'], '--stdio'],
    [['--stdio', '--demo'], '--demo'],
    [['--stdio', '--port', '0'], '--port'],
  ])('refuses %j: one of them would have no effect', async (words, named) => {
    const { code, stdout, stderr } = await turnbuckle(['serve', ...words], { home });
    expect({ code, stdout }).toEqual({ code: 13, stdout: '' });
    expect(stderr).toContain(named);
    expect(existsSync(join(stateOf({ home }), 'daemon.json'))).toBe(false);
  });

  it('help does not list demo-server', async () => {
    const { stdout } = await finished(start(['--help'], { home }));
    expect(stdout).toContain('serve');
    expect(stdout).not.toContain('demo-server');
  });
});
