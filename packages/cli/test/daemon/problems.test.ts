/** When a file breaks, the daemon keeps its previous content, and every command that goes through the daemon warns. */
import { readFile } from 'node:fs/promises';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Home, json, turnbuckle } from '../commands/turnbuckle.js';
import { type RunningDaemon, startDaemon } from './running-daemon.js';

let home: Home;
let daemon: RunningDaemon;
let good: string;
beforeAll(async () => {
  home = await createHome({ echo: fixture('echo'), files: fixture('echo') });
  good = await readFile(home.config, 'utf8');
  daemon = await startDaemon([], { home });
});
afterAll(() => daemon.stop('SIGKILL'));

const problems = async (): Promise<readonly string[]> =>
  (await json<{ problems: string[] }>(['serve', 'status'], { home })).problems;

async function write(text: string, isBroken: boolean): Promise<void> {
  await home.write('.config/turnbuckle/mcp.json', text);
  await waitUntil(async () => (await problems()).length > 0 === isBroken, 20_000);
}

const COMMANDS: ReadonlyArray<readonly [line: string, code: number]> = [
  ['list', 0],
  ['status --json', 0],
  ['tools', 0],
  ['tools --json', 0],
  ['call echo echo text=hi', 0],
  ['call echo echo text=hi --json', 0],
  ['call echo no-such-tool', 12],
  ['ping echo', 0],
  ['resources', 0],
  ['prompts', 0],
  ['logs echo --seconds 0.1', 0],
  ['approvals', 0],
  ['serve status', 0],
];

describe('while a file is broken', () => {
  beforeAll(() => write(good.slice(0, -2), true));
  afterAll(() => write(good, false));

  it.each(COMMANDS)('turnbuckle %s warns and still works', async (line, expected) => {
    const words = line.split(' ');
    const { code, stdout, stderr } = await turnbuckle(words, { home });
    expect(stderr).toMatch(new RegExp(`^warning ${home.config}:\\d+:\\d+: .+$`, 'm'));
    expect(stderr).toContain('The previous content of the file is still in effect.');
    expect(stdout).not.toContain('warning');
    if (words.includes('--json')) expect(() => JSON.parse(stdout)).not.toThrow();
    expect(code).toBe(expected);
  });

  it('config and doctor tell programs by their exit code', async () => {
    for (const words of [['config'], ['config', '--json'], ['doctor']])
      expect([words, (await turnbuckle(words, { home })).code]).toEqual([words, 10]);
  });

  it.each(['import', 'export --to cursor --file -', 'trust', 'setup zed', 'rules'])(
    'turnbuckle %s, which reads the files itself, warns once',
    async (line) => {
      const { stderr } = await turnbuckle(line.split(' '), { home });
      const [first = ''] = await problems();
      expect(stderr.split(first)).toHaveLength(2);
    },
  );

  it('sends no problem count to a token without read access', async () => {
    const { stdout } = await turnbuckle(['token', 'create', 'agent'], { home });
    const get = (token: string) =>
      fetch(`${daemon.url}/tools`, { headers: { authorization: `Bearer ${token}` } });
    await waitUntil(async () => (await get(stdout.trim())).status === 200);
    expect((await get(stdout.trim())).headers.get('turnbuckle-problems')).toBeNull();
    expect((await get(daemon.token)).headers.get('turnbuckle-problems')).toMatch(/^[1-9]$/);
  });
});

it('warns about a server that keeps its previous configuration because its entry is invalid', async () => {
  const { servers } = JSON.parse(good);
  await write(JSON.stringify({ servers: { ...servers, echo: { command: 7 } } }), true);
  const { code, stdout, stderr } = await turnbuckle(['call', 'echo', 'echo', 'text=hi'], { home });
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'hi\n' });
  expect(stderr).toContain(`warning ${home.config}:`);
  expect(stderr).toContain('Server "echo" keeps its previous configuration.');
  expect((await turnbuckle(['config', 'echo'], { home })).code).toBe(10);
  expect((await turnbuckle(['config', 'files'], { home })).code).toBe(0);
  await write(good, false);
});

it('says what replaces an invalid rule, and applies the rest', async () => {
  const { servers } = JSON.parse(good);
  const rules = [{ action: 'deny', server: 'files' }, { action: 'alow' }, { action: 'allow', tol: 'x' }];
  await write(JSON.stringify({ servers: { only: servers.echo }, rules }), true);
  const { stdout, stderr } = await turnbuckle(['list'], { home });
  expect(stdout).toContain('only');
  expect(stdout).not.toContain('files');
  expect(stderr).toMatch(
    /rules\[1\].action: .*every call that no earlier rule matches requires approval, including your own\)/,
  );
  expect(stderr).toMatch(/rules\[2\].tol: .*this rule is ignored\)/);
  expect(stderr).not.toMatch(/keeps its previous|is still in effect/);
  await write(good, false);
});

it('keeps the previous value of a setting that became invalid, and says so', async () => {
  const { servers } = JSON.parse(good);
  await write(JSON.stringify({ servers, pins: 'all' }), false);
  await write(JSON.stringify({ servers, pins: 'everything' }), true);
  expect((await turnbuckle(['list'], { home })).stderr).toContain(
    'The previous value of "pins" is still in effect.',
  );
  await write(good, false);
});

it('prints no warning while nothing is broken', async () => {
  for (const [line] of COMMANDS.filter(([, code]) => code === 0)) {
    const { stderr } = await turnbuckle(line.split(' '), { home });
    expect([line, stderr.includes('warning')]).toEqual([line, false]);
  }
  expect((await turnbuckle(['config'], { home })).code).toBe(0);
});

it('the daemon reports a broken file at once', async () => {
  const other = await createHome({ echo: fixture('echo') });
  const running = await startDaemon([], { home: other });
  let stderr = '';
  running.child.stderr?.on('data', (part: Buffer) => {
    stderr += part.toString();
  });
  await other.write('.config/turnbuckle/mcp.json', '{');
  await waitUntil(() => stderr.includes('"kind":"config-problem"') && stderr.includes('"config-reloaded"'));
  expect(stderr).toContain(`"text":"${other.config}:`);
  expect(stderr).toContain('The previous content of the file is still in effect.');
  await running.stop();
});
