import { fixture } from '@turnbuckle/testing';
import type { ServersInput } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';
import { createOwnRuntime } from './own-runtime.js';
import { say } from './with-runtime.js';

const SECRET = 'hunter2-very-secret';

/** A bad entry, and the words that its error must contain. */
const BAD: Record<string, readonly [entry: unknown, ...words: string[]]> = {
  'not an object': ['npx', 'servers.bad', '"npx"'],
  null: [null, 'servers.bad', 'null'],
  'a list': [['npx'], 'servers.bad'],
  'neither command nor url': [{}, 'servers.bad', 'command', 'url'],
  'misspelt command': [{ comand: 'npx' }, '"comand"', '"command"'],
  'command of a wrong type': [{ command: 5 }, 'servers.bad.command', '5'],
  'empty command': [{ command: '' }, 'servers.bad.command'],
  'arguments as a text': [{ command: 'npx', args: '-y pkg' }, 'servers.bad.args'],
  'one argument of a wrong type': [{ command: 'npx', args: ['-y', 7] }, 'servers.bad.args[1]'],
  'unknown key': [{ command: 'npx', argz: [] }, 'servers.bad.argz', 'did you mean "args"'],
  'url with a wrong scheme': [{ type: 'http', url: 'ftp://host/x' }, 'servers.bad.url', 'ftp://host/x'],
  'no url at all': [{ type: 'http', url: 'nowhere' }, 'servers.bad.url', 'nowhere'],
  'url of a wrong type': [{ url: 7 }, 'servers.bad.url', '7'],
  'missing url': [{ type: 'sse' }, 'servers.bad.url', 'nothing'],
  'a web address for a socket': [{ type: 'websocket', url: 'https://host' }, 'servers.bad.url', 'ws://'],
  'unknown transport': [
    { type: 'htpp', url: 'https://host' },
    'servers.bad.type',
    '"htpp"',
    'did you mean "http"',
  ],
  'transport of a wrong type': [{ type: 5, url: 'https://host' }, 'servers.bad.type', '5'],
  'transport of an object member': [
    { type: 'constructor', url: 'https://host' },
    'servers.bad.type',
    '"constructor"',
  ],
  'transport __proto__': [{ type: '__proto__', url: 'https://host' }, 'servers.bad.type', '"__proto__"'],
  'negative timeout': [{ command: 'x', callTimeoutMs: -1 }, 'servers.bad.callTimeoutMs', '-1'],
  'endless timeout': [{ command: 'x', maxCallMs: Infinity }, 'servers.bad.maxCallMs'],
  'unknown key of reconnect': [{ command: 'x', reconnect: { retries: 1 } }, 'servers.bad.reconnect.retries'],
  'in-process without a server': [
    { type: 'in-process', server: {} },
    'servers.bad.server',
    'MCP server object',
  ],
  'proxy with a path for an id': [
    { type: 'proxy', baseUrl: 'https://host', id: '../x' },
    'servers.bad.id',
    '"../x"',
  ],
  'header value of a wrong type': [
    { url: 'https://host', headers: { 'X-Key': [SECRET] } },
    'servers.bad.headers.X-Key',
  ],
  'environment value of a wrong type': [{ command: 'x', env: { KEY: { v: SECRET } } }, 'servers.bad.env.KEY'],
  'environment as a text': [{ command: 'x', env: `KEY=${SECRET}` }, 'servers.bad.env'],
  'headers as a text': [{ url: 'https://host', headers: `X-Key: ${SECRET}` }, 'servers.bad.headers'],
  'token of a wrong type': [
    { type: 'proxy', baseUrl: 'https://host', id: 'x', token: [SECRET] },
    'servers.bad.token',
  ],
  'misspelt headers': [{ url: 'https://host', header: { Authorization: SECRET } }, '"header"', '"headers"'],
  'credential in a wrong url': [{ type: 'http', url: `ftp://user:${SECRET}@host/x` }, 'servers.bad.url'],
};

describe('a configuration with one invalid entry', () => {
  it.each(Object.entries(BAD))(
    'reports key and value, no secret, and does not affect the rest: %s',
    async (_, row) => {
      const [bad, ...words] = row;
      const good = { ...fixture('echo'), start: 'lazy' };
      const runtime = await createOwnRuntime({ servers: { bad, good } as unknown as ServersInput });
      try {
        const { status, state, error } = runtime.serverStatus('bad');
        expect({ status, state, code: error?.code }).toEqual({
          status: 'failed',
          state: 'error',
          code: 'CONFIG_INVALID',
        });
        for (const word of words) expect(error?.message).toContain(word);
        expect(JSON.stringify([error, runtime.status()])).not.toContain(SECRET);
        expect(error?.message.length).toBeLessThan(600);
        expect(runtime.serverStatus('good').status).toBe('pending');
        await expect(runtime.callTool('bad', 'x')).rejects.toMatchObject({
          code: 'CONFIG_INVALID',
          server: 'bad',
        });
      } finally {
        await runtime.close();
      }
    },
  );

  it('still serves the valid servers', async () => {
    const servers = { bad: { comand: 'npx' }, good: fixture('echo') } as unknown as ServersInput;
    const runtime = await createOwnRuntime({ servers });
    try {
      await runtime.connectAll();
      expect(await say(runtime, 'good', 'fine')).toBe('fine');
    } finally {
      await runtime.close();
    }
  });

  it.each([['a text'], [7], [null], [true]])('is a failed entry when servers is %j', async (servers) => {
    const runtime = await createOwnRuntime({ servers: servers as unknown as ServersInput });
    // Null may mean no configuration or a mistake; in both cases the runtime must stay usable.
    expect(runtime.status().every(({ error }) => error?.code === 'CONFIG_INVALID')).toBe(true);
    await runtime.connectAll();
    await runtime.close();
  });

  it('keeps the first of two servers with one name', async () => {
    const servers = [
      { name: 'twin', command: 'first' },
      { name: 'twin', command: 'second' },
      { id: 'other', command: 'third' },
      { command: 'nameless' },
      'junk',
    ] as unknown as ServersInput;
    const runtime = await createOwnRuntime({ servers });
    const words = runtime.status().map(({ name, error, config }) => [name, error?.code ?? config?.command]);
    expect(words).toEqual([
      ['other', 'third'],
      ['servers[3]', 'CONFIG_INVALID'],
      ['servers[4]', 'CONFIG_INVALID'],
      ['twin', 'first'],
      ['twin (servers[1])', 'CONFIG_INVALID'],
    ]);
    await runtime.close();
  });

  it.each(['', ' ', ' padded ', 'a\nb', 'x'.repeat(129), '\u0000'])('refuses the name %j', async (name) => {
    const runtime = await createOwnRuntime({ servers: { [name]: { command: 'x' } } });
    expect(runtime.status()).toMatchObject([{ error: { code: 'CONFIG_INVALID' } }]);
    await runtime.close();
  });
});

describe('names that are members of every object', () => {
  const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype'];

  it('are names like any other, and pollute nothing', async () => {
    const entry = JSON.stringify(fixture('echo'));
    const servers: ServersInput = JSON.parse(`{${NAMES.map((name) => `"${name}":${entry}`).join(',')}}`);
    const runtime = await createOwnRuntime({});
    try {
      const { added, errors } = await runtime.setServers(servers);
      expect([...added].sort()).toEqual([...NAMES].sort());
      expect(Object.keys(errors)).toEqual([]);
      for (const name of NAMES) expect(await say(runtime, name, name)).toBe(name);
      const tools = runtime.tools().filter(({ tool }) => tool === 'pid');
      expect(tools.map(({ server }) => server).sort()).toEqual([...NAMES].sort());
      for (const { name } of tools) expect((await runtime.execute(name)).success).toBe(true);
      expect(Reflect.get({}, 'command')).toBeUndefined();
    } finally {
      await runtime.close();
    }
  });

  it('name their errors too', async () => {
    const runtime = await createOwnRuntime({});
    const servers: ServersInput = JSON.parse(
      '{"__proto__":{"comand":"x"},"constructor":{"command":"/nonexistent/x"}}',
    );
    const { errors } = await runtime.setServers(servers);
    expect(Object.keys(errors).sort()).toEqual(['__proto__', 'constructor']);
    await runtime.close();
  });
});
