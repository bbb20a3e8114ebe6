/** Entries that setup wrote into other tools' files are never imported: the daemon would be a server of itself. */
import { mkdir, symlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { beforeEach, describe, expect, it } from 'vitest';
import { AGENT_CLIENTS } from '../../src/setup/agent-clients.js';
import { daemonForTest } from '../daemon/running-daemon.js';
import { BIN, createHome, type Home, json, turnbuckle } from './turnbuckle.js';

let home: Home;
beforeEach(async () => {
  home = await createHome({});
});

const run = (...words: string[]) => turnbuckle(words, { home });
const names = async (cwd = home.project): Promise<string[]> => {
  await turnbuckle(['import', '--yes'], { home, cwd });
  const { servers } = JSON.parse(await home.read('.config/turnbuckle/mcp.json'));
  return Object.keys(servers);
};

describe('after setup of every client', () => {
  it.each([
    ['by URL', []],
    ['by command, with a view', ['--stdio', '--view', 'small']],
  ])(
    '%s, import skips the entries of Turnbuckle',
    async (_how, words) => {
      await home.write('.config/turnbuckle/mcp.json', { servers: {}, daemon: { views: { small: {} } } });
      for (const { id } of AGENT_CLIENTS)
        expect([id, (await run('setup', id, '--yes', ...words)).code]).toEqual([id, 0]);
      for (const cwd of [home.project, home.path]) {
        const { code, stderr } = await turnbuckle(['import', '--yes'], { home, cwd });
        expect(code).toBe(0);
        expect(stderr).toContain('turnbuckle from cursor');
        expect(stderr).toMatch(/skipped because its (URL is the URL of|command starts) Turnbuckle itself/);
        expect(stderr).not.toContain(': new');
        expect(await names(cwd)).toEqual([]);
      }
      expect(await json(['import', '--yes', '--scope', 'project'], { home })).toEqual({ imported: [] });
    },
    240_000,
  );
});

it('recognises the URL of the running daemon, with any port and spelling', async () => {
  const { url } = await daemonForTest([], { home });
  const { port } = new URL(url);
  await home.write('.cursor/mcp.json', {
    mcpServers: {
      a: { url: `http://localhost:${port}/mcp` },
      b: { url: `HTTP://127.0.0.1:${port}/mcp/` },
      c: {
        command: 'npx',
        args: ['-y', 'mcp-remote@latest', `http://[::1]:${port}/mcp`, '--not-known-here'],
      },
      other: { url: 'http://localhost:1/mcp' },
    },
  });
  expect(await names()).toEqual(['other']);
});

const OURS: Readonly<Record<string, Record<string, unknown>>> = {
  'the default port': { url: 'http://127.0.0.1:7420/mcp' },
  'a view': { url: 'http://localhost:7420/mcp/small' },
  'a short address': { url: 'http://127.1:7420/mcp' },
  'the unspecified address': { url: 'http://0.0.0.0:7420/mcp' },
  IPv6: { url: 'http://[0:0:0:0:0:0:0:1]:7420/mcp' },
  'IPv4 in IPv6': { url: 'http://[::ffff:127.0.0.1]:7420/mcp' },
  'the name of the machine': { url: `http://${hostname()}:7420/mcp` },
  'the old transport': { type: 'sse', url: 'http://localhost:7420/mcp' },
  'the configured port': { url: 'http://localhost:9876/mcp' },
  'one of our tokens': { url: 'http://localhost:5555/mcp', headers: { Authorization: 'Bearer tbk_abc' } },
  'a wrapper': { command: 'npx', args: ['-y', 'mcp-remote', 'http://localhost:7420/mcp'] },
  'a wrapper with options': {
    command: 'uvx',
    args: ['some-proxy', '--strange', 'http://localhost:7420/mcp/small'],
  },
  'a wrapper with one of our tokens': {
    command: 'some-proxy',
    args: ['http://localhost:5555/mcp', '--header', 'Authorization: Bearer tbk_abc'],
  },
  'its name': { command: 'turnbuckle', args: ['serve', '--stdio'] },
  'its short name': { command: '/usr/local/bin/tbk', args: ['serve', '--stdio', '--view', 'small'] },
  'its name on Windows': { command: 'C:\\tools\\turnbuckle.cmd', args: ['serve', '--stdio'] },
  'options before the word': { command: 'turnbuckle', args: ['--config', 'x.json', 'serve', '--stdio'] },
  npx: { command: 'npx', args: ['-y', '@turnbuckle/cli', 'serve', '--stdio'] },
  'npx with a version': { command: 'npx', args: ['@turnbuckle/cli@latest', 'serve', '--stdio'] },
  'npx with a package': {
    command: 'npx',
    args: ['--package=@turnbuckle/cli', 'turnbuckle', 'serve', '--stdio'],
  },
  'cmd /c': { command: 'cmd', args: ['/c', 'npx', '-y', '@turnbuckle/cli', 'serve', '--stdio'] },
  'a shell': { command: 'sh', args: ['-c', 'exec turnbuckle serve --stdio'] },
  env: { command: '/usr/bin/env', args: ['LANG=C', 'turnbuckle', 'serve', '--stdio'] },
  'its file': { command: process.execPath, args: [BIN, 'serve', '--stdio'] },
  'its file of another place': {
    command: 'node',
    args: ['/gone/node_modules/@turnbuckle/cli/dist/bin.js', 'serve', '--stdio'],
  },
};

const OTHERS: Readonly<Record<string, Record<string, unknown>>> = {
  'another port': { url: 'http://localhost:7421/mcp' },
  'another path of that port': { url: 'http://localhost:7420/other' },
  'another machine': { url: 'http://gateway.example:7420/mcp' },
  'another machine of that kind': {
    url: 'https://team.example/mcp',
    headers: { Authorization: 'Bearer tbk_abc' },
  },
  'another program': { command: 'other', args: ['serve', '--stdio'] },
  'another word of ours': { command: 'turnbuckle', args: ['demo-server'] },
  'a name alone': { command: 'turnbuckle-notes', args: ['serve', '--stdio'] },
  'another file': { command: 'node', args: ['/srv/dist/bin.js', 'serve', '--stdio'] },
};

it('recognises Turnbuckle by what an entry points at, never by its name', async () => {
  const link = home.file('link.js');
  await symlink(BIN, link);
  await mkdir(home.file('.cursor'));
  await home.write('.config/turnbuckle/mcp.json', { servers: {}, daemon: { port: 9876 } });
  const ours = { ...OURS, 'a link to its file': { command: 'node', args: [link, 'serve', '--stdio'] } };
  await home.write('.cursor/mcp.json', {
    mcpServers: { ...ours, ...OTHERS, turnbuckle: { command: 'mine' } },
  });
  expect(await names()).toEqual([...Object.keys(OTHERS), 'turnbuckle']);
  await home.write('.config/turnbuckle/mcp.json', { servers: {}, daemon: { port: 9876 } });
  expect((await run('import', '--from', home.file('.cursor/mcp.json'), '--yes')).code).toBe(0);
  const { servers } = JSON.parse(await home.read('.config/turnbuckle/mcp.json'));
  expect(Object.keys(servers)).toEqual([...Object.keys(OTHERS), 'turnbuckle']);
});

it('an entry of Turnbuckle does not hide another server of the same name', async () => {
  await home.write('.cursor/mcp.json', { mcpServers: { files: { url: 'http://127.0.0.1:7420/mcp' } } });
  await home.write('.kiro/settings/mcp.json', { mcpServers: { files: { command: 'files' } } });
  expect(await names()).toEqual(['files']);
});

it('add warns about a server that points back to Turnbuckle', async () => {
  const { code, stderr } = await run('add', 'again', 'http://localhost:7420/mcp');
  expect(code).toBe(0);
  expect(stderr).toContain(
    'warning Server "again" points back to Turnbuckle because its URL is Turnbuckle\'s own URL.',
  );
  expect((await run('add', 'other', 'http://localhost:7421/mcp')).stderr).not.toContain('warning');
});
