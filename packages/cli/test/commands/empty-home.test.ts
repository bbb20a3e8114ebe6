/** With an empty or relative HOME or XDG variable, the current directory is not used as the user's own. */
import { existsSync } from 'node:fs';
import { fixture } from '@turnbuckle/testing';
import { beforeAll, expect, it } from 'vitest';
import { createHome, type Home, turnbuckle } from './turnbuckle.js';

let home: Home;
beforeAll(async () => {
  home = await createHome();
  const servers = { strange: fixture('echo') };
  for (const below of ['.config/turnbuckle', 'turnbuckle', 'here/turnbuckle', 'here/.config/turnbuckle'])
    await home.write(`project/${below}/mcp.json`, { servers });
  await home.write('project/.cursor/mcp.json', { mcpServers: {} });
  await home.write('project/.claude.json', { mcpServers: {} });
});

const EMPTY = ['', 'here', '.'];
// These commands start no server: the fallback home may belong to the person who runs the tests.
const LINES = [
  ['list', '--no-connect', '--json'],
  ['config', '--json'],
  ['setup', '--json'],
];

it.each(LINES.flatMap((words) => EMPTY.map((value) => [words, value] as const)))(
  '%j with HOME and XDG_* = %j',
  async (words, value) => {
    const env = { HOME: value, XDG_CONFIG_HOME: value, XDG_STATE_HOME: value, XDG_DATA_HOME: value };
    const { stdout, stderr } = await turnbuckle(words, { home, env });
    expect(stdout).not.toMatch(/strange|"user",\s+"file": "[^"]*\/project\/|"\.cursor|"\.claude/);
    expect(stderr).not.toContain('strange');
  },
);

it('an empty TURNBUCKLE_STATE_DIR is not the current directory', async () => {
  const env = { TURNBUCKLE_STATE_DIR: '' };
  await home.write('project/.turnbuckle/mcp.json', { servers: { own: fixture('echo') } });
  expect((await turnbuckle(['trust', 'own', '--yes'], { home, env })).code).toBe(0);
  expect((await turnbuckle(['secrets', 'set', 'x'], { home, env, stdin: 'value' })).code).toBe(0);
  for (const name of ['trust.json', 'trusted.json', 'vault.json', 'vault.key'])
    expect([name, existsSync(home.file(`project/${name}`))]).toEqual([name, false]);
  expect(existsSync(home.file('.local/state/turnbuckle'))).toBe(true);
});

it.each([['list'], ['trust'], ['secrets', 'list'], ['calls'], ['serve', 'status'], ['token', 'list']])(
  'a relative TURNBUCKLE_STATE_DIR is refused: %s',
  async (...words) => {
    const { code, stderr } = await turnbuckle(words, { home, env: { TURNBUCKLE_STATE_DIR: 'state' } });
    expect([code, stderr]).toEqual([10, expect.stringContaining('TURNBUCKLE_STATE_DIR is not an absolute')]);
  },
);
