import { fixture } from '@turnbuckle/testing';
import fc from 'fast-check';
import type { Runtime } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { interpolate, type Placeholders } from '../../src/config/placeholders/interpolate.js';
import { trustHash } from '../../src/config/trust/trust.js';
import { findMalformed } from '../../src/text/placeholders.js';
import { createSetting } from './setting.js';

const SOURCE: Placeholders = {
  environment: { A: 'a', B: 'b', EMPTY: '', CYCLE: '${CYCLE}', TRICK: '${A}$${B}', lower_1: 'low' },
  input: async (id) => ({ one: 'input 1', 'with:colon': 'colon', empty: '' })[id],
  secret: async (name) => ({ key: 'secret 1', 'op://a/b': 'vault' })[name],
  workspaceFolder: '/project',
  userHome: '/home/me',
};
const fill = <T>(value: T): Promise<T> => interpolate(value, SOURCE, { server: 'demo', file: '/f.json' });

// requirement K3
describe('a text with placeholders', () => {
  it.each([
    ['${A}', 'a'],
    ['x${A}y${B}z', 'xaybz'],
    ['${env:A}', 'a'],
    ['${lower_1}', 'low'],
    ['${input:one}', 'input 1'],
    ['${input:with:colon}', 'colon'],
    ['${secret:key}', 'secret 1'],
    ['${secret:op://a/b}', 'vault'],
    ['${workspaceFolder}/x', '/project/x'],
    ['${userHome}/x', '/home/me/x'],
    ['${A:-default}', 'a'],
    ['${NONE:-default}', 'default'],
    ['${NONE:-}', ''],
    ['${NONE:-a:-b}', 'a:-b'],
    ['${NONE:-with space, {brace}', 'with space, {brace'],
    ['${EMPTY}', ''],
    ['x${EMPTY}y', 'xy'],
    ['${EMPTY:-default}', 'default'],
    ['${env:NONE:-default}', 'default'],
    ['${input:none:-default}', 'default'],
    ['${input:empty:-default}', 'default'],
    ['${secret:none:-default}', 'default'],
    ['${NONE:-${A}}', 'a'],
    ['${NONE:-${NONE:-${B}}}', 'b'],
    ['${NONE:-x${A}y${NONE:-z}}!', 'xayz!'],
    ['${A:-${NONE}}', 'a'],
    ['$${A}', '${A}'],
    ['$${', '${'],
    ['a$${b}c${A}', 'a${b}ca'],
    ['${A}$${B}', 'a${B}'],
    ['${NONE:-$${A}}', '${A}'],
    ['$A $ {A} $', '$A $ {A} $'],
    ['a}b{c}', 'a}b{c}'],
    // The value of a variable is not interpolated again.
    ['${CYCLE}', '${CYCLE}'],
    ['${TRICK}', '${A}$${B}'],
  ])('%s is %s', async (text, expected) => {
    expect(await fill(text)).toBe(expected);
    expect(findMalformed(text)).toBeUndefined();
  });

  it('is resolved wherever it occurs, and nothing else changes', async () => {
    class Own {
      text = '${A}';
    }
    const own = new Own();
    const value = { a: ['${A}', 1, null, { b: '${B}' }], '${A}': true, own, run: fill };
    expect(await fill(value)).toEqual({ a: ['a', 1, null, { b: 'b' }], '${A}': true, own, run: fill });
    expect((await fill(value)).own).toBe(own);
    expect(own.text).toBe('${A}');
  });

  it.each([
    '${',
    '${A',
    'x${A ${B}',
    '${}',
    '${:-x}',
    '${1A}',
    '${A B}',
    '${A-B}',
    '${foo:A}',
    '${${A}}',
    '${input:}',
    '${env:}',
  ])('that is malformed is reported: %s', async (text) => {
    await expect(fill({ args: [text] })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      server: 'demo',
      message: expect.stringContaining('(args[0] in /f.json)'),
    });
    expect(findMalformed({ args: [text] })).toMatchObject({ keys: ['args', 0] });
  });

  it.each([
    ['${NONE}', 'environment variable NONE', { variable: 'NONE', kind: 'env' }],
    ['${env:NONE}', 'environment variable NONE', { variable: 'NONE', kind: 'env' }],
    ['${A:-x}${NONE}', 'environment variable NONE', { variable: 'NONE', kind: 'env' }],
    ['${OTHER:-${NONE}}', 'environment variable NONE', { variable: 'NONE', kind: 'env' }],
    ['${input:none}', 'the input "none"', { variable: 'none', kind: 'input' }],
    ['${secret:none}', 'the secret "none"', { variable: 'none', kind: 'secret' }],
    ['${constructor}', 'environment variable constructor', { variable: 'constructor', kind: 'env' }],
    ['${__proto__}', 'environment variable __proto__', { variable: '__proto__', kind: 'env' }],
  ])('that lacks a value names variable, server, key and file: %s', async (text, what, data) => {
    await expect(fill({ env: { KEY: text } })).rejects.toMatchObject({
      code: 'VARIABLE_MISSING',
      server: 'demo',
      message: expect.stringMatching(
        `^Server "demo" requires ${what}, which .* \\(env\\.KEY in /f\\.json\\)\\.$`,
      ),
      data: { ...data, path: 'env.KEY', file: '/f.json' },
    });
  });
});

describe('any text', () => {
  const plain = fc.string({ unit: 'binary', maxLength: 60 }).filter((text) => !text.includes('${'));

  it('without ${ is left as it is', async () => {
    const property = fc.asyncProperty(plain, async (text) => {
      expect(await fill(text)).toBe(text);
    });
    await fc.assert(property, { numRuns: 10_000 });
  });

  it('is unchanged when every ${ is escaped', async () => {
    const pieces = fc.array(fc.constantFrom('${', '}', 'A', ':-', ' ', 'x', '{'), { maxLength: 12 });
    const property = fc.asyncProperty(pieces, async (parts) => {
      const text = parts.join('');
      expect(await fill(text.replaceAll('${', () => '$${'))).toBe(text);
    });
    await fc.assert(property, { numRuns: 2_000 });
  });

  it('is accepted immediately or rejected as when loading', async () => {
    const pieces = fc.array(fc.constantFrom('${', '$${', '}', 'A', ':-', ':', ' ', '$', 'input:one', '{'), {
      maxLength: 14,
    });
    const property = fc.asyncProperty(pieces, async (parts) => {
      const text = parts.join('');
      const refused = await fill(text).then(
        () => undefined,
        (error: { code?: string }) => error.code,
      );
      if (findMalformed(text) === undefined) expect(['VARIABLE_MISSING', undefined]).toContain(refused);
    });
    await fc.assert(property, { numRuns: 5_000 });
  });
});

async function environmentOf(runtime: Runtime, server = 'demo'): Promise<Record<string, string>> {
  const { content } = await runtime.callTool(server, 'env');
  const [part] = content;
  return JSON.parse(part?.type === 'text' ? part.text : '');
}

describe('a server from a file', () => {
  it('gets variables, inputs and secrets when it is connected', async () => {
    const { write, open, environment, project, home } = await createSetting();
    const env = {
      VARIABLE: '${GIVEN}',
      FALLBACK: '${NONE:-fallback}',
      GIVEN_INPUT: '${input:given-id}',
      ASKED_INPUT: '${input:asked}',
      DEFAULT_INPUT: '${input:standard}',
      GIVEN_SECRET: '${secret:given.name}',
      COMMAND_SECRET: '${secret:from command}',
      FOLDERS: '${workspaceFolder} ${userHome}',
      LITERAL: '$${HOME}',
    };
    const file = await write('mine.json', {
      inputs: [
        { id: 'asked', password: true },
        { id: 'standard', default: 'standard value' },
      ],
      secretCommand: [process.execPath, '-e', 'console.log(`secret of ${process.argv[1]}`)', '{name}'],
      servers: { demo: { ...fixture('echo'), env } },
    });
    const asked: unknown[] = [];
    const { runtime } = await open({
      files: [file],
      environment: {
        ...environment,
        GIVEN: 'given',
        TURNBUCKLE_INPUT_GIVEN_ID: 'given input',
        TURNBUCKLE_SECRET_GIVEN_NAME: 'given secret',
      },
      askInput: async (id, declared) => {
        asked.push([id, declared?.password]);
        return id === 'asked' ? 'asked value' : undefined;
      },
    });
    expect(asked).toEqual([]);
    expect(await environmentOf(runtime)).toMatchObject({
      VARIABLE: 'given',
      FALLBACK: 'fallback',
      GIVEN_INPUT: 'given input',
      ASKED_INPUT: 'asked value',
      DEFAULT_INPUT: 'standard value',
      GIVEN_SECRET: 'given secret',
      COMMAND_SECRET: 'secret of from command',
      FOLDERS: `${project} ${home}`,
      LITERAL: '${HOME}',
    });
    expect(asked.sort()).toEqual([
      ['asked', true],
      ['standard', false],
    ]);
  });

  it('shows and hashes its placeholders, never their values', async () => {
    const { write, open, environment } = await createSetting();
    const { command, args } = fixture('echo', '--label');
    const entry = { command, args: [...args, 'x${TOKEN}'], env: { KEY: '${TOKEN}' } };
    const web = { url: 'https://${TOKEN}.example/${TOKEN}?key=${TOKEN}', headers: { a: '${TOKEN}' } };
    const file = await write('mine.json', { servers: { demo: entry, web: { ...web, enabled: false } } });
    const { runtime, config } = await open({
      files: [file],
      environment: { ...environment, TOKEN: 'hunter2' },
    });
    const before = trustHash({
      name: 'demo',
      directory: '/',
      entry: config().servers.get('demo')?.entry ?? {},
    });
    await runtime.connectAll();
    expect((await environmentOf(runtime)).KEY).toBe('hunter2');
    expect(runtime.serverStatus('demo').config?.args).toEqual([...args, 'x${TOKEN}']);
    expect(runtime.serverStatus('web').config?.url).toBe(web.url);
    expect(config().servers.get('demo')?.entry).toEqual(entry);
    expect(trustHash({ name: 'demo', directory: '/', entry })).toBe(before);
    expect(JSON.stringify([runtime.status(), [...config().servers]])).not.toContain('hunter2');
  });

  it('asks for inputs again each time it is connected', async () => {
    const { write, open } = await createSetting();
    const file = await write('mine.json', {
      servers: { demo: { ...fixture('echo'), env: { N: '${input:n}' } } },
    });
    let count = 0;
    const { runtime } = await open({
      files: [file],
      askInput: async () => {
        count += 1;
        return String(count);
      },
    });
    expect((await environmentOf(runtime)).N).toBe('1');
    await runtime.reconnect('demo');
    expect((await environmentOf(runtime)).N).toBe('2');
  });

  it('fails without affecting others if a variable is missing, and connects once it is set', async () => {
    const { write, open, environment } = await createSetting();
    const demo = { ...fixture('echo'), env: { KEY: '${LATER}' } };
    const file = await write('mine.json', { servers: { demo, other: fixture('echo') } });
    const variables: Record<string, string | undefined> = { ...environment };
    const { runtime } = await open({ files: [file], environment: variables });
    await runtime.connectAll();
    expect(runtime.serverStatus('demo').error).toMatchObject({ code: 'VARIABLE_MISSING', server: 'demo' });
    expect(runtime.serverStatus('demo').error?.message).toContain(`(env.KEY in ${file})`);
    expect(runtime.serverStatus('other').status).toBe('connected');
    variables.LATER = 'now';
    await runtime.connect('demo');
    expect((await environmentOf(runtime)).KEY).toBe('now');
  });

  it.each([
    [
      'fails',
      [process.execPath, '-e', 'console.log("hunter2"); console.error("hunter2"); process.exit(3)'],
      '(3)',
    ],
    ['does not exist', ['/nonexistent/hunter2', '{name}'], '(ENOENT)'],
  ])('reports that the command for a secret %s, not what it printed', async (_, secretCommand, status) => {
    const { write, open } = await createSetting();
    const demo = { ...fixture('echo'), env: { KEY: '${secret:api}' } };
    const file = await write('mine.json', { secretCommand, servers: { demo } });
    const { runtime } = await open({ files: [file] });
    await runtime.connectAll();
    const { error } = runtime.serverStatus('demo');
    expect(error).toMatchObject({ code: 'VARIABLE_MISSING', server: 'demo' });
    for (const word of ['secret "api"', status, `env.KEY in ${file}`]) expect(error?.message).toContain(word);
    expect(error?.message).not.toContain('hunter2');
  });

  it('does not reveal a value that made it invalid', async () => {
    const { write, open, environment } = await createSetting();
    const file = await write('mine.json', { servers: { demo: { url: '${ADDRESS}' } } });
    const { runtime } = await open({ files: [file], environment: { ...environment, ADDRESS: 'hunter2' } });
    await runtime.connectAll();
    const { error } = runtime.serverStatus('demo');
    expect(error?.code).toBe('CONFIG_INVALID');
    for (const word of ['servers.demo.url: expected an http://', file])
      expect(error?.message).toContain(word);
    expect(JSON.stringify(runtime.status())).not.toContain('hunter2');
  });

  it('takes the defaults of inputs only from its own file', async () => {
    const { write, open, userFile, projectFile } = await createSetting();
    const env = { HOST: '${input:host:-none}' };
    await write(userFile, { servers: { demo: { ...fixture('echo'), env } } });
    await write(projectFile, { inputs: [{ id: 'host', default: 'evil.example' }] });
    const { runtime } = await open();
    expect((await environmentOf(runtime)).HOST).toBe('none');
  });
});
