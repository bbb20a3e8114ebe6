import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { TokenStore } from '@turnbuckle/gateway';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { readClientConfig } from '../../src/imports/index.js';
import { AGENT_CLIENTS, detectAgent, detectAgents } from '../../src/setup/agent-clients.js';
import { BIN, createHome, environmentOf, type Home, json, turnbuckle } from '../commands/turnbuckle.js';
import { daemonForTest } from './running-daemon.js';

let home: Home;
beforeEach(async () => {
  home = await createHome({ echo: fixture('echo') });
});

const setup = (...words: string[]) => turnbuckle(['setup', ...words], { home });
const placeIn = ({ path, project }: Home) => ({
  platform: process.platform,
  home: path,
  env: environmentOf(home),
  cwd: project,
});
const tokens = async (): Promise<string[]> => {
  const store = await TokenStore.open({ stateDir: home.file('state') });
  return store.list().map(({ name }) => name);
};

/** Existing files: with comments and other settings. */
const EXISTING: Readonly<Record<string, string>> = {
  json: '{\n  // mine\n  "theme": "dark",\t\n}\n',
  toml: '# mine\nmodel = "x"  # kept\n\n[mcp_servers.other]\ncommand = "other"\n',
  yaml: '# mine\nname: x   # kept\n',
};

describe.each(AGENT_CLIENTS.map((client) => [client.id, client] as const))('setup %s', (id, client) => {
  const read = async (file: string) => readClientConfig(id, await readFile(file, 'utf8'), { file });

  it('creates the file, and removes it with --undo', async () => {
    const { file } = detectAgent(client, placeIn(home));
    const { code, stderr } = await setup(id, '--yes');
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    const { servers, problems } = await read(file);
    expect(problems).toEqual([]);
    expect(servers.map(({ name }) => name)).toEqual(['turnbuckle']);
    const { config } = servers[0] ?? {};
    if (client.dialect.transports.http === undefined)
      expect(config).toMatchObject({
        command: process.execPath,
        args: [BIN, 'serve', '--stdio', '--as', id],
      });
    else {
      expect(config).toMatchObject({ type: 'http', url: 'http://127.0.0.1:7420/mcp' });
      expect(JSON.stringify(config?.headers)).toMatch(/Bearer tbk_[\w-]{40,}/);
      expect(stderr).not.toContain(/tbk_[\w-]{40,}/.exec(JSON.stringify(config))?.[0]);
    }
    expect(await tokens()).toContain(id);
    expect((await setup(id, '--undo')).code).toBe(0);
    await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await tokens()).not.toContain(id);
    expect(detectAgents(placeIn(home))).toEqual([]);
  });

  it('keeps the rest of a file, also the second time and with --stdio, and restores it byte for byte', async () => {
    const { file } = detectAgent(client, placeIn(home));
    const before = (EXISTING[client.format] ?? '').replace(
      '[mcp_servers.other]',
      client.dialect.list === true ? '[[mcp_servers]]\nname = "other"' : '[mcp_servers.other]',
    );
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, before);
    for (const words of [['--yes'], ['--yes', '--stdio']]) {
      const { code, stderr } = await setup(id, ...words);
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    }
    const { servers } = await read(file);
    const entry = servers.find(({ name }) => name === 'turnbuckle');
    expect(entry?.config).toMatchObject({ type: 'stdio', args: [BIN, 'serve', '--stdio', '--as', id] });
    expect(await readFile(file, 'utf8')).toContain('mine');
    expect((await setup(id, '--undo')).code).toBe(0);
    expect(await readFile(file, 'utf8')).toBe(before);
  });
});

describe('setup', () => {
  it('lists the installed agents', async () => {
    expect((await setup()).stderr).toContain('No agents found');
    await mkdir(home.file('.cursor'));
    await home.write('.codex/config.toml', '');
    expect(await json(['setup'], { home })).toMatchObject([
      { id: 'cursor', hasFile: false },
      { id: 'codex', file: home.file('.codex/config.toml'), hasFile: true },
    ]);
    expect((await setup()).stdout).toMatch(/^cursor +Cursor /);
  });

  it('shows the change and writes nothing without a terminal', async () => {
    const { code, stderr } = await setup('cursor');
    expect(code).toBe(20);
    expect(stderr).toContain('http://127.0.0.1:7420/mcp');
    expect(await tokens()).toEqual(['owner']);
  });

  it('writes the URL of the running daemon, and the entry works', async () => {
    const { url } = await daemonForTest([], { home });
    await setup('cursor', '--yes');
    const { mcpServers } = JSON.parse(await home.read('.cursor/mcp.json'));
    const { url: written, headers } = mcpServers.turnbuckle;
    expect(written).toBe(`${url}/mcp`);
    const hello = () =>
      fetch(written, {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: {
            protocolVersion: '2025-06-18',
            capabilities: {},
            clientInfo: { name: 't', version: '1' },
          },
        }),
      });
    // The daemon notices the new token within a second.
    await waitUntil(async () => (await hello()).status === 200);
    expect(await (await hello()).text()).toContain('"serverInfo"');
  });

  it('removes only its entry from a file that has changed since, after confirmation', async () => {
    await home.write('.claude.json', '{\n  "numStartups": 1\n}\n');
    await setup('claude-code', '--yes');
    const changed = (await home.read('.claude.json')).replace('"numStartups": 1', '"numStartups": 2');
    await home.write('.claude.json', changed);
    const asked = await setup('claude-code', '--undo');
    expect(asked.code).toBe(20);
    expect(asked.stderr).toContain('has changed since');
    expect(await home.read('.claude.json')).toBe(changed);
    expect(await tokens()).toContain('claude-code');
    expect((await setup('claude-code', '--undo', '--yes')).code).toBe(0);
    expect(JSON.parse(await home.read('.claude.json'))).toEqual({ numStartups: 2, mcpServers: {} });
    expect(await tokens()).not.toContain('claude-code');
    expect((await setup('claude-code', '--undo')).stderr).toContain('no setup of claude-code is recorded');
  });

  it('says what to do by hand when it cannot remove its entry', async () => {
    await setup('codex', '--yes');
    const written = await home.read('.codex/config.toml');
    await home.write('.codex/config.toml', `model = "y"\n${written}`);
    const { code, stderr } = await setup('codex', '--undo', '--yes');
    expect(code).toBe(10);
    expect(stderr).toContain('by hand and run this command again');
    await home.write('.codex/config.toml', 'model = "y"\n');
    expect((await setup('codex', '--undo')).code).toBe(0);
    expect(await tokens()).toEqual(['owner']);
  });

  it('removes the directories it created, except those in use, and none that existed before', async () => {
    await mkdir(home.file('there'));
    const file = home.file('there/a/b/mcp.json');
    // After a second setup, the directories still count as created by setup.
    for (const words of [['--yes'], ['--yes', '--stdio']]) await setup('cursor', ...words, '--file', file);
    await home.write('there/a/other.txt', 'mine');
    expect((await setup('cursor', '--undo')).code).toBe(0);
    expect(await readdir(home.file('there/a'))).toEqual(['other.txt']);
    await setup('cursor', '--yes', '--file', home.file('there/c/d/mcp.json'));
    await rm(home.file('there/c/d/mcp.json'));
    expect((await setup('cursor', '--undo')).code).toBe(0);
    expect(await readdir(home.file('there'))).toEqual(['a']);
    await setup('cursor', '--yes', '--file', home.file('there/a/mcp.json'));
    await rm(home.file('there/a/other.txt'));
    expect((await setup('cursor', '--undo')).code).toBe(0);
    expect(await readdir(home.file('there'))).toEqual(['a']);
  });

  it('revokes the token when the entry is gone already, and keeps the file', async () => {
    await setup('cursor', '--yes');
    await home.write('.cursor/mcp.json', '{}');
    const { code, stdout } = await setup('cursor', '--undo');
    expect(code).toBe(0);
    expect(stdout).toContain('no longer has the entry');
    expect(await home.read('.cursor/mcp.json')).toBe('{}');
    expect(await tokens()).toEqual(['owner']);
  });

  it('keeps the existing token when the file cannot be written', async () => {
    await setup('cursor', '--yes');
    const made = () => json<{ name: string; createdAt: string }[]>(['token', 'list'], { home });
    const before = await made();
    const { code, stderr } = await setup('cursor', '--yes', '--file', '/proc/mcp.json');
    expect(code).toBe(10);
    expect(stderr).toContain('cannot be written');
    expect(stderr).toContain('--file <file>');
    expect(await made()).toEqual(before);
  });

  it('shows the change in a file that is one long line, and keeps it one line', async () => {
    const others = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [
        `other${index}`,
        { command: 'server', args: ['--port', '1'] },
      ]),
    );
    await home.write('.cursor/mcp.json', JSON.stringify({ mcpServers: others }));
    const { stderr } = await setup('cursor', '--yes');
    expect(stderr).toContain('Long lines are shown wrapped');
    expect(stderr).toContain('+     "turnbuckle": {\n');
    expect(stderr).not.toContain('other3');
    expect(await home.read('.cursor/mcp.json')).toContain('"other3":{"command":"server"');
  });

  it('reports a token that it replaces, and a file that others can read', async () => {
    await turnbuckle(['token', 'create', 'cursor', '--capability', 'mcp_echo'], { home });
    await home.write('.cursor/mcp.json', '{}');
    await chmod(home.file('.cursor/mcp.json'), 0o644);
    const { stderr } = await setup('cursor', '--yes');
    expect(stderr).toContain('Token "cursor" already exists. It will be replaced');
    expect(stderr).toContain(`chmod 600 ${home.file('.cursor/mcp.json')}`);
    await chmod(home.file('.cursor/mcp.json'), 0o600);
    expect((await setup('cursor', '--yes')).stderr).not.toContain('chmod');
  });

  it('suggests known agents and views for misspelt names', async () => {
    expect((await setup('cursr')).stderr).toContain('Did you mean "cursor"?');
    const missing = await setup('cursor', '--yes', '--view', 'smal');
    expect(missing.code).toBe(10);
    expect(missing.stderr).toContain('There is no view named "smal"');
    await home.write('.config/turnbuckle/mcp.json', { servers: {}, daemon: { views: { small: {} } } });
    expect((await setup('cursor', '--yes', '--view', 'smal')).stderr).toContain('Did you mean "small"?');
    await setup('cursor', '--yes', '--view', 'small');
    expect(await home.read('.cursor/mcp.json')).toContain('/mcp/small');
  });

  it('--undo needs the name of a client', async () => {
    const { code, stderr } = await setup('--undo');
    expect(code).toBe(13);
    expect(stderr).toContain('client');
  });
});
