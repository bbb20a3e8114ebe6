/** Property names that are special in JavaScript are ordinary keys in data of servers and agents, in every response. */
import { waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { type OwnDaemon, ownDaemon } from './own-daemon.js';

const KEYS = [
  'toJSON',
  'constructor',
  '__proto__',
  'then',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'length',
];
/** Parsed from JSON, so that it is an own key, whatever its name. */
const odd = (key: string): object => JSON.parse(`{"${key}":"mark-${key}"}`);
/** The text to look for, also where the key is part of a schema. */
const marked = (key: string): string => `"mark-${key}"`;
const schemaWith = (key: string): object => JSON.parse(`{"${key}":{"type":"string","title":"mark-${key}"}}`);

const initialize = (key: string): object => ({
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, resources: {}, prompts: {}, experimental: schemaWith(key) },
  serverInfo: { name: 'up', version: '1' },
});
const open = (key: string): Promise<Upstream> =>
  openUpstream({
    tools: [
      {
        name: 'tool',
        inputSchema: { type: 'object', properties: schemaWith(key) },
        annotations: odd(key),
        _meta: odd(key),
      },
    ],
    answers: {
      initialize: () => initialize(key),
      'resources/list': () => ({ resources: [{ uri: 'a://b', name: 'b', annotations: odd(key) }] }),
      'resources/templates/list': () => ({
        resourceTemplates: [{ uriTemplate: 'a://{b}', name: 'b', _meta: odd(key) }],
      }),
      'prompts/list': () => ({ prompts: [{ name: 'prompt', arguments: [], _meta: odd(key) }] }),
      'prompts/get': () => ({ messages: [], _meta: odd(key) }),
      'resources/read': () => ({ contents: [{ uri: 'a://b', text: 'x', _meta: odd(key) }] }),
      'tools/call': () => ({ content: [], structuredContent: { a: odd(key), ...odd(key) } }),
    },
  });

let ups: readonly Upstream[];
let own: OwnDaemon;
let agent: string;
beforeAll(async () => {
  ups = await Promise.all(KEYS.map(open));
  const servers = Object.fromEntries(ups.map(({ url }, at) => [`s${at}`, { url, start: 'eager' }]));
  own = await ownDaemon({
    servers,
    rules: [
      { action: 'allow', kind: 'resource' },
      { action: 'allow', kind: 'prompt' },
    ],
  });
  const made = await own.post('/api/tokens', { name: 'agent', can: ['mcp_integration'], access: ['call'] });
  agent = String(made.body.token);
  await waitUntil(
    async () => (await (await own.fetch('/api/tools')).text()).split('"tool":').length > KEYS.length,
  );
});
afterAll(async () => {
  await own.close();
  await Promise.all(ups.map((up) => up.close()));
});

async function textOf(path: string, init?: Parameters<OwnDaemon['fetch']>[1]): Promise<string> {
  const answer = await own.fetch(path, init);
  const text = await answer.text();
  expect(answer.status, `${path} ${text.slice(0, 200)}`).toBe(200);
  return text;
}

const post = (path: string, body: object | string, token?: string): Promise<string> =>
  textOf(path, {
    token,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const LISTS = ['/tools', '/resources', '/prompts', '/api/resources', '/api/prompts'];

it.each(LISTS)('%s contains the key of every server', async (path) => {
  const text = await textOf(path);
  for (const key of KEYS) expect(text).toContain(marked(key));
});

describe.each(KEYS.map((key, at) => [key, `s${at}`] as const))('the key %s', (key, server) => {
  it('is shown for its server and its tool', async () => {
    const text = await textOf(`/api/servers/${server}`);
    // The SDK parses the handshake and drops this key.
    if (key !== '__proto__') expect(text).toContain(marked(key));
    expect(await textOf(`/api/tools/${server}_tool`)).toContain(marked(key));
  });

  it('is in the results of resources/read and prompts/get', async () => {
    expect(await post('/resources/read', { server, uri: 'a://b' })).toContain(marked(key));
    expect(await post('/prompts/get', { server, name: 'prompt' })).toContain(marked(key));
  });

  it('is in the approval of a call, at the server, in the result, in the log and in the replay', async () => {
    const args = `{"a":${JSON.stringify(odd(key))},${JSON.stringify(odd(key)).slice(1)}`;
    const called = post('/mcp/call', `{"server":"${server}","tool_name":"tool","arguments":${args}}`, agent);
    const approvals = async (): Promise<string> => textOf('/api/approvals');
    await waitUntil(async () => (await approvals()).includes(`"server":"${server}"`));
    const asked = JSON.parse(await approvals()).approvals.find(
      (one: { server: string }) => one.server === server,
    );
    expect(JSON.stringify(asked.arguments)).toBe(args);
    expect(await textOf(`/api/approvals/${asked.id}`)).toContain(args);
    await post(`/api/approvals/${asked.id}`, { answer: 'always' });
    expect(await called).toContain(marked(key));
    const [up] = ups.slice(Number(server.slice(1)));
    expect(JSON.stringify(up?.calls().at(-1)?.params.arguments)).toBe(args);
    await waitUntil(async () =>
      (await textOf(`/api/calls?server=${server}&tool=tool`)).includes('"tool":"tool"'),
    );
    const [logged] = JSON.parse(await textOf(`/api/calls?server=${server}&tool=tool`)).calls;
    expect(JSON.parse(await textOf(`/api/calls/${logged.id}`)).arguments).toBe(args);
    expect(await post(`/api/calls/${logged.id}/replay`, {})).toContain(marked(key));
  });
});

it('nothing that can be looked at fails', async () => {
  const { paths } = JSON.parse(await textOf('/openapi.json'));
  const fixed = Object.keys(paths).filter((path) => paths[path].get && !/[{]|events|mcp/.test(path));
  expect(fixed.length).toBeGreaterThan(12);
  for (const path of fixed) expect(await textOf(path)).not.toContain('INTERNAL');
});

it.each(['tools', 'resources', 'resources/templates', 'prompts'])(
  'no list of %s over MCP fails',
  async (kind) => {
    const method = `${kind}/list`;
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const text = await textOf('/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta } }),
    });
    for (const key of KEYS) expect(text).toContain(marked(key));
  },
);
