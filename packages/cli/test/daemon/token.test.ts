import { fixture, waitUntil } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { createHome, type Home, json, turnbuckle } from '../commands/turnbuckle.js';
import { daemonForTest, post, stateOf } from './running-daemon.js';

let home: Home;
beforeEach(async () => {
  home = await createHome({ echo: fixture('echo') });
});

const token = (...words: string[]) => turnbuckle(['token', ...words], { home });

describe('token', () => {
  it('is printed once, alone, and stored nowhere', async () => {
    const { code, stdout, stderr } = await token(
      'create',
      'ci',
      '--capability',
      'mcp_echo',
      '--access',
      'call,read',
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^tbk_[\w-]{40,}\n$/);
    expect(stderr).not.toContain(stdout.trim());
    expect(await home.read('state/tokens.json')).not.toContain(stdout.trim());
    const listed = await json<{ name: string }[]>(['token', 'list'], { home });
    expect(listed).toMatchObject([
      { name: 'ci', access: ['call', 'read'], can: ['mcp_echo'] },
      { name: 'owner', access: ['call', 'read', 'admin'] },
    ]);
    expect((await token('list')).stdout).not.toContain(stdout.trim());
  });

  it.each([
    ['mcp_ecoh', 'Did you mean "mcp_echo"?'],
    ['mcp:ecoh/add', 'Did you mean "mcp:echo"?'],
    ['mcp_elsewhere', 'List the servers: turnbuckle list'],
    ['mcp_echo', undefined],
    ['mcp_echo_add', undefined],
    ['mcp:echo/add', undefined],
    ['mcp:native', undefined],
    ['mcp_integration', undefined],
    ['mcp_steward', undefined],
    ['mcp_stewrad', 'List the servers: turnbuckle list'],
  ])('for %s warns when there is no such server', async (can, said) => {
    const { code, stderr } = await token('create', 'ci', '--capability', can);
    expect(code).toBe(0);
    if (said === undefined) expect(stderr).not.toContain('warning');
    else expect(stderr).toMatch(new RegExp(`warning .*no server named .*${said.replace('?', '\\?')}`));
  });

  it.each([
    [['create', 'a b'], 13],
    [['create', 'ci', '--access', 'everything'], 13],
    [['create', 'ci', '--expires', 'soon'], 13],
    [['create', 'ci', '--expires', '5'], 13],
    [['list', 'ci'], 13],
    [['create', 'ci', '--expires', '2001-01-01'], 13],
    [['create', 'ci', '--capability', 'anything'], 13],
    [['create', 'owner'], 12],
    [['create'], 13],
    [['revoke', 'nobody'], 13],
    [['remove', 'ci'], 13],
    [[], 13],
  ])('%j is refused', async (words, exit) => {
    const { code, stdout, stderr } = await token(...words);
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
    expect(stderr).toContain('error ');
  });

  it.each([
    [
      ['create', 'ci', '--capability', 'mcp_a', '--capability', 'nonsense'],
      'Invalid --capability "nonsense": expected a capability',
    ],
    [['create', 'a b'], 'Invalid token name "a b": expected at most 64 characters (letters'],
  ])('%j is refused with the option names of the command line', async (words, message) => {
    const { stderr } = await token(...words);
    expect(stderr).toContain(message);
    expect(stderr).toContain('turnbuckle token create');
    expect(stderr).not.toMatch(/can\.\d|these keys/);
  });

  it('is accepted by a running daemon, and rejected when it is revoked', async () => {
    const daemon = await daemonForTest([], { home });
    const made = (await token('create', 'ci')).stdout.trim();
    const status = async (): Promise<number> =>
      (await fetch(`${daemon.url}/tools`, { headers: { authorization: `Bearer ${made}` } })).status;
    await waitUntil(async () => (await status()) === 200);
    expect((await token('revoke', 'ci')).code).toBe(0);
    await waitUntil(async () => (await status()) === 401);
  });

  it('is valid until it expires', async () => {
    const daemon = await daemonForTest([], { home });
    const soon = new Date(Date.now() + 10_000).toISOString();
    const made = (await token('create', 'short', '--expires', soon)).stdout.trim();
    const status = async (): Promise<number> =>
      (await fetch(`${daemon.url}/tools`, { headers: { authorization: `Bearer ${made}` } })).status;
    await waitUntil(async () => (await status()) === 200);
    await waitUntil(async () => (await status()) === 401, 30_000);
    const [short] = await json<{ name: string; expiresAt: string }[]>(['token', 'list'], { home }).then(
      (all) => all.filter(({ name }) => name === 'short'),
    );
    expect(short?.expiresAt).toBe(soon);
    expect((await token('list')).stdout).toContain('expired');
  }, 60_000);

  it('of the owner is replaced when it is revoked, and commands use the new one', async () => {
    const daemon = await daemonForTest([], { home });
    await token('revoke', 'owner');
    await waitUntil(async () => (await post(daemon, '/mcp/call', {})).status === 401);
    expect((await turnbuckle(['call', 'echo', 'echo', 'text=hi'], { home })).stdout).toBe('hi\n');
    expect(stateOf({ home })).toContain('state');
  });
});
