/** Two agents with different credentials at the same servers: each acts as itself, however it reaches the daemon. */
import { connect } from 'node:net';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { fixture, isAlive, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import {
  type AuthorizationServer,
  startAuthorizationServer,
  startProtectedServer,
  visit,
} from '@turnbuckle/testing/authorization-server';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';
import { createClient, type Era } from './stand.js';

const SECRETS = {
  TURNBUCKLE_SECRET_ADA: 'key-of-ada',
  TURNBUCKLE_SECRET_BOB: 'key-of-bob',
};

let own: OwnDaemon;
let authorization: AuthorizationServer;
const tokens = new Map<string, string>();
const stops: Array<() => Promise<void>> = [];

beforeAll(async () => {
  authorization = await startAuthorizationServer({});
  const web = await startProtectedServer({
    authorizationServer: authorization,
    scope: 'tools:read',
    tellsSubject: true,
  });
  stops.push(
    () => web.stop(),
    () => authorization.stop(),
  );
  const home = await temporaryDirectory();
  stops.push(() => home.remove());
  own = await ownDaemon(
    {
      servers: {
        local: {
          ...fixture('echo'),
          env: { API_KEY: 'key-of-host' },
          credentials: {
            ada: { env: { API_KEY: '${secret:ada}' } },
            bob: { env: { API_KEY: '${secret:bob}' } },
            '*': false,
          },
        },
        web: {
          url: web.url,
          credentials: {
            ada: { auth: { type: 'oauth' } },
            bob: { auth: { type: 'oauth' } },
            cyd: { headers: { 'X-Team': 'c' } },
          },
        },
      },
      daemon: { views: { some: { servers: ['local', 'web'], tools: ['env', 'meta'] } } },
      rules: [{ action: 'allow', caller: ['ada', 'bob', 'cyd', 'eve', 'stdio:*'] }],
    },
    { environment: { ...process.env, HOME: home.path, XDG_CONFIG_HOME: home.path, ...SECRETS } },
  );
  for (const name of ['ada', 'bob', 'cyd', 'eve']) await createToken(name);
  await own.daemon.configured.runtime.connectAll();
  for (const [agent, who] of [
    ['ada', 'Ada'],
    ['bob', 'Bob'],
  ] as const)
    await signIn(agent, who);
});
afterAll(async () => {
  await own?.close();
  for (const stop of stops) await stop();
});

async function createToken(name: string): Promise<string> {
  const { body } = await own.post('/api/tokens', { name, can: ['mcp_integration'], access: ['call'] });
  tokens.set(name, String(body.token));
  return String(body.token);
}

const PATH = '/api/servers/web/sign-in';

/** Through the API of the daemon, as its owner. */
async function signIn(agent: string, who: string): Promise<void> {
  authorization.person.name = who;
  const { body } = await own.post(`${PATH}?agent=${agent}`, {});
  await visit(String(body.url));
  await waitUntil(async () => {
    const status = await (await own.fetch(`${PATH}?agent=${agent}`)).json();
    return (status as { signedIn: boolean }).signedIn;
  });
}

interface Way {
  readonly way: string;
  /** The text that a tool returns to this caller. */
  call(caller: string, server: string, tool: string): Promise<string>;
}

const textOf = (result: unknown): string =>
  (result as { content?: Array<{ text?: string }> } | undefined)?.content?.[0]?.text ??
  JSON.stringify(result);

async function connectClient(era: Era, caller: string, path = '/mcp'): Promise<Client> {
  const client = createClient({ era });
  const headers = { authorization: `Bearer ${tokens.get(caller)}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(own.daemon.url + path), { requestInit: { headers } }),
  );
  onTestFinished(() => client.close());
  return client;
}

const overMcp = (era: Era, path?: string): Way => ({
  way: `MCP over HTTP, ${era}${path === undefined ? '' : `, ${path}`}`,
  call: async (caller, server, tool) => {
    const client = await connectClient(era, caller, path);
    return textOf(await client.callTool({ name: `${server}_${tool}`, arguments: {} }));
  },
});

const overBridge: Way = {
  way: 'the bridge',
  call: async (caller, server, tool) => {
    const { body } = await own.post('/mcp/call', { server, tool_name: tool }, tokens.get(caller));
    return body.success === true ? textOf(body.result) : JSON.stringify(body);
  },
};

/** As `serve --stdio --as <caller>` does it: the owner's token, and the name of another one. */
const overStdio: Way = {
  way: 'stdio',
  call: async (caller, server, tool) => {
    const { host, port } = new URL(own.daemon.url);
    const socket = connect(Number(port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    const head = [
      `host: ${host}`,
      `authorization: Bearer ${own.daemon.token}`,
      `turnbuckle-caller: ${caller}`,
    ];
    socket.write(['CONNECT mcp-stdio:0 HTTP/1.1', ...head, '', ''].join('\r\n'));
    const send = (id: number, method: string, params: object): void =>
      void socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    await waitUntil(() => text.includes('\r\n\r\n'));
    send(1, 'initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    });
    send(2, 'tools/call', { name: `${server}_${tool}`, arguments: {} });
    await waitUntil(() => /"id":2\b.*\n/.test(text));
    const line = text.split('\n').find((one) => /"id":2\b/.test(one)) ?? '{}';
    const { result, error } = JSON.parse(line);
    return textOf(result ?? error);
  },
};

const WAYS = [
  overMcp('legacy'),
  overMcp('modern'),
  overMcp('legacy', '/mcp/some'),
  overMcp('modern', '/mcp/some'),
  overBridge,
  overStdio,
];

describe.each(WAYS)('over $way', ({ call }) => {
  // requirement K2
  it('each agent has its own key at a local server, and nobody else has one', async () => {
    const keyOf = async (caller: string): Promise<unknown> =>
      JSON.parse(await call(caller, 'local', 'env')).API_KEY;
    expect(await Promise.all([keyOf('ada'), keyOf('bob')])).toEqual(['key-of-ada', 'key-of-bob']);
    expect(await call('eve', 'local', 'env')).toContain('no credentials for');
  });

  // requirement K2
  it('each agent has its own account at a server with sign-in', async () => {
    const subjectOf = async (caller: string): Promise<unknown> =>
      JSON.parse(await call(caller, 'web', 'meta')).subject;
    expect(await Promise.all([subjectOf('ada'), subjectOf('bob')])).toEqual(['Ada', 'Bob']);
    // The server itself is not signed in.
    for (const caller of ['cyd', 'eve']) {
      const refused = await call(caller, 'web', 'meta');
      expect(refused).toContain('turnbuckle login web');
      expect(refused).not.toContain('--agent');
    }
  });
});

describe.each(['legacy', 'modern'] as const)('the list of an agent, %s', (era) => {
  it('has the tools of its own account although the server itself is not signed in', async () => {
    const namesOf = async (caller: string, path?: string): Promise<string[]> => {
      const { tools } = await (await connectClient(era, caller, path)).listTools();
      return tools.map(({ name }) => name).filter((name) => name.startsWith('web_'));
    };
    expect(await namesOf('ada')).toContain('web_meta');
    expect(await namesOf('bob')).toContain('web_echo');
    expect((await namesOf('ada', '/mcp/some')).sort()).toEqual(['web_env', 'web_meta']);
    expect(await namesOf('eve')).toEqual([]);
  });
});

it('a new token with the name of a revoked one gets a connection of its own', async () => {
  const pid = (): Promise<string> => overBridge.call('ada', 'local', 'pid');
  const before = await pid();
  expect(await pid()).toBe(before);
  expect((await own.fetch('/api/tokens/ada', { method: 'DELETE' })).status).toBeLessThan(300);
  await waitUntil(() => !isAlive(Number(before)));
  await createToken('ada');
  expect(await pid()).not.toBe(before);
});

it('the sign-in of an agent is shown to it and to the owner, and ends alone', async () => {
  const { body } = await own.post('/api/tokens', {
    name: 'reader',
    can: ['mcp_integration'],
    access: ['read'],
  });
  const reading = await own.fetch(`${PATH}?agent=ada`, { token: String(body.token) });
  expect(reading.status).toBe(403);
  expect(await (await own.fetch(`${PATH}?agent=bob`)).json()).toMatchObject({
    signedIn: true,
    account: 'agent:bob',
  });
  const unknown = await own.fetch(`${PATH}?agent=eve`);
  expect(await unknown.json()).toMatchObject({ code: 'ARGUMENTS_INVALID' });
  const out = await own.fetch(`${PATH}?agent=bob`, { method: 'DELETE' });
  expect(await out.json()).toEqual({ cancelled: false, found: true, revoked: true });
  expect(await overBridge.call('bob', 'web', 'meta')).toContain('turnbuckle login web --agent bob');
  expect(JSON.parse(await overBridge.call('ada', 'web', 'meta')).subject).toBe('Ada');
});

it('an agent without a login of its own has no sign-in that anyone could start, see or end', async () => {
  const ofCyd = `${PATH}?agent=cyd`;
  const answers = [
    await (await own.fetch(ofCyd)).json(),
    (await own.post(ofCyd, {})).body,
    await (await own.fetch(ofCyd, { method: 'DELETE' })).json(),
  ];
  for (const answer of answers) {
    expect(answer).toMatchObject({ code: 'ARGUMENTS_INVALID' });
    expect(JSON.stringify(answer)).toContain('It uses the account configured for the server');
  }
});

it('no value is in what the daemon shows or logs', async () => {
  await overBridge.call('ada', 'local', 'echo');
  const shown = await Promise.all(
    ['/api/servers', '/api/servers/local', '/api/calls', '/servers', '/metrics'].map(async (path) =>
      (await own.fetch(path)).text(),
    ),
  );
  expect(shown.join('\n')).not.toMatch(/key-of-(ada|bob|host)/);
  expect(shown.join('\n')).toContain('${secret:ada}');
});

it('a changed entry takes effect', async () => {
  const { runtime } = own.daemon.configured;
  expect(JSON.parse(await overBridge.call('bob', 'local', 'env')).API_KEY).toBe('key-of-bob');
  own.configure({
    servers: { local: { ...fixture('echo'), credentials: { bob: { env: { API_KEY: 'a-new-key' } } } } },
    rules: [{ action: 'allow', caller: ['ada', 'bob'] }],
  });
  await own.daemon.configured.reload();
  expect(JSON.parse(await overBridge.call('bob', 'local', 'env')).API_KEY).toBe('a-new-key');
  expect(JSON.parse(await overBridge.call('ada', 'local', 'env')).API_KEY).toBeUndefined();
  expect(runtime.redact('a-new-key')).not.toBe('a-new-key');
});
