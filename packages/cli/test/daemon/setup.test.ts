import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { AGENTS, agentAt } from '../../src/daemon/agent-clients.js';
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
const tokens = async (): Promise<string[]> =>
  (await json<{ name: string }[]>(['token', 'list'], { home })).map(({ name }) => name);

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
      expect(config).toMatchObject({ command: process.execPath, args: [BIN, 'serve', '--stdio'] });
    else {
      expect(config).toMatchObject({ type: 'http', url: 'http://127.0.0.1:7420/mcp' });
      expect(JSON.stringify(config?.headers)).toMatch(/Bearer tbk_[\w-]{40,}/);
      expect(stderr).not.toContain(/tbk_[\w-]{40,}/.exec(JSON.stringify(config))?.[0]);
      expect(await tokens()).toContain(id);
    }
    expect((await setup(id, '--undo')).code).toBe(0);
    await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await tokens()).not.toContain(id);
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
    expect(entry?.config).toMatchObject({ type: 'stdio', args: [BIN, 'serve', '--stdio'] });
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

  it('does not take back what somebody changed since', async () => {
    await setup('cursor', '--yes');
    await home.write('.cursor/mcp.json', '{}');
    const { code, stderr } = await setup('cursor', '--undo');
    expect(code).toBe(10);
    expect(stderr).toContain('was changed since');
    expect(await home.read('.cursor/mcp.json')).toBe('{}');
  });

  it('knows its agents, and its views', async () => {
    expect((await setup('cursr')).stderr).toContain('Did you mean "cursor"?');
    await setup('cursor', '--yes', '--view', 'small');
    expect(await home.read('.cursor/mcp.json')).toContain('/mcp/small');
  });
});
