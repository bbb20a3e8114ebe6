import { fixture } from '@turnbuckle/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Home, json, turnbuckle } from './turnbuckle.js';

const SECRETS = ['hunter2', 'sk-args', 'sk-flag', 'sk-query', 'sk-user', 'sk-header'];
let home: Home;
beforeAll(async () => {
  home = await createHome({
    both: { command: 'mine' },
    files: {
      command: 'files',
      args: ['--token', 'sk-args', '--api-key=sk-flag', '--root', '/data', '--password', '${PASSWORD}'],
      env: { KEY: 'hunter2', KEPT: '${KEPT}' },
    },
    web: {
      url: 'https://sk-user:pw@example.invalid/mcp?key=sk-query&id=${ID}',
      headers: { authorization: 'Bearer sk-header' },
    },
  });
  await home.write('project/.turnbuckle/mcp.json', { servers: { both: { command: 'theirs' } } });
});

const run = (...words: string[]) => turnbuckle(words, { home });

describe('config', () => {
  it('shows every file, and each server with its location and what it overrides', async () => {
    const { code, stdout, stderr } = await run('config');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const project = home.file('project/.turnbuckle/mcp.json');
    expect(stdout).toMatch(new RegExp(`^  user +${home.config} +3 servers$`, 'm'));
    expect(stdout).toMatch(/^ {2}managed +\S+ +not found$/m);
    expect(stdout).toMatch(
      new RegExp(`^  both +TRUST_REQUIRED +${project}:3 +overrides ${home.config}$`, 'm'),
    );
    expect(stdout).toMatch(new RegExp(`^  files +ok +${home.config}:\\d+$`, 'm'));
  });

  it('shows one server with its secrets hidden and its placeholders unchanged', async () => {
    const texts = await Promise.all(
      [
        ['config', 'files'],
        ['config', 'web'],
        ['config', '--json'],
      ].map(async (words) => (await run(...words)).stdout),
    );
    for (const secret of SECRETS) expect(texts.join('')).not.toContain(secret);
    expect(texts[0]).toContain('"KEPT": "${KEPT}"');
    expect(texts[0]).toContain('"${PASSWORD}"');
    expect(texts[0]).toContain('"/data"');
    expect(texts[1]).toContain('https://[redacted]@example.invalid/mcp?key=[redacted]&id=${ID}');
  });

  it('shows the defaults that apply to a server', async () => {
    const own = await createHome();
    await own.write('.config/turnbuckle/mcp.json', {
      defaults: { callTimeoutMs: 5_000, pingMs: 9_000, reconnect: { tries: 5, probeMs: 4_000 } },
      servers: {
        set: { command: 'x', callTimeoutMs: 1, pingMs: 1, reconnect: { tries: 1, probeMs: 1 } },
        part: { command: 'x', pingMs: 1_000, reconnect: { probeMs: 1_000 } },
      },
    });
    const { stdout } = await turnbuckle(['config', 'part'], { home: own });
    expect(stdout).toContain('defaults {"callTimeoutMs":5000,"reconnect":{"tries":5}}');
    expect(await json(['config', 'part'], { home: own })).toMatchObject({
      defaults: { callTimeoutMs: 5_000, reconnect: { tries: 5 } },
    });
    expect((await turnbuckle(['config', 'set'], { home: own })).stdout).not.toContain('defaults');
  });

  it('prints JSON', async () => {
    expect(await json(['config', 'both'], { home })).toMatchObject({
      name: 'both',
      origin: { scope: 'project', line: 3 },
      shadowed: [{ scope: 'user' }],
      problem: { code: 'TRUST_REQUIRED' },
    });
  });

  it('explains what the environment sets, and shows each setting with its location', async () => {
    const own = await createHome();
    await own.write('.config/turnbuckle/mcp.json', '{\n  "naming": "server_tool"\n}');
    const run = (variable: string, ...words: string[]) =>
      turnbuckle(['config', ...words], { home: own, env: { MCP_AUTO_DISCOVERY: variable } });
    const { stdout } = await run('on');
    expect(stdout).toMatch(new RegExp(`^  naming = "server_tool" +from ${own.config}:2$`, 'm'));
    expect(stdout).toMatch(
      /^ {2}autoDiscoveryEnabled = true +from the environment variable MCP_AUTO_DISCOVERY$/m,
    );
    expect(JSON.parse((await run('off', '--json')).stdout)).toMatchObject({
      settings: {
        naming: { value: 'server_tool', origin: { file: own.config, line: 2, column: 3 } },
        autoDiscoveryEnabled: { value: false, origin: { scope: 'environment' } },
      },
    });
    expect((await run('perhaps')).stdout).toContain(
      'problem Invalid value "perhaps" for environment variable MCP_AUTO_DISCOVERY',
    );
  });

  it('of an unknown server is an error', async () => {
    expect(await run('config', 'fils')).toMatchObject({
      code: 11,
      stderr: expect.stringContaining('Did you mean "files"?'),
    });
  });
});

describe('servers that are configured for one run', () => {
  it('--config and MCP_CONFIG_PATH name a file, --mcp-server a server', async () => {
    const named = await home.write('named.json', { servers: { named: fixture('echo') } });
    const { command, args } = fixture('echo');
    const words = ['call', 'named', 'add', 'a=1', 'b=2'];
    const [flag, variable, inline] = await Promise.all([
      turnbuckle([...words, '--config', named], { home }),
      turnbuckle(words, { home, env: { MCP_CONFIG_PATH: named } }),
      turnbuckle([...words, '--mcp-server', `named="${command}" '${args.join(' ')}'`], { home }),
    ]);
    for (const { code, stdout } of [flag, variable, inline])
      expect({ code, stdout }).toEqual({ code: 0, stdout: '{"sum":3}\n' });
  });

  it.each([['nonsense'], ['=x'], ['x=']])('--mcp-server %s is refused', async (text) => {
    const { code, stderr } = await run('list', '--mcp-server', text);
    expect(code).toBe(10);
    expect(stderr).toContain('name=https://…');
  });

  it.each([
    ['list', '--no-connect'],
    ['call', 'files', 'echo'],
    ['rules'],
    ['remove', 'files'],
    ['export', '--to', 'cursor'],
  ])('a named file that does not exist fails %s, also with --json', async (...words) => {
    const { code, stdout, stderr } = await run(...words, '--json', '--config', 'nowhere.json');
    expect(code).toBe(10);
    expect(stderr).toMatch(/^error CONFIG_INVALID .*nowhere\.json.*does not exist/);
    expect(JSON.parse(stdout).error.code).toBe('CONFIG_INVALID');
  });

  it('a file of your own that cannot be read is no empty one: its servers and rules are not just gone', async () => {
    const own = await createHome();
    await own.write('.config/turnbuckle/mcp.json', '{ "servers": { "a": { "command": "x" } } "rules": [] }');
    for (const words of [['list'], ['call', 'a', 'b'], ['tools'], ['rules'], ['ping', 'a'], ['whoami']]) {
      const { code, stdout, stderr } = await turnbuckle([...words, '--no-daemon'], { home: own });
      expect([words, code, stdout]).toEqual([words, 10, '']);
      expect(stderr).toMatch(/^error CONFIG_INVALID .*mcp\.json:1:\d+: /);
      expect(stderr).toContain('Nothing in this file is in effect until the file is corrected.');
      expect(stderr).not.toMatch(/no servers|no rules/i);
    }
    // A broken project file only warns, unless no other file has servers.
    await own.write('project/.turnbuckle/mcp.json', '{');
    await own.write('.config/turnbuckle/mcp.json', { servers: { a: fixture('echo') } });
    const { code, stderr } = await turnbuckle(['call', 'a', 'add', 'a=1', 'b=2'], { home: own });
    expect([code, stderr.includes('warning')]).toEqual([0, true]);
    await own.write('.config/turnbuckle/mcp.json', {});
    expect((await turnbuckle(['list'], { home: own })).code).toBe(10);
  });

  it('a broken file is reported with its location, and the other files still work', async () => {
    const broken = await home.write('broken.json', '{ "servers": { "x": { "comand": "y" }, } oops }');
    const { code, stdout, stderr } = await run('doctor', 'files', '--config', broken);
    expect(code).toBe(10);
    expect(stdout).toContain(`configuration  ${broken}:1:`);
    expect(stderr).not.toContain(broken);
    const listed = await run('list', '--no-connect', '--config', broken);
    expect([listed.code, listed.stderr]).toEqual([
      10,
      expect.stringContaining(`CONFIG_INVALID ${broken}:1:`),
    ]);
  });
});

describe('init and schema', () => {
  it('write a first file with comments, once', async () => {
    const fresh = await createHome();
    const first = await turnbuckle(['init'], { home: fresh });
    expect(first).toMatchObject({ code: 0, stdout: `Wrote ${fresh.config}\n` });
    expect(await fresh.read('.config/turnbuckle/mcp.json')).toContain('// A local server has a command:');
    const again = await turnbuckle(['init'], { home: fresh });
    expect(again).toMatchObject({ code: 12, stdout: '' });
    expect(again.stderr).toContain('turnbuckle config');
    expect((await turnbuckle(['add', 'x', '--', 'y'], { home: fresh })).code).toBe(0);
    expect(await json(['config', 'x'], { home: fresh })).toMatchObject({ entry: { command: 'y' } });
    expect(await json(['init', '--scope', 'project'], { home: fresh })).toEqual({
      file: fresh.file('project/.turnbuckle/mcp.json'),
    });
  });

  it('print a JSON Schema', async () => {
    const { code, stdout } = await run('schema');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ $schema: expect.stringContaining('json-schema.org') });
  });
});
