/** The `credentials` of a server in a file: what they may contain, when they are filled in, and who agrees to them. */
import { fixture } from '@turnbuckle/testing';
import type { Caller } from 'turnbuckle';
import { dangersOf, jsonSchema, redactConfig } from 'turnbuckle/host';
import { Compile } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { TrustStore } from '../../src/config/trust/trust.js';
import { startHeaderServer } from '../auth/header-server.js';
import { createSetting } from './setting.js';

const agent = (id: string): Caller => ({ id, capabilities: ['mcp_integration'] });
const validator = Compile(await jsonSchema());

const GOOD: Readonly<Record<string, object>> = {
  'a local server': { command: 'x', credentials: { ada: { env: { K: '${secret:ada}' } }, '*': false } },
  'a remote server': {
    url: 'https://h/mcp',
    share: 'session',
    credentials: { 'jwt:ada@h': { headers: { K: 'v' }, auth: { type: 'oauth', account: 'a' } } },
  },
  'a socket': { url: 'wss://h', credentials: { ada: { auth: { type: 'bearer', token: 't' } } } },
  'a hosted proxy': {
    type: 'proxy',
    baseUrl: 'https://h',
    id: 'x',
    credentials: { ada: { token: 't', headers: {} } },
  },
  'nobody yet': { command: 'x', credentials: {} },
};

const BAD: Readonly<Record<string, readonly [entry: object, path: string, text: string]>> = {
  'a key of another transport': [
    { command: 'x', credentials: { ada: { headers: { K: 'a-value' } } } },
    'credentials.ada.headers',
    'unknown key',
  ],
  'no object': [{ command: 'x', credentials: { ada: 'a-value' } }, 'credentials.ada', 'expected an object'],
  'false for one caller': [
    { command: 'x', credentials: { ada: false } },
    'credentials.ada',
    'expected an object',
  ],
  'an entry for all others': [{ command: 'x', credentials: { '*': {} } }, 'credentials.*', 'expected false'],
  'true for all others': [{ command: 'x', credentials: { '*': true } }, 'credentials.*', 'expected false'],
  'no text': [
    { command: 'x', credentials: { ada: { env: { K: 5 } } } },
    'credentials.ada.env.K',
    'expected a string',
  ],
  'a name that its client chooses': [
    { command: 'x', credentials: { 'stdio:cursor': { env: {} } } },
    'credentials',
    'use a token name instead',
  ],
  'an empty name': [{ command: 'x', credentials: { '': {} } }, 'credentials', 'expected caller names'],
  'too many callers': [
    {
      command: 'x',
      credentials: Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`a${at}`, {}])),
    },
    'credentials',
    '1001 entries (maximum 1000)',
  ],
  'one connection for all': [
    { command: 'x', share: 'shared', credentials: { ada: { env: { K: 'a-value' } } } },
    'share',
    'cannot share a connection',
  ],
};

describe('the credentials of callers', () => {
  it.each(Object.keys(GOOD))('may be those of %s', async (name) => {
    const { userFile, write, load } = await createSetting();
    await write(userFile, { servers: { one: GOOD[name] } });
    const { servers } = await load();
    expect(servers.get('one')?.problem).toBeUndefined();
    expect(servers.get('one')?.config?.share).toBe(name === 'a remote server' ? 'session' : 'agent');
    expect(validator.Check({ servers: { one: GOOD[name] } })).toBe(true);
  });

  it.each(Object.keys(BAD))('cannot be %s', async (name) => {
    const [entry, path, text] = BAD[name] ?? [];
    const { userFile, write, load } = await createSetting();
    await write(userFile, { servers: { one: entry } });
    const problem = (await load()).servers.get('one')?.problem;
    expect(problem).toMatchObject({ code: 'CONFIG_INVALID', server: 'one' });
    expect(problem?.message).toContain(`servers.one.${path}: `);
    expect(problem?.message).toContain(text);
    expect(problem?.message).not.toContain('a-value');
  });

  // requirement K2
  it('are filled in for the connection of their caller, and for no other one', async () => {
    const { userFile, write, open, environment } = await createSetting();
    const one = {
      ...fixture('echo'),
      env: { API_KEY: '${HOST_KEY}' },
      credentials: { ada: { env: { API_KEY: '${ADA_KEY}' } }, bob: { env: { API_KEY: '${BOB_KEY}' } } },
    };
    await write(userFile, { servers: { one }, toolApprovalRequired: false });
    const { runtime } = await open({ environment: { ...environment, ADA_KEY: 'key-of-ada' } });
    const keyOf = async (caller?: Caller): Promise<unknown> => {
      const { content } = await runtime.callTool('one', 'env', {}, { caller });
      return JSON.parse(content[0]?.type === 'text' ? content[0].text : '{}').API_KEY;
    };
    expect(await keyOf(agent('ada'))).toBe('key-of-ada');
    await expect(keyOf(agent('bob'))).rejects.toMatchObject({
      code: 'VARIABLE_MISSING',
      message: expect.stringContaining(
        `BOB_KEY, which is not set (credentials.bob.env.API_KEY in ${userFile}`,
      ),
    });
    await expect(keyOf()).rejects.toMatchObject({ message: expect.stringContaining('HOST_KEY') });
    expect(JSON.stringify(runtime.status())).toContain('${ADA_KEY}');
    expect(JSON.stringify(runtime.redact({ it: 'key-of-ada' }))).not.toContain('key-of-ada');
  });

  // requirement K2
  it.each(['api-key', 'apiKey', 'api_key', 'apikey'])(
    'replace a key of the server, whose type is written as %s',
    async (type) => {
      const { userFile, write, open } = await createSetting();
      const url = await startHeaderServer();
      const ofServer = { type, apiKey: 'key-of-host' };
      const servers = {
        one: { url, auth: ofServer, credentials: { ada: { headers: { 'x-api-key': 'key-of-ada' } } } },
        two: {
          url,
          headers: { 'X-Api-Key': 'key-of-host' },
          credentials: { ada: { auth: { type, apiKey: 'key-of-ada' } } },
        },
      };
      await write(userFile, { servers, toolApprovalRequired: false });
      const { runtime } = await open();
      for (const server of ['one', 'two']) {
        const keyOf = async (caller?: Caller): Promise<unknown> => {
          const { content } = await runtime.callTool(server, 'headers', {}, { caller });
          return JSON.parse(content[0]?.type === 'text' ? content[0].text : '{}')['x-api-key'];
        };
        expect(await keyOf(agent('ada')), server).toBe('key-of-ada');
        expect(await keyOf(), server).toBe('key-of-host');
      }
    },
  );

  it('are part of what a user agrees to', async () => {
    const { projectFile, stateDir, write, load } = await createSetting();
    const trust = new TrustStore(stateDir);
    const server = (credentials?: object): object => ({
      servers: { one: { command: 'x', ...(credentials && { credentials }) } },
    });
    const agree = async (): Promise<void> => {
      const one = (await load()).servers.get('one');
      if (one !== undefined) await trust.agree([one]);
    };
    const problem = async () => (await load()).servers.get('one')?.problem;
    await write(projectFile, server());
    await agree();
    expect(await problem()).toBeUndefined();
    await write(projectFile, server({ ada: { env: { K: '1' } } }));
    expect(await problem()).toMatchObject({ code: 'TRUST_REQUIRED', data: { changedKeys: ['credentials'] } });
    await agree();
    expect(await problem()).toBeUndefined();
    await write(projectFile, server({ ada: { env: { K: '2' } } }));
    expect(await problem()).toMatchObject({ code: 'TRUST_REQUIRED' });
  });

  it('cannot set an unsafe environment variable in a project', async () => {
    const { projectFile, stateDir, write, load } = await createSetting();
    const entry = {
      command: 'x',
      credentials: { ada: { env: { K: '1' } }, bob: { env: { NODE_OPTIONS: '-r x' } } },
    };
    await write(projectFile, { servers: { one: entry } });
    const one = (await load()).servers.get('one');
    if (one !== undefined) await new TrustStore(stateDir).agree([one]);
    expect((await load()).servers.get('one')?.problem).toMatchObject({
      code: 'CONFIG_INVALID',
      data: { path: 'servers.one.credentials.bob.env.NODE_OPTIONS' },
    });
    expect(dangersOf(entry)).toEqual([expect.stringContaining('NODE_OPTIONS')]);
  });

  it('of a user’s server are not shared because a project says so', async () => {
    const { projectFile, userFile, write, load } = await createSetting();
    await write(userFile, { servers: { one: { command: 'x', credentials: { ada: { env: { K: '1' } } } } } });
    await write(projectFile, { servers: { one: { share: 'shared' } } });
    expect((await load()).parsed.servers.get('one')?.share).toBe('agent');
  });

  it('are hidden wherever an entry is shown, also an invalid one', () => {
    const credentials = {
      ada: { env: { K: 'a-value' }, auth: { type: 'bearer', token: 'a-value' } },
      env: { headers: { K: 'Bearer ${KEY}' } },
      bob: 'a-value',
      '*': false,
    };
    expect(redactConfig({ credentials })).toEqual({
      credentials: {
        ada: { env: { K: '[redacted]' }, auth: { type: 'bearer', token: '[redacted]' } },
        env: { headers: { K: 'Bearer ${KEY}' } },
        bob: '[redacted]',
        '*': false,
      },
    });
  });
});
