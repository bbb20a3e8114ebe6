import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { fixture } from '@turnbuckle/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { argumentServer } from './local-servers.js';
import { createHome, type Home, json, QUIET, turnbuckle } from './turnbuckle.js';

let home: Home;
beforeAll(async () => {
  home = await createHome({
    good: fixture('echo'),
    kinds: { ...argumentServer, start: 'lazy' },
    bad: fixture('crash-mid-call', '--at-start'),
    off: { command: 'true', enabled: false },
  });
  await home.write('project/.turnbuckle/mcp.json', { servers: { foreign: { command: 'true' } } });
});

const run = (...words: string[]) => turnbuckle(words, { home });

describe('list', () => {
  it('shows the status of each server, and errors with a next step below the table', async () => {
    const { code, stdout, stderr } = await run('list');
    expect(code).toBe(0);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(/^● {2}good +connected +stdio +\S+ +18 tools +user +fixture-echo 1\.0\.0$/m);
    expect(stdout).toMatch(/^● {2}kinds +connected/m);
    expect(stdout).toMatch(/^✕ {2}bad +failed/m);
    expect(stdout).toMatch(/^– {2}off +disabled/m);
    expect(stdout).toMatch(/^✕ {2}foreign +failed/m);
    expect(stderr).toContain('bad SERVER_EXITED Server "bad" exited with code 7.');
    expect(stderr).toContain('cannot start, as asked');
    expect(stderr).toContain('turnbuckle trust foreign');
  });

  it('reports which part of a long list is ignored, and what to do', async () => {
    const program = fileURLToPath(
      new URL('../../../core/test/hostile/servers/large-lists.mjs', import.meta.url),
    );
    const large = { command: process.execPath, args: [program, 'tools', '1200', '1200', 'text', '10'] };
    const own = await createHome({ large });
    const { stdout, stderr } = await turnbuckle(['list'], { home: own });
    expect(stdout).toMatch(/^● {2}large +connected .*1000 tools/m);
    expect(stderr).toContain('large tools: ');
    expect(stderr).toContain('the rest of the list is ignored because the list has more than 1000 entries');
    expect(stderr).toContain('Show what is used: turnbuckle tools large\n');
    expect(await json(['list', 'large'], { home: own })).toMatchObject([
      { leftOut: [expect.stringContaining('the rest of the list is ignored')] },
    ]);
    const doctor = await turnbuckle(['doctor', 'large'], { home: own });
    expect(doctor.stdout.replace(/\s+/g, ' ')).toContain(
      'the rest of the list is ignored because the list has more than 1000 entries',
    );
  });

  it('prints the named servers as JSON, and starts nothing with --no-connect', async () => {
    expect(await json(['status', 'good', 'off'], { home })).toMatchObject([
      { name: 'good', status: 'connected' },
      { name: 'off', status: 'disabled' },
    ]);
    const idle = await json<Array<{ name: string; status: string }>>(['ls', '--no-connect'], { home });
    expect(Object.fromEntries(idle.map(({ name, status }) => [name, status]))).toEqual({
      good: 'pending',
      kinds: 'pending',
      bad: 'pending',
      off: 'disabled',
      foreign: 'failed',
    });
    expect((await run('list', 'goof')).stderr).toContain('Did you mean "good"?');
  });

  it('suggests how to add a server when there are none', async () => {
    const { code, stdout, stderr } = await turnbuckle(['list'], { home: await createHome() });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('turnbuckle add');
    expect(stderr).toContain('turnbuckle import');
  });
});

describe('tools', () => {
  it('lists the tools of all servers, and warns about skipped servers', async () => {
    const { code, stdout, stderr } = await run('tools');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^good +add +Adds two numbers$/m);
    expect(stdout).toMatch(/^kinds +take +Answers its arguments$/m);
    expect(stdout).toContain('Hidden \\u{202e}reversed\\u{1b}[31m text');
    expect(stderr).toContain('warning bad is skipped');
    expect(stderr).not.toContain('off is skipped');
  });

  it('searches, and prints schemas, signatures and JSON', async () => {
    const [found, schema, signature, none, data] = await Promise.all([
      run('tools', 'good', 'numbers'),
      run('tools', 'good', 'Add', 'two', '--schema'),
      run('tools', 'good', 'two', 'numbers', '--ts'),
      run('tools', 'good', 'zebra'),
      json<Array<{ name: string }>>(['tools', 'good', 'numbers'], { home }),
    ]);
    expect(found?.stdout).toBe('good  add  Adds two numbers\n');
    expect(schema?.stdout).toContain('"required": [\n    "a",\n    "b"\n  ]');
    expect(signature?.stdout).toContain(
      'add(input: {\n  a: number;\n  b: number;\n}): Promise<{\n  sum: number;\n}>;',
    );
    expect(none).toMatchObject({ code: 0, stdout: '' });
    expect(none?.stderr).toContain('turnbuckle tools good');
    expect(data?.map(({ name }) => name)).toEqual(['mcp__good__add']);
  });

  it('suggests the server when its name is misspelt', async () => {
    const { code, stdout, stderr } = await run('tools', 'godo');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('Did you mean "turnbuckle tools good"?');
  });

  it.each([
    ['bad', 17, 'SERVER_EXITED'],
    ['off', 11, 'turnbuckle enable off'],
    ['foreign', 15, 'turnbuckle trust foreign'],
  ])('of %s cannot be listed, and the error says why', async (server, exit, text) => {
    const { code, stdout, stderr } = await run('tools', server);
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
    expect(stderr).toContain(text);
  });
});

describe('resources and prompts', () => {
  it('are listed', async () => {
    const [resources, prompts, data] = await Promise.all([
      run('resources', 'good'),
      run('prompts', 'good'),
      json(['resources', 'good'], { home }),
    ]);
    expect(resources?.stdout).toMatch(/^good +fixture:\/\/greeting +greeting$/m);
    expect(resources?.stdout).toMatch(/^good +fixture:\/\/items\/\{id\} +item$/m);
    expect(prompts?.stdout).toMatch(/^good +greet +who +Greets somebody$/m);
    expect(data).toMatchObject({ resources: [{ uri: 'fixture://greeting' }, {}, {}], templates: [{}] });
    expect(await json(['prompts', 'good'], { home })).toMatchObject([{ name: 'simple' }, { name: 'greet' }]);
  });

  it('are read: text is printed, bytes are saved to a file', async () => {
    expect(await run('read', 'good', 'fixture://greeting')).toEqual({
      code: 0,
      stdout: 'hello\n',
      stderr: QUIET,
    });
    const directory = home.file('bytes');
    const { stdout } = await run('read', 'good', 'fixture://bytes', '-o', directory);
    expect(stdout).toContain(`saved ${directory}/good-resource-1.bin`);
    expect([...(await readFile(`${directory}/good-resource-1.bin`))]).toEqual([0, 1, 2, 3]);
    expect(await json(['read', 'good', 'fixture://greeting'], { home })).toMatchObject({
      contents: [{ text: 'hello' }],
    });
    const unknown = await run('read', 'good', 'fixture://nope');
    expect(unknown.code).toBe(12);
    expect(unknown.stderr).toContain('List the resources: turnbuckle resources good');
  });

  it('are filled in with arguments, and a missing argument is reported', async () => {
    expect((await run('prompt', 'good', 'greet', 'who=Ada')).stdout).toBe('user:\nGreet Ada.\n');
    expect(await json(['prompt', 'good', 'simple'], { home })).toMatchObject({
      messages: [{ role: 'user' }],
    });
    const missing = await run('prompt', 'good', 'greet');
    expect(missing.code).toBe(13);
    expect(missing.stderr).toContain('turnbuckle prompt good greet who=…');
    expect((await run('prompt', 'good', 'nope')).code).toBe(12);
    expect((await run('prompt', 'good', 'greet', 'who')).code).toBe(13);
  });

  it('of an unknown server are an error', async () => {
    for (const words of [
      ['resources', 'x'],
      ['prompts', 'x'],
      ['read', 'x', 'y:z'],
      ['prompt', 'x', 'y'],
    ]) {
      expect(await run(...words)).toMatchObject({
        code: 11,
        stderr: expect.stringContaining('SERVER_UNKNOWN'),
      });
    }
  });
});

describe('ping', () => {
  it('prints the response time', async () => {
    expect((await run('ping', 'good')).stdout).toMatch(/^good responded in \d+ ms \(/);
    expect(await json(['ping', 'good'], { home })).toMatchObject({ server: 'good', alive: true });
  });

  it.each([
    ['bad', 17],
    ['off', 11],
    ['nope', 11],
  ])('%s fails', async (server, exit) => {
    expect(await run('ping', server)).toMatchObject({ code: exit, stdout: '' });
  });
});

describe('logs', () => {
  it('shows the stderr and state changes of the server, and ends after --seconds', async () => {
    const { code, stdout } = await run('logs', 'kinds', '--seconds', '0.6');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^state +connecting -> ready$/m);
    expect(stdout.match(/^stderr +argument-server: ready for anything$/gm)).toHaveLength(1);
    expect(stdout).not.toContain('closed');
  });

  it('prints one JSON object per line', async () => {
    const { stdout } = await run('logs', 'good', '-s', '0.3', '--json');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(lines).toContainEqual(expect.objectContaining({ server: 'good', kind: 'state' }));
  });

  it('fails with the error of a server that cannot start', async () => {
    const { code, stderr } = await run('logs', 'bad', '--seconds', '0.3');
    expect(code).toBe(17);
    expect(stderr).toContain('cannot start, as asked');
  });

  it('does not wait for a disabled or untrusted server', async () => {
    expect((await run('logs', 'off')).code).toBe(11);
    expect((await run('logs', 'foreign')).code).toBe(15);
    expect((await run('logs', 'good', '--seconds', 'x')).code).toBe(13);
  });
});
