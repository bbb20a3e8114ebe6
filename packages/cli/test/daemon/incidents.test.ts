/** What the daemon reports to its owner: in its log file, on stderr, and in the history. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { fixture, isAlive, startFixture, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHome, type Home, json, turnbuckle } from '../commands/turnbuckle.js';
import { startClientForTest } from './conversation.js';
import { daemonForTest } from './running-daemon.js';

const EVIL = '\u001b[2J\u009b1A\u202e evil';

interface Line {
  readonly level: string;
  readonly kind: string;
  readonly server?: string;
  readonly text: string;
  readonly next?: string;
}

/** With a server that fails, one that is invalid, and one that needs a sign-in. */
async function createTroubledHome(): Promise<Home> {
  const wall = await startFixture('auth-wall', { transport: 'http', flags: ['--status', '401'] });
  onTestFinished(() => wall.stop());
  const script = `process.stderr.write(${JSON.stringify(EVIL)}); process.exit(3)`;
  return createHome({
    dead: { command: process.execPath, args: ['-e', script] },
    wrong: { command: 7 },
    web: { type: 'http', url: wall.url },
    fine: fixture('echo'),
  });
}

async function startInBackground(home: Home, ...words: string[]): Promise<{ log: string }> {
  const started = await json<{ pid: number; log: string }>(['serve', 'start', '--port', '0', ...words], {
    home,
  });
  onTestFinished(() => {
    if (isAlive(started.pid)) process.kill(started.pid, 'SIGKILL');
  });
  return started;
}

const linesOf = (text: string): Line[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

const serversIn = (lines: readonly Line[]): string[] =>
  lines.flatMap(({ server, kind }) => (server === undefined ? [] : [`${server} ${kind}`])).sort();

const TROUBLE = ['dead server-failed', 'web sign-in-needed', 'wrong entry-invalid'];

describe('a daemon in the background', () => {
  // requirement C5
  it('reports each incident once in daemon.log, and the history has it without a daemon and after a restart', async () => {
    const home = await createTroubledHome();
    const { log } = await startInBackground(home);
    const logged = (): Line[] => linesOf(readFileSync(log, 'utf8'));
    await waitUntil(() => serversIn(logged()).length >= 3, 20_000);
    expect((await turnbuckle(['serve', 'status'], { home })).stdout).toContain(`Log file: ${log}\n`);
    expect(await json(['serve', 'status'], { home })).toMatchObject({ log });
    expect((await turnbuckle(['serve', 'stop'], { home })).code).toBe(0);
    expect(serversIn(logged())).toEqual(TROUBLE);
    for (const { server, next } of logged()) if (server !== undefined) expect(next).toContain('turnbuckle ');
    expect(readFileSync(log, 'utf8')).not.toMatch(/[^\n\x20-\x7e]/);

    expect(serversIn(await json(['incidents'], { home }))).toEqual(TROUBLE);
    expect(await json(['incidents', 'web'], { home })).toMatchObject([{ kind: 'sign-in-needed' }]);
    expect(await json(['incidents', '--level', 'error'], { home })).toHaveLength(2);
    expect(await json(['incidents', '--since', '1h', '--limit', '1'], { home })).toMatchObject([
      { kind: 'daemon-stopped' },
    ]);
    const shown = await turnbuckle(['incidents', 'web'], { home });
    expect(shown.stdout).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d warn {2}AUTH_REQUIRED .+\n {6}Next: .*turnbuckle login web.*\n$/,
    );
    await startInBackground(home);
    expect((await json<Line[]>(['incidents', '--limit', '100'], { home })).slice(0, 2)).toMatchObject([
      { kind: 'entry-invalid' },
      { kind: 'daemon-started' },
    ]);
    await turnbuckle(['serve', 'stop'], { home });
  });

  it('keeps its log small, and one previous part of it', async () => {
    const home = await createHome({ fine: fixture('echo') });
    await mkdir(home.file('state'), { mode: 0o700 });
    const file = home.file('state/daemon.log');
    const line = `${JSON.stringify({ level: 'info', text: 'x'.repeat(90) })}\n`;
    writeFileSync(file, line.repeat(Math.ceil((5 * 1_024 * 1_024) / line.length)));
    const before = statSync(file).size;
    const { log } = await startInBackground(home);
    await turnbuckle(['serve', 'stop'], { home });
    expect(log).toBe(file);
    expect(linesOf(readFileSync(log, 'utf8')).map(({ kind }) => kind)).toEqual([
      'daemon-started',
      'daemon-stopped',
    ]);
    expect(statSync(`${file}.1`).size).toBe(before);
  });

  it('keeps its level when it is restarted', async () => {
    const home = await createHome({ fine: fixture('echo') });
    const { log } = await startInBackground(home, '--log-level', 'error');
    await turnbuckle(['serve', 'restart'], { home });
    await turnbuckle(['serve', 'stop'], { home });
    expect(readFileSync(log, 'utf8')).toBe('');
  });

  it('repeats invalid entries when it is started', async () => {
    const home = await createHome({ wrong: { command: 7 } });
    const { stderr, code } = await turnbuckle(['serve', 'start', '--port', '0'], { home });
    onTestFinished(async () => {
      await turnbuckle(['serve', 'stop'], { home });
    });
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^warning .*servers\.wrong\.command: expected a string.* turnbuckle doctor wrong$/m,
    );
  });
});

describe('a daemon in the foreground', () => {
  it('writes lines of JSON to stderr when that is no terminal', async () => {
    const home = await createTroubledHome();
    const daemon = await daemonForTest([], { home });
    await waitUntil(
      async () => serversIn(await json(['incidents', '--limit', '100'], { home })).length >= 3,
      20_000,
    );
    const { stderr } = await daemon.stop();
    expect(serversIn(linesOf(stderr))).toEqual(TROUBLE);
    expect(await json(['incidents', 'nothing'], { home })).toEqual([]);
  });

  it('rejects a level that does not exist before it starts', async () => {
    const home = await createHome();
    for (const words of [['serve'], ['serve', 'start'], ['bridge']]) {
      const { code, stderr } = await turnbuckle([...words, '--log-level', 'loud'], { home });
      expect([words, code]).toEqual([words, 13]);
      expect(stderr).toContain('Invalid --log-level "loud"');
      expect(stderr).toContain('error, warn, info, debug');
    }
    const { code, stderr } = await turnbuckle(['incidents', '--level', 'debug'], { home });
    expect([code, stderr]).toEqual([13, expect.stringContaining('error, warn, info')]);
  });
});

it('serve --stdio without a daemon writes readable lines to stderr, and keeps the incidents', async () => {
  const home = await createTroubledHome();
  const client = startClientForTest(['serve', '--stdio'], { home });
  await waitUntil(() => (client.stderr().match(/^ {6}Next: /gm)?.length ?? 0) >= 3, 20_000);
  expect(await client.close()).toBe(0);
  const lines = client.stderr().trim().split('\n');
  const said = lines.filter((line) => /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (error|warn ) /.test(line));
  expect(said).toHaveLength(3);
  expect(client.stderr()).not.toMatch(/[^\n\x20-\x7e]/);
  expect(client.messages()).toEqual([]);
  expect(serversIn(await json(['incidents'], { home }))).toEqual(TROUBLE);
});

it('commands other than the daemon do not load the logger', async () => {
  const home = await createHome({ fine: fixture('echo') });
  const hook = await home.write(
    'hook.cjs',
    `process.on('exit', () => {
      const loaded = Object.keys(require.cache).filter((file) => /pino/.test(file));
      require('node:fs').writeFileSync(process.env.LOADED_FILE, JSON.stringify(loaded));
    });`,
  );
  const env = {
    NODE_OPTIONS: `--require ${hook}`,
    NODE_DISABLE_COMPILE_CACHE: '1',
    LOADED_FILE: home.file('loaded'),
  };
  const loaded = async (...words: string[]): Promise<string[]> => {
    await turnbuckle(words, { home, env });
    return JSON.parse(await home.read('loaded')) as string[];
  };
  for (const words of [['list'], ['token', 'list'], ['calls'], ['incidents'], ['serve', 'status']])
    expect([words, await loaded(...words)]).toEqual([words, []]);
  const daemon = await daemonForTest([], { home, env });
  await daemon.stop();
  expect(JSON.parse(await home.read('loaded'))).not.toEqual([]);
});

it('says that there are no incidents', async () => {
  const home = await createHome();
  const { code, stdout, stderr } = await turnbuckle(['incidents'], { home });
  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).toContain('No incidents. The daemon, "turnbuckle bridge" and "turnbuckle serve --stdio"');
  expect((await turnbuckle(['incidents', 'nope'], { home })).stderr).toBe(
    'No incidents for server "nope".\n',
  );
});
