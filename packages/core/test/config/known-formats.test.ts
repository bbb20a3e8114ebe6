import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixture } from '@turnbuckle/testing';
import { createRuntime } from 'turnbuckle';
import { jsonSchema } from 'turnbuckle/host';
import { Compile } from 'typebox/schema';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseServer, parseServers } from '../../src/config/layers/parse.js';
import { createSetting, type Setting } from './setting.js';

/** The configuration examples of other hosts' documents, byte for byte. */
const DOCUMENTS = ['servers-map', 'servers-list'] as const;
const document = (name: (typeof DOCUMENTS)[number]): string =>
  readFileSync(new URL(`./documents/${name}.json`, import.meta.url), 'utf8');

const NAMES = {
  'servers-map': ['custom-api', 'database', 'github'],
  'servers-list': ['brave-search', 'filesystem', 'github'],
} as const;

/** An `npx` that starts a fixture, whatever the package: nothing is downloaded. */
function withOwnNpx({ home, environment }: Setting): Record<string, string | undefined> {
  const bin = join(home, 'bin');
  const { command, args } = fixture('echo');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'npx'), `#!/bin/sh\nexec '${command}' '${args.join("' '")}'\n`);
  chmodSync(join(bin, 'npx'), 0o755);
  return { ...environment, PATH: `${bin}:${environment.PATH}`, GITHUB_TOKEN: 'gh-1' };
}

const runtimeFor = async (servers: unknown) => {
  const runtime = await createRuntime({ servers: servers as never });
  onTestFinished(() => runtime.close());
  return runtime;
};

// requirement F2
describe.each(DOCUMENTS)('the example %s', (name) => {
  it('loads without a problem as the file of the user, and connects', async () => {
    const setting = await createSetting();
    await setting.write(setting.userFile, document(name));
    const { runtime, config } = await setting.open({ environment: withOwnNpx(setting) });
    expect([config().problems, [...config().parsed.problems]]).toEqual([[], []]);
    expect(runtime.serverNames()).toEqual(NAMES[name]);
    await runtime.connectAll();
    expect(runtime.tools().map((tool) => tool.name)).toContain('mcp__github__echo');
    const [part] = (await runtime.callTool('github', 'env')).content;
    expect(JSON.parse(part?.type === 'text' ? part.text : '{}').GITHUB_TOKEN).toBe('gh-1');
  });

  it.each(['.turnbuckle/mcp.json', '.turnbuckle/mcp.local.json', 'mcp-servers.json'])(
    'loads as %s of a project after agreement',
    async (file) => {
      const setting = await createSetting();
      await setting.write(join(setting.project, file), document(name));
      const { runtime, config, trust, reload } = await setting.open({ environment: withOwnNpx(setting) });
      expect(config().problems).toEqual([]);
      for (const { problem } of config().servers.values())
        expect(problem).toMatchObject({ code: 'TRUST_REQUIRED' });
      await trust.agree([...config().servers.values()]);
      await reload();
      expect([...config().parsed.problems]).toEqual([]);
      await runtime.connect('github');
      expect(runtime.serverStatus('github')).toMatchObject({ status: 'connected', transport: 'stdio' });
    },
  );

  it('is accepted by the JSON Schema, and by a program', async () => {
    const read: unknown = JSON.parse(document(name));
    expect(Compile(jsonSchema()).Errors(read)).toEqual([true, []]);
    const { servers, problems } = parseServers((read as { servers: unknown }).servers);
    expect([...servers.keys()].sort()).toEqual(NAMES[name]);
    expect(problems.size).toBe(0);
  });
});

it('the example with a list names its tools after the name, and starts only what is enabled', async () => {
  const setting = await createSetting();
  await setting.write(setting.userFile, document('servers-list'));
  const { runtime, config } = await setting.open({ environment: withOwnNpx(setting) });
  expect(config().settings).toEqual({
    subAgentEnabled: true,
    autoDiscoveryEnabled: false,
    toolApprovalRequired: true,
  });
  await runtime.connectAll();
  expect(runtime.status().map(({ name, status }) => [name, status])).toEqual([
    ['brave-search', 'disabled'],
    ['filesystem', 'connected'],
    ['github', 'connected'],
  ]);
});

describe('transport', () => {
  it.each([
    [{ transport: 'stdio', command: 'x' }, 'stdio'],
    [{ transport: 'streamable-http', url: 'https://h' }, 'http'],
    [{ transport: 'http', type: 'streamableHttp', url: 'https://h' }, 'http'],
    [{ transport: 'sse', url: 'https://h' }, 'sse'],
    [{ transport: 'ws', url: 'wss://h' }, 'websocket'],
    [{ transport: undefined, command: 'x' }, 'stdio'],
  ])('%j is of type %s', (entry, type) => {
    const parsed = parseServer('one', entry);
    expect(parsed.type).toBe(type);
    expect(parsed).not.toHaveProperty('transport');
  });

  it.each([
    [
      { transport: 'stdio', type: 'http', url: 'https://h' },
      'servers.one.transport: "transport" is "stdio", but "type" is "http" (remove one of them)',
    ],
    [
      { transport: 'http', type: 5, url: 'https://h' },
      '"transport" is "http", but "type" is 5 (remove one of them)',
    ],
    [{ transport: 'sdtio', command: 'x' }, 'unknown transport "sdtio" (did you mean "stdio"?)'],
    [{ transport: 7, command: 'x' }, 'servers.one.transport: expected a transport name, found 7'],
  ])('%j is a problem', (entry, text) => {
    expect(() => parseServer('one', entry)).toThrow(text);
  });

  it('points to the line of the key', async () => {
    const setting = await createSetting();
    await setting.write(
      setting.userFile,
      '{ "servers": { "one": {\n  "command": "x",\n  "type": "stdio",\n  "transport": "http" } } }',
    );
    const { problem } = (await setting.load()).servers.get('one') ?? {};
    expect(problem?.message).toContain(
      `${setting.userFile}:4:3: servers.one.transport: "transport" is "http"`,
    );
  });

  it('is part of what the user of a project agrees to', async () => {
    const setting = await createSetting();
    const write = (transport: string) =>
      setting.write(setting.projectFile, { servers: { one: { transport, url: 'http://127.0.0.1:1/mcp' } } });
    await write('http');
    const { config, trust, reload } = await setting.open();
    await trust.agree([...config().servers.values()]);
    await reload();
    expect(config().servers.get('one')?.problem).toBeUndefined();
    await write('sse');
    await reload();
    expect(config().servers.get('one')?.problem).toMatchObject({
      code: 'TRUST_REQUIRED',
      message: expect.stringContaining('transport'),
    });
  });
});

describe('an id beside a name', () => {
  it('has no meaning, except for a hosted proxy', () => {
    const { servers, problems } = parseServers([
      { id: 'a', name: 'one', command: 'x' },
      { id: 'b', name: 'two', type: 'claudeai-proxy', url: 'https://h' },
      { id: 'c', name: 'three', baseUrl: 'https://h' },
      { id: 'four', url: 'https://h' },
    ]);
    expect(problems.size).toBe(0);
    expect([...servers].map(([name, server]) => [name, server.type, Reflect.get(server, 'id')])).toEqual([
      ['one', 'stdio', undefined],
      ['two', 'proxy', 'b'],
      ['three', 'proxy', 'c'],
      ['four', 'http', undefined],
    ]);
  });

  it('does not make a name unique', async () => {
    const setting = await createSetting();
    const servers = [
      { id: 'a', name: 'same', command: 'x' },
      { id: 'b', name: 'same', command: 'y' },
    ];
    await setting.write(setting.userFile, { servers });
    const config = await setting.load();
    expect(config.problems[0]?.message).toContain('servers[1]: duplicate name "same"');
    expect(config.parsed.servers.get('same')).toMatchObject({ command: 'x' });
    expect([...parseServers(servers).problems.keys()]).toEqual(['same (servers[1])']);
  });

  it('adjusts the server of another file', async () => {
    const setting = await createSetting();
    await setting.write(setting.userFile, { servers: { one: { command: 'x' } } });
    await setting.write(setting.localFile, { servers: [{ id: 'a', name: 'one', enabled: false }] });
    const config = await setting.load();
    expect(config.parsed.servers.get('one')).toMatchObject({ command: 'x', enabled: false });
  });
});

describe('a hosted proxy', () => {
  it.each([
    { type: 'claudeai-proxy', url: 'https://h/p', id: 'x' },
    { transport: 'claudeai-proxy', url: 'https://h/p', id: 'x' },
    { type: 'proxy', baseUrl: 'https://h/p', id: 'x' },
  ])('can have its address in either key: %j', async (entry) => {
    expect(parseServer('one', entry)).toMatchObject({ type: 'proxy', baseUrl: 'https://h/p', id: 'x' });
    expect(Compile(jsonSchema()).Errors({ servers: { one: entry } })).toEqual([true, []]);
    const setting = await createSetting();
    await setting.write(setting.userFile, { servers: { one: entry } });
    const { parsed } = await setting.load();
    expect(parsed.servers.get('one')).toMatchObject({ baseUrl: 'https://h/p', scope: 'claudeai' });
  });

  it('cannot have both, and an invalid one is named as written', () => {
    const proxy = (more: object) => () => parseServer('one', { type: 'proxy', id: 'x', ...more });
    expect(proxy({ url: 'https://h', baseUrl: 'https://g' })).toThrow(
      'servers.one.url: a server cannot have both "baseUrl" and "url" (remove one of them)',
    );
    expect(proxy({ url: 'nowhere' })).toThrow('servers.one.url: expected an http:// or https:// URL');
    expect(proxy({})).toThrow('servers.one.baseUrl: expected a string, found nothing');
  });
});

// requirement K1
describe('the type of auth', () => {
  it.each(['api-key', 'apiKey', 'api_key', 'apikey'])('%s is an API key', async (type) => {
    const entry = { url: 'https://h', auth: { type, apiKey: 'k' } };
    expect(parseServer('one', entry)).toMatchObject({ auth: { type: 'api-key', headerName: 'X-API-Key' } });
    expect(Compile(jsonSchema()).Errors({ servers: { one: entry } })).toEqual([true, []]);
    const runtime = await runtimeFor({ one: entry });
    expect(await runtime.signInStatus('one')).toMatchObject({ type: 'api-key' });
  });

  it.each(['token-file', 'tokenFile', 'token_file'])('%s is a token file', (type) => {
    const entry = { url: 'https://h', auth: { type, tokenPath: '/t' } };
    expect(parseServer('one', entry)).toMatchObject({ auth: { type: 'token-file', tokenPath: '/t' } });
    expect(Compile(jsonSchema()).Errors({ servers: { one: entry } })).toEqual([true, []]);
  });

  it('none sends nothing, and a wrong one is a problem', () => {
    expect(parseServer('one', { url: 'https://h', auth: { type: 'none' } })).toMatchObject({
      auth: { type: 'none' },
    });
    expect(() => parseServer('one', { url: 'https://h', auth: { type: 'key', apiKey: 'k' } })).toThrow(
      'servers.one.auth.type',
    );
  });
});
