import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { TokenStore } from '@turnbuckle/gateway';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { AGENTS, agentAt, agentsHere } from '../../src/daemon/agent-clients.js';
import { readClientConfig } from '../../src/imports/index.js';
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

/** A file that people have: with comments where the format has them, and another server. */
const EXISTING: Readonly<Record<string, string>> = {
  json: '{\n  // mine\n  "theme": "dark",\t\n}\n',
  toml: '# mine\nmodel = "x"  # kept\n\n[mcp_servers.other]\ncommand = "other"\n',
  yaml: '# mine\nname: x   # kept\n',
};

describe.each(AGENTS.map((client) => [client.id, client] as const))('setup %s', (id, client) => {
  const read = async (file: string) => readClientConfig(id, await readFile(file, 'utf8'), { file });

  it('writes it where there was nothing, and takes it back', async () => {
    const { file } = agentAt(client, placeIn(home));
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
    expect(agentsHere(placeIn(home))).toEqual([]);
  });

  it('leaves the rest of a file alone, done twice and by command, and takes it back to the byte', async () => {
    const { file } = agentAt(client, placeIn(home));
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
  it('lists the agents that are here', async () => {
    expect((await setup()).stderr).toContain('No agents were found here');
    await mkdir(home.file('.cursor'));
    await home.write('.codex/config.toml', '');
    expect(await json(['setup'], { home })).toMatchObject([
      { id: 'cursor', hasFile: false },
      { id: 'codex', file: home.file('.codex/config.toml'), hasFile: true },
    ]);
    expect((await setup()).stdout).toMatch(/^cursor +Cursor /);
  });

  it('shows what it would write and does not, where nobody can agree', async () => {
    const { code, stderr } = await setup('cursor');
    expect(code).toBe(20);
    expect(stderr).toContain('http://127.0.0.1:7420/mcp');
    expect(await tokens()).toEqual(['owner']);
  });

  it('writes the address of the daemon that runs, and what it writes works', async () => {
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
    // The daemon hears of the token within a second.
    await waitUntil(async () => (await hello()).status === 200);
    expect(await (await hello()).text()).toContain('"serverInfo"');
  });

  it('takes only its entry out of a file that was changed since, once somebody agrees', async () => {
    await home.write('.claude.json', '{\n  "numStartups": 1\n}\n');
    await setup('claude-code', '--yes');
    const changed = (await home.read('.claude.json')).replace('"numStartups": 1', '"numStartups": 2');
    await home.write('.claude.json', changed);
    const asked = await setup('claude-code', '--undo');
    expect(asked.code).toBe(20);
    expect(asked.stderr).toContain('was changed since');
    expect(await home.read('.claude.json')).toBe(changed);
    expect(await tokens()).toContain('claude-code');
    expect((await setup('claude-code', '--undo', '--yes')).code).toBe(0);
    expect(JSON.parse(await home.read('.claude.json'))).toEqual({ numStartups: 2, mcpServers: {} });
    expect(await tokens()).not.toContain('claude-code');
    expect((await setup('claude-code', '--undo')).stderr).toContain('There is no setup of claude-code');
  });

  it('says what to do by hand where it cannot take its entry out', async () => {
    await setup('codex', '--yes');
    const written = await home.read('.codex/config.toml');
    await home.write('.codex/config.toml', `model = "y"\n${written}`);
    const { code, stderr } = await setup('codex', '--undo', '--yes');
    expect(code).toBe(10);
    expect(stderr).toContain('by hand, and run this again');
    await home.write('.codex/config.toml', 'model = "y"\n');
    expect((await setup('codex', '--undo')).code).toBe(0);
    expect(await tokens()).toEqual(['owner']);
  });

  it('takes its directories away with its file, but none that is in use or was there', async () => {
    await mkdir(home.file('there'));
    const file = home.file('there/a/b/mcp.json');
    // Done twice, it is still known who made them.
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

  it('revokes the token where the entry is gone already, and leaves the file', async () => {
    await setup('cursor', '--yes');
    await home.write('.cursor/mcp.json', '{}');
    const { code, stdout } = await setup('cursor', '--undo');
    expect(code).toBe(0);
    expect(stdout).toContain('has no entry for it any more');
    expect(await home.read('.cursor/mcp.json')).toBe('{}');
    expect(await tokens()).toEqual(['owner']);
  });

  it('keeps the token that works when the file cannot be written', async () => {
    await setup('cursor', '--yes');
    const made = () => json<{ name: string; createdAt: string }[]>(['token', 'list'], { home });
    const before = await made();
    const { code, stderr } = await setup('cursor', '--yes', '--file', '/proc/mcp.json');
    expect(code).toBe(10);
    expect(stderr).toContain('cannot be written');
    expect(stderr).toContain('--file <file>');
    expect(await made()).toEqual(before);
  });

  it('shows what changes in a file that is one long line, and leaves it that way', async () => {
    const others = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [
        `other${index}`,
        { command: 'server', args: ['--port', '1'] },
      ]),
    );
    await home.write('.cursor/mcp.json', JSON.stringify({ mcpServers: others }));
    const { stderr } = await setup('cursor', '--yes');
    expect(stderr).toContain('Shown on several lines');
    expect(stderr).toContain('+     "turnbuckle": {\n');
    expect(stderr).not.toContain('other3');
    expect(await home.read('.cursor/mcp.json')).toContain('"other3":{"command":"server"');
  });

  it('tells of a token that it replaces, and of a file that others can read', async () => {
    await turnbuckle(['token', 'create', 'cursor', '--can', 'mcp_echo'], { home });
    await home.write('.cursor/mcp.json', '{}');
    await chmod(home.file('.cursor/mcp.json'), 0o644);
    const { stderr } = await setup('cursor', '--yes');
    expect(stderr).toContain('There is a token "cursor" already. It will be replaced');
    expect(stderr).toContain(`chmod 600 ${home.file('.cursor/mcp.json')}`);
    await chmod(home.file('.cursor/mcp.json'), 0o600);
    expect((await setup('cursor', '--yes')).stderr).not.toContain('chmod');
  });

  it('knows its agents, and its views', async () => {
    expect((await setup('cursr')).stderr).toContain('Did you mean "cursor"?');
    const missing = await setup('cursor', '--yes', '--view', 'smal');
    expect(missing.code).toBe(10);
    expect(missing.stderr).toContain('There is no view named "smal"');
    await home.write('.config/turnbuckle/mcp.json', { servers: {}, daemon: { views: { small: {} } } });
    expect((await setup('cursor', '--yes', '--view', 'smal')).stderr).toContain('Did you mean "small"?');
    await setup('cursor', '--yes', '--view', 'small');
    expect(await home.read('.cursor/mcp.json')).toContain('/mcp/small');
  });

  it('takes back nothing in particular only of a client that is named', async () => {
    const { code, stderr } = await setup('--undo');
    expect(code).toBe(13);
    expect(stderr).toContain('client');
  });
});
