/** A server of one project is never imported for all projects; a server of the user is found from every directory. */
import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { createPathBuilder } from '../../src/imports/client-paths.js';
import { CLIENTS } from '../../src/imports/index.js';
import { writeClientConfig } from '../../src/imports/write-client-config.js';
import { createHome, environmentOf, type Home, turnbuckle } from './turnbuckle.js';

let home: Home;
beforeEach(async () => {
  home = await createHome({});
});

const imported = async (cwd: string, ...words: string[]): Promise<string[]> => {
  const { code } = await turnbuckle(['import', '--yes', ...words], { home, cwd });
  expect(code).toBe(0);
  const { servers } = JSON.parse(await home.read('.config/turnbuckle/mcp.json'));
  return Object.keys(servers).sort();
};

const notes = async (cwd: string, ...words: string[]): Promise<string> =>
  (await turnbuckle(['import', ...words], { home, cwd })).stderr;

/** Writes the user's config file of every client, each with a server named after the client. */
async function fillHome(): Promise<string[]> {
  const at = createPathBuilder({
    platform: process.platform,
    home: home.path,
    env: environmentOf(home),
    cwd: home.path,
  });
  const expected = new Set<string>();
  for (const client of CLIENTS) {
    const candidates = client.candidates(at).filter((one) => one.scope === 'user' && one.each === undefined);
    const [first] = candidates.filter(({ path }) => path.startsWith(home.path));
    if (first === undefined || client.format === 'frontmatter') continue;
    const { text } = writeClientConfig({ client: client.id, file: first.path }, '', [
      { name: `of-${client.id}`, config: { type: 'stdio', command: 'mine' } },
    ]);
    await home.write(first.path.slice(home.path.length + 1), text);
    expected.add(`of-${client.id}`);
  }
  return [...expected].sort();
}

describe("the user's own files", () => {
  it('are found from the home directory and from a project', async () => {
    const expected = await fillHome();
    expect(expected.length).toBeGreaterThan(20);
    expect(await imported(home.path)).toEqual(expected);
    await home.write('.config/turnbuckle/mcp.json', { servers: {} });
    expect(await imported(home.project)).toEqual(expected);
  });

  it('are found through a link to the home directory', async () => {
    const expected = await fillHome();
    await symlink(home.path, home.file('project/link'));
    expect(await imported(home.file('project/link'))).toEqual(expected);
    const linked = { ...home, path: home.file('project/link') };
    await home.write('.config/turnbuckle/mcp.json', { servers: {} });
    const { code } = await turnbuckle(['import', '--yes'], {
      home: linked,
      cwd: home.path,
      env: { TURNBUCKLE_STATE_DIR: home.file('state') },
    });
    expect(code).toBe(0);
    expect(Object.keys(JSON.parse(await home.read('.config/turnbuckle/mcp.json')).servers).sort()).toEqual(
      expected,
    );
  });

  it("are not hidden by a project's server of the same name", async () => {
    await home.write('.cursor/mcp.json', { mcpServers: { files: { command: 'mine' } } });
    await home.write('project/.cursor/mcp.json', { mcpServers: { files: { command: 'theirs' } } });
    expect(await imported(home.project)).toEqual(['files']);
    expect(JSON.parse(await home.read('.config/turnbuckle/mcp.json')).servers.files.command).toBe('mine');
  });
});

describe("Claude Code's servers of one project", () => {
  beforeEach(async () => {
    await mkdir(home.file('other'));
    await home.write('.claude.json', {
      mcpServers: { everywhere: { command: 'mine' }, files: { command: 'mine' } },
      projects: {
        [home.project]: { mcpServers: { files: { command: 'theirs' }, secret: { command: 'theirs' } } },
        '/gone/elsewhere': { mcpServers: { elsewhere: { command: 'theirs' } } },
      },
    });
  });

  it.each(['home', 'project', 'other'])('are not imported into the user file (from %s)', async (where) => {
    const cwd = where === 'home' ? home.path : home.file(where);
    expect(await imported(cwd)).toEqual(['everywhere', 'files']);
    const { files } = JSON.parse(await home.read('.config/turnbuckle/mcp.json')).servers;
    expect(files.command).toBe('mine');
  });

  it('are offered only in that project, for its own file', async () => {
    expect(await notes(home.file('other'), '--scope', 'local')).toContain(
      `secret from claude-code (${home.file('.claude.json')}): skipped because it belongs only to the project ${home.project};`,
    );
    expect(await notes(home.project)).toMatch(/^secret from claude-code .*--scope local/m);
    const { code } = await turnbuckle(['import', '--yes', '--scope', 'local'], { home });
    expect(code).toBe(0);
    const { servers } = JSON.parse(await home.read('project/.turnbuckle/mcp.local.json'));
    expect(servers).toMatchObject({ secret: { command: 'theirs' }, files: { command: 'theirs' } });
    expect(servers.elsewhere).toBeUndefined();
  });

  it('are not written into a file that applies to more than that project', async () => {
    await home.write('.turnbuckle/mcp.local.json', { servers: {} });
    const { stderr } = await turnbuckle(['import', '--yes', '--scope', 'local'], { home });
    expect(stderr).toMatch(/^secret from claude-code .* applies to other projects too$/m);
    expect(JSON.parse(await home.read('.turnbuckle/mcp.local.json')).servers.secret).toBeUndefined();
    expect(existsSync(home.file('project/.turnbuckle'))).toBe(false);
  });
});
