import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { fixture } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/commands.js';
import { tattletale } from './local-servers.js';
import { createHome, type Home, json, turnbuckle } from './turnbuckle.js';

let home: Home;
let started: string;
beforeEach(async () => {
  home = await createHome({ mine: fixture('echo') });
  started = home.file('started');
});

const run = (...words: string[]) => turnbuckle(words, { home });
const hostile = (entry: object) => home.write('project/.turnbuckle/mcp.json', { servers: { evil: entry } });

describe('a hostile project', () => {
  const LINES: Readonly<Record<string, readonly string[][]>> = {
    list: [[], ['evil'], ['--json']],
    tools: [[], ['evil'], ['touch']],
    call: [['evil', 'x'], ['mcp__evil__x'], ['x', 'a=b']],
    resources: [[], ['evil']],
    read: [['evil', 'a:b']],
    prompts: [[], ['evil']],
    prompt: [['evil', 'x']],
    ping: [['evil']],
    energy: [[]],
    chat: [['hello']],
    search: [[]],
    steward: [[], ['list'], ['request', 'test', 'evil'], ['approvals']],
    logs: [['evil', '--seconds', '1']],
    login: [['evil', '--no-browser']],
    logout: [['evil']],
    whoami: [[], ['evil']],
    add: [['other', '--', 'true']],
    remove: [['nothing']],
    enable: [['evil']],
    disable: [['evil', '--scope', 'local']],
    config: [[], ['evil']],
    import: [[], ['--yes']],
    export: [['--to', 'cursor', '--file', '-']],
    trust: [[], ['evil'], ['--revoke']],
    secrets: [['list'], ['set', 'evil'], ['rotate']],
    doctor: [[], ['evil']],
    init: [[]],
    schema: [[]],
    completion: [['bash']],
    calls: [[], ['show', 'evil'], ['replay', 'evil']],
    incidents: [[], ['evil']],
    stats: [[], ['evil']],
    serve: [['--stdio'], ['start', '--port', '0'], ['status'], ['stop']],
    bridge: [['--port', '70000']],
    token: [['list']],
    approvals: [[], ['watch']],
    setup: [[], ['cursor', '--yes'], ['zed', '--stdio', '--yes'], ['cursor', '--undo']],
    rules: [[], ['test', 'evil', 'x', '--connect'], ['pins', '--connect'], ['pin', 'evil', '--yes']],
  };

  it('is tried with every command there is', () => {
    expect(Object.keys(LINES).sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
  });

  it('starts no untrusted server, whatever command runs in it', { timeout: 60_000 }, async () => {
    const file = await hostile(tattletale(started));
    await home.write('project/mcp-servers.json', { servers: { evil2: tattletale(started) } });
    await home.write('project/.turnbuckle/mcp.local.json', { servers: { evil3: tattletale(started) } });
    for (const [command, lines] of Object.entries(LINES))
      for (const words of lines) {
        await run(command, ...words);
        expect(existsSync(started), [command, ...words].join(' ')).toBe(false);
      }
    expect(existsSync(file)).toBe(true);
    await run('list', '--trust-project');
    expect(existsSync(started)).toBe(true);
  });

  it('does not get its servers into other tools through an export', async () => {
    await hostile(tattletale(started));
    const { stdout, stderr } = await run('export', '--to', 'cursor', '--file', '-');
    expect(stdout).toContain('"mine"');
    expect(stdout).not.toContain('evil');
    expect(stderr).toContain('skipped evil');
  });

  it('prints no control characters through server names', async () => {
    const name = 'e\u001b[2Jv\u202eil';
    await home.write('project/.turnbuckle/mcp.json', { servers: { [name]: { command: 'x' } } });
    for (const words of [['list'], ['config'], ['doctor'], ['tools'], ['trust'], ['list', '--json']]) {
      const { stdout, stderr } = await run(...words);
      expect(stdout + stderr, words.join(' ')).not.toMatch(/\u202e/);
      expect((stdout + stderr).includes('\u001b'), words.join(' ')).toBe(false);
    }
  });
});

describe('trust', () => {
  it('shows the whole entry, hidden characters visible, and refuses in a pipe', async () => {
    const args = ['x'.repeat(3_000), 'in\u200bvisible', '\u202e', 'last'];
    await hostile({ command: 'run', args, env: { A: '${B}' } });
    const { code, stdout, stderr } = await run('trust');
    expect({ code, stdout }).toEqual({ code: 15, stdout: '' });
    expect(stderr).toContain(`evil from ${home.file('project/.turnbuckle/mcp.json')}:3`);
    expect(stderr).toContain('x'.repeat(3_000));
    expect(stderr).toContain('in\\u{200b}visible');
    expect(stderr).toContain('\\u{202e}');
    expect(stderr).toContain('"A": "${B}"');
    expect(stderr).toContain('use --yes');
  });

  it('shows the defaults of the inputs that an entry uses, which trust covers too', async () => {
    await home.write('project/.turnbuckle/mcp.json', {
      inputs: [
        { id: 'program', default: 'rm\u001b[2J -rf\u202e' },
        { id: 'with "quotes"', default: 'quoted' },
        { id: 'nested', default: 'deep' },
        { id: 'asked', password: true },
        { id: 'unused', default: 'not shown' },
      ],
      servers: {
        evil: {
          command: '${input:program}',
          args: ['${input:with "quotes"}', '${NONE:-${input:nested}}', '${input:asked}'],
        },
        plain: { command: 'x' },
      },
    });
    const { stderr } = await run('trust', '--yes');
    const [, evil = '', plain = ''] = stderr.split(/^(?=\w+ from )/m);
    expect(evil).toContain("Default values of this server's inputs:");
    expect(evil).toContain('  program = "rm\\u001b[2J -rf\\u{202e}"');
    expect(evil).toContain('  with "quotes" = "quoted"');
    expect(evil).toContain('  nested = "deep"');
    expect(plain).toContain('plain from');
    expect(plain).not.toContain('inputs');
    expect(stderr).not.toContain('not shown');
    expect(stderr).not.toMatch(/\u202e/);
    expect(stderr.includes('\u001b')).toBe(false);
  });

  it('lets exactly that server start until it changes or the agreement is taken back', async () => {
    await hostile({ ...tattletale(started) });
    expect((await run('trust', '--yes')).stdout).toBe('Trusted evil\n');
    expect((await run('trust')).stderr).toContain('already trusted');
    await run('ping', 'evil');
    expect(existsSync(started)).toBe(true);

    await rm(started);
    await hostile({ ...tattletale(started), env: { MORE: '1' } });
    expect((await run('ping', 'evil')).code).toBe(15);
    expect(await json(['trust', 'evil', '--yes'], { home })).toEqual({ agreed: ['evil'] });
    expect((await run('trust', '--revoke')).stdout).toBe('evil is no longer trusted\n');
    const again = await run('trust', '--revoke');
    expect([again.stdout, again.stderr]).toEqual(['', 'evil was not trusted.\n']);
    expect(await json(['trust', '--revoke'], { home })).toEqual({ revoked: [] });
    expect((await run('ping', 'evil')).code).toBe(15);
    expect(existsSync(started)).toBe(false);
  });

  it('says what changed since it was trusted: keys of the entry, changed scripts, removed scripts', async () => {
    const entry = { command: process.execPath, args: ['server.mjs'] };
    await home.write('project/server.mjs', 'process.exit(1)');
    await hostile(entry);
    expect((await run('ping', 'evil')).stderr).toContain('and is not trusted yet');
    await run('trust', '--yes');
    await hostile({ ...entry, args: ['server.mjs', '--more'], env: { A: 'b' } });
    const changed = await run('ping', 'evil');
    expect(changed.stderr).toContain('its entry (args, env) changed since you trusted the server');
    expect(changed.stderr).not.toContain('changedScripts');
    expect((await run('trust')).stderr).toContain('Changed since you trusted this server: args, env');
    await hostile(entry);
    await home.write('project/server.mjs', 'process.exit(2)');
    const script = await run('ping', 'evil');
    expect(script.stderr).toContain('"server.mjs" changed since you trusted the server');
    expect(script.stderr).toContain('"changedScripts": "warn"');
    await rm(home.file('project/server.mjs'));
    expect((await run('ping', 'evil')).stderr).toContain(
      '"server.mjs" was removed since you trusted the server',
    );
    expect((await run('trust')).stderr).toContain('server.mjs  (removed since you trusted the server)');
  });

  it('says that a server is refused, why, and what to do', async () => {
    const unsafe = { ...tattletale(started), env: { NODE_OPTIONS: '--require ./evil.js' } };
    await home.write('project/.turnbuckle/mcp.json', { servers: { evil: unsafe, good: { command: 'x' } } });
    for (const words of [['trust', '--yes'], ['trust', 'evil', '--yes'], ['trust']]) {
      const { code, stderr } = await run(...words);
      expect([words, code]).toEqual([words, 10]);
      expect(stderr).not.toContain('already trusted');
      expect(stderr).toContain('evil cannot be trusted');
      expect(stderr).toContain('"NODE_OPTIONS" changes what programs load');
      expect(stderr).toContain('Add the server there (turnbuckle add), or move its entry to');
    }
    expect(await json(['trust', '--yes'], { home })).toMatchObject({
      agreed: [],
      refused: [{ name: 'evil', code: 'CONFIG_INVALID', message: expect.stringContaining('NODE_OPTIONS') }],
    });
    expect((await run('list', 'good')).stdout).not.toContain('TRUST_REQUIRED');
    expect(existsSync(started)).toBe(false);
  });

  it('refuses a command that refers to too many files, and trusts the other servers', async () => {
    const line = Array.from({ length: 3_000 }, (_, at) => `cd d${at % 8}; sh s${at}`)
      .join(';')
      .slice(0, 32_000);
    const evil = { command: 'sh', args: ['-c', line] };
    await home.write('project/.turnbuckle/mcp.json', { servers: { evil, good: { command: 'x' } } });
    const { code, stdout, stderr } = await run('trust', '--yes');
    expect(code).toBe(10);
    expect(stderr).toContain('evil cannot be trusted');
    expect(stderr).toContain('move it into a script in the project');
    expect(stdout).toContain('Trusted good');
    expect(stdout).not.toContain('Trusted evil');
  });

  it('refuses a server that is not from the project', async () => {
    expect((await run('trust')).stderr).toContain('The project has no servers');
    const { code, stderr } = await run('trust', 'mine', '--yes');
    expect(code).toBe(11);
    expect(stderr).toContain('Servers in the project: none');
  });
});

it('a line break in text of a project does not start a new line of output', async () => {
  const fake = 'a\r\nFAKE ok';
  const entry = { command: 'true', args: [fake], env: { [fake]: fake }, [fake]: 1 };
  await home.write('project/.turnbuckle/mcp.json', {
    servers: { [fake]: { command: 'true' }, odd: entry, plain: { command: 'true', args: [fake] } },
    rules: [{ action: fake }, { action: 'deny', reason: fake, tool: fake }],
    [fake]: fake,
  });
  for (const words of [
    ['trust'],
    ['trust', fake],
    ['trust', '--yes'],
    ['list'],
    ['config'],
    ['doctor'],
    ['rules'],
  ]) {
    const { stdout, stderr } = await run(...words);
    expect(`${stdout}${stderr}`).toContain('FAKE');
    expect(`${stdout}\n${stderr}`, words.join(' ')).not.toMatch(/^FAKE|\r/m);
  }
});

it('names the server of your own that the entry of the project replaces', async () => {
  await home.write('.config/turnbuckle/mcp.json', {
    servers: { guarded: { ...fixture('echo'), requires: ['mcp_vetted'] } },
  });
  await home.write('project/.turnbuckle/mcp.json', {
    servers: { guarded: fixture('echo'), other: fixture('echo') },
  });
  const { code, stderr } = await run('trust', '--yes');
  expect(code).toBe(0);
  const replaced = stderr.split('\n').filter((line) => line.includes('replaces your own server'));
  expect(replaced).toHaveLength(1);
  expect(replaced[0]).toMatch(
    /! replaces your own server "guarded" \(.*\.config\/turnbuckle\/mcp\.json:\d+\): /,
  );
  expect(replaced[0]).toContain('"requires"');
});
