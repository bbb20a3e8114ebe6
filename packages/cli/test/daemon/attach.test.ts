import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createHome, finished, type Home, json, start, turnbuckle } from '../commands/turnbuckle.js';
import { type RunningDaemon, startDaemon } from './running-daemon.js';

const SERVERS = {
  echo: fixture('echo'),
  lazy: { ...fixture('echo'), start: 'lazy' },
  off: { ...fixture('echo'), enabled: false },
  broken: { command: 'no-such-command-here' },
};

let home: Home;
let daemon: RunningDaemon;
beforeAll(async () => {
  home = await createHome(SERVERS);
  daemon = await startDaemon([], { home });
});
afterAll(() => daemon.stop('SIGKILL'));

const read = async <T>(path: string, token = daemon.token): Promise<T> => {
  const response = await fetch(daemon.url + path, { headers: { authorization: `Bearer ${token}` } });
  return (await response.json()) as T;
};

/** How many calls the daemon has made to a server. */
const callsOf = async (server: string, { url, token }: RunningDaemon = daemon): Promise<number> => {
  const response = await fetch(`${url}/api/servers/${server}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return ((await response.json()) as { calls: { total: number } }).calls.total;
};

const withAndWithout = async (words: readonly string[], stdin?: string) => {
  const options = { home, ...(stdin !== undefined && { stdin }) };
  const attached = await turnbuckle(words, options);
  const { stderr, ...alone } = await turnbuckle([...words, '--no-daemon'], options);
  // A slow connection prints this line, which depends on the machine.
  return { attached, alone: { ...alone, stderr: stderr.replace(/^Connecting.* …\n/, '') } };
};

interface ListedTool {
  readonly name: string;
  readonly estimatedEnergyCost?: number;
}

describe('a command with a running daemon', () => {
  it.each([
    ['call echo echo text=hi'],
    ['call echo add a=1 b:=2'],
    ['call echo fail'],
    ['call echo sleep ms=900 everyMs=100'],
    // Runs longer than the timeout, but reports progress more often than that.
    ['call echo sleep ms=2500 everyMs=50 --timeout 1.5'],
    ['call echo sleep ms=60000 everyMs=60000 --timeout 1.5'],
    ['call lazy echo text=hi --timeout 7200.0001'],
    ['call mcp__echo__echo text=hi'],
    ['call echo ech text=hi'],
    ['call echo add a=1'],
    ['call echo echo text'],
    ['call ecco echo text=hi'],
    ['call off echo text=hi'],
    ['call broken anything'],
    ['call echo'],
    ['tools echo'],
    ['tools echo add --schema'],
    ['tools lazy sleep --ts'],
    ['tools nothing-like-that'],
    ['list echo off lazy'],
    ['list broken'],
    ['list nope'],
    ['resources echo'],
    ['read echo fixture://greeting'],
    ['read echo fixture://nope'],
    ['prompts echo'],
    ['prompt echo greet who=Ada'],
    ['prompt echo greet'],
    ['prompt echo gret'],
  ])('%s prints the same as without it', async (line) => {
    const { attached, alone } = await withAndWithout(line.split(' '));
    expect(attached).toEqual(alone);
  });

  it('suggests --timeout when a call takes too long', async () => {
    const words = 'call echo sleep ms=60000 everyMs=60000 --timeout 0.5'.split(' ');
    for (const { code, stderr } of Object.values(await withAndWithout(words))) {
      expect(code).toBe(19);
      expect(stderr).toContain('increase --timeout');
      expect(stderr).not.toContain('callTimeoutMs');
    }
  });

  it('prints the same JSON', async () => {
    const [attached, alone] = await Promise.all([
      json<ListedTool[]>(['tools', 'echo'], { home }),
      json<ListedTool[]>(['tools', 'echo', '--no-daemon'], { home }),
    ]);
    // The name is the one that agents see: the daemon's, or the library's.
    // The daemon has learned from calls, so its estimates differ.
    const withoutOwn = ({ name: _name, estimatedEnergyCost, ...rest }: ListedTool) => ({
      ...rest,
      hasEstimate: Number(estimatedEnergyCost) > 0,
    });
    expect(attached.map(withoutOwn)).toEqual(alone.map(withoutOwn));
    expect(attached[0]?.name).toMatch(/^echo_/);
    const call = ['call', 'echo', 'add', 'a=1', 'b=2'];
    expect(await json(call, { home })).toEqual(await json([...call, '--no-daemon'], { home }));
  });

  it('has the same error data', async () => {
    type Failed = { readonly error: { readonly data?: object } };
    for (const line of ['call echo rpc_error code=-32050', 'call echo add a=one b=2']) {
      const words = line.split(' ');
      const attached = await json<Failed>(words, { home });
      const alone = await json<Failed>([...words, '--no-daemon'], { home });
      expect(attached.error.data).toBeDefined();
      expect(attached.error.data).toEqual(alone.error.data);
    }
  });

  it('uses the connections of the daemon', async () => {
    const pids = await Promise.all([1, 2].map(() => json<{ pid: number }[]>(['list', 'echo'], { home })));
    expect(new Set(pids.map(([first]) => first?.pid)).size).toBe(1);
    const [own] = await json<{ pid: number }[]>(['list', 'echo', '--no-daemon'], { home });
    expect(own?.pid).not.toBe(pids[0]?.[0]?.pid);
    const { stdout } = await turnbuckle(['ping', 'echo'], { home });
    expect(stdout).toMatch(/^echo responded in [\d.]+ ms/);
  });

  it('reads arguments from stdin', async () => {
    const { attached, alone } = await withAndWithout(
      ['call', 'echo', 'add', '--args-file', '-'],
      '{"a":1,"b":2}',
    );
    expect(attached.stdout).toBe(alone.stdout);
    expect(attached.stdout).toContain('3');
  });

  it.each([
    ['--mcp-server', 'trial=node -e 0'],
    ['--trust-project', ''],
    ['--as', 'claude'],
  ])('opens its own connections with %s', async (flag, value) => {
    const mark = `own${flag.replaceAll('-', '')}`;
    const words = ['call', 'echo', 'echo', `text=${mark}`, flag, value].filter((word) => word !== '');
    const before = await callsOf('echo');
    await turnbuckle(words, { home });
    expect(await json<unknown[]>(['calls', '--search', mark], { home })).toHaveLength(1);
    expect(await callsOf('echo')).toBe(before);
  });

  it("opens its own connections for a project's servers, unless the daemon has them", async () => {
    const own = await createHome(SERVERS);
    await own.write('project/.turnbuckle/mcp.json', { servers: { local: fixture('echo') } });
    const elsewhere = await startDaemon([], { home: own, cwd: own.path });
    const words = ['call', 'local', 'echo', 'text=hi'];
    expect((await turnbuckle(['trust', 'local', '--yes'], { home: own })).code).toBe(0);
    expect((await turnbuckle(words, { home: own })).stdout).toBe('hi\n');
    await elsewhere.stop();
    const there = await startDaemon([], { home: own });
    expect((await turnbuckle(words, { home: own })).stdout).toBe('hi\n');
    const logged = await json<unknown[]>(['calls', '--server', 'local'], { home: own });
    expect(logged).toHaveLength(2);
    expect(await callsOf('local', there)).toBe(1);
    await there.stop();
  });
});

describe('a daemon that does not answer', () => {
  it('is reported on stderr, and the command continues without it', async () => {
    const own = await createHome({ echo: fixture('echo') });
    const { pid } = process;
    const start = (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))
      .split(') ')
      .at(-1)
      ?.split(' ')[19];
    const record = { pid, url: 'http://127.0.0.1:9', started: new Date().toISOString(), version: '0.1.0' };
    await own.write('state/daemon.json', { ...record, process: { start: start ?? '' } });
    const { code, stdout, stderr } = await turnbuckle(['call', 'echo', 'echo', 'text=hi'], { home: own });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hi\n' });
    expect(stderr).toContain('The daemon at http://127.0.0.1:9 does not respond');
    expect((await turnbuckle(['approvals'], { home: own })).code).toBe(17);
  });

  it('that dies during a call makes the outcome of the call unknown', async () => {
    const own = await createHome({ echo: fixture('echo') });
    const dying = await startDaemon([], { home: own });
    const started = await followCalls(dying);
    const call = turnbuckle(['call', 'echo', 'sleep', 'ms=60000'], { home: own });
    await started();
    await dying.stop('SIGKILL');
    const { code, stderr } = await call;
    expect(code).toBe(21);
    expect(stderr).toContain('CALL_OUTCOME_UNKNOWN');
  });
});

/** Returns a function that waits until a call has started in the daemon. */
async function followCalls({ url, token }: RunningDaemon): Promise<() => Promise<void>> {
  const response = await fetch(`${url}/api/events?types=call.started`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const reader = response.body?.getReader();
  return async () => {
    for (let text = ''; !text.includes('call.started'); )
      text += new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel();
  };
}

describe('logs with a running daemon', () => {
  it('shows the earlier output of the server, then new lines, and starts no second server', async () => {
    const { command, args } = fixture('echo');
    const code =
      "let n = 0; setInterval(() => process.stderr.write('line ' + (n += 1) + '\\n'), 50).unref();";
    const first = ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
    const own = await createHome({ noisy: { command, args: [...first, ...args] } });
    const there = await startDaemon([], { home: own });
    const [before] = await json<{ pid: number }[]>(['list'], { home: own });
    const watching = start(['logs', 'noisy'], { home: own });
    let text = '';
    watching.stdout?.on('data', (part: Buffer) => {
      text += part.toString();
    });
    await waitUntil(() => (text.match(/stderr +line/g)?.length ?? 0) > 20, 15_000);
    const { stdout } = await turnbuckle(['logs', 'noisy', '--seconds', '1', '--json'], { home: own });
    for (const line of stdout.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ server: 'noisy' });
    const [after] = await json<{ pid: number }[]>(['list'], { home: own });
    expect(after?.pid).toBe(before?.pid);
    const ended = finished(watching);
    await there.stop();
    expect((await ended).code).toBe(17);
  });
});

describe('MCP_BRIDGE_URL', () => {
  const call = ['call', 'echo', 'echo', 'text=hi'];

  it('selects the bridge that calls go through', async () => {
    const other = await createHome();
    const env = { MCP_BRIDGE_URL: daemon.url, TURNBUCKLE_TOKEN: daemon.token };
    expect((await turnbuckle(call, { home: other, env })).stdout).toBe('hi\n');
    const without = await turnbuckle(call, { home: other, env: { MCP_BRIDGE_URL: daemon.url } });
    expect(without.code).toBe(27);
    expect(without.stderr).toContain('TOKEN_REQUIRED');
    const own = await turnbuckle([...call, '--no-daemon'], { home: other, env });
    expect(own.stderr).toContain('SERVER_UNKNOWN');
  });

  it('works with a token for calls only', async () => {
    const other = await createHome();
    await home.write('.config/turnbuckle/mcp.json', { servers: SERVERS, rules: [{ action: 'allow' }] });
    // Wait for the rule before the token exists: a call that arrives before the rule waits for an approval.
    await waitUntil(async () => (await read<{ rules: unknown[] }>('/api/rules')).rules.length > 0, 15_000);
    const { stdout } = await turnbuckle(['token', 'create', 'caller-only'], { home });
    const env = { MCP_BRIDGE_URL: `${daemon.url}/`, TURNBUCKLE_TOKEN: stdout.trim() };
    let called = await turnbuckle(call, { home: other, env });
    for (let tries = 0; called.code !== 0 && tries < 20; tries += 1)
      called = await turnbuckle(call, { home: other, env });
    expect(called.stdout).toBe('hi\n');
  });

  it('is not silently ignored when it is wrong', async () => {
    const silent = await turnbuckle(call, { home, env: { MCP_BRIDGE_URL: 'http://127.0.0.1:9' } });
    expect(silent.code).toBe(17);
    expect(silent.stderr).toContain('No response from http://127.0.0.1:9');
    const wrong = await turnbuckle(call, { home, env: { MCP_BRIDGE_URL: 'localhost' } });
    expect(wrong.code).toBe(10);
  });

  it("never receives the owner's token of the local daemon", async () => {
    const seen: (string | undefined)[] = [];
    const otherServer = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end('{"error":"no","code":"TOKEN_REQUIRED"}');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void otherServer.close());
    await once(otherServer, 'listening');
    const address = otherServer.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const { code } = await turnbuckle(call, { home, env: { MCP_BRIDGE_URL: `http://127.0.0.1:${port}` } });
    expect(code).toBe(27);
    expect(seen).toEqual([undefined]);
  });
});
