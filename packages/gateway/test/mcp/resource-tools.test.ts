import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';
import { askTunnel, META, WAYS } from './hidden-stage.js';
import { initialize, modern, send } from './raw-client.js';
import type { Stand } from './stand.js';

const TOOLS = ['get_mcp_prompt', 'list_mcp_prompts', 'list_mcp_resources', 'read_mcp_resource'];
const GREETING = 'fixture://greeting';
const SURFACES = ['bridge', ...WAYS] as const;
type Surface = (typeof SURFACES)[number];

interface Asking {
  readonly own: OwnDaemon;
  readonly token: string;
  readonly view?: string | undefined;
}

/** The result of a request over MCP, or its error. */
async function ask(way: (typeof WAYS)[number], asking: Asking, request: [string, object]): Promise<object> {
  const { own, token, view } = asking;
  const [method, params] = [request[0], request[1] as Record<string, unknown>];
  const stand = { url: own.daemon.url } as Stand;
  const path = view === undefined ? '/mcp' : `/mcp/${view}`;
  if (way === 'modern') return (await modern(stand, { method, params }, { path, token, meta: META })).body;
  if (way === 'legacy') {
    const headers = { 'mcp-session-id': await initialize(stand, { path, token }) };
    const message = { jsonrpc: '2.0', id: 1, method, params };
    return (await send(stand, message, { path, token, headers })).body;
  }
  const meta = way === 'stdio modern' ? { _meta: META } : {};
  const text = await askTunnel({ own }, { token, view }, [method, { ...params, ...meta }]);
  return JSON.parse(text.split('\n').find((line) => line.includes('"id":1,')) ?? '');
}

/** What a tool returned, or the code of the failure. */
async function call(surface: Surface, asking: Asking, [tool, args]: [string, object]): Promise<unknown> {
  if (surface === 'bridge') {
    const { body } = await asking.own.post('/mcp/call', { tool_name: tool, arguments: args }, asking.token);
    const { success, result, code } = body as { success: boolean; result: Result; code: string };
    return success ? result.structuredContent : code;
  }
  const request: [string, object] = ['tools/call', { name: tool, arguments: args }];
  const body = (await ask(surface, asking, request)) as { result?: Result; error?: { data?: object } };
  if (body.result === undefined) return 'unknown';
  const { isError, structuredContent, _meta } = body.result;
  return isError === true ? _meta?.['turnbuckle/error'].code : structuredContent;
}

interface Result {
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
  readonly _meta?: { readonly 'turnbuckle/error': { readonly code: string } };
}

async function toolsOf(surface: Surface, asking: Asking): Promise<string[]> {
  const pick = (tools: ReadonlyArray<{ name: string }>): string[] =>
    tools.map(({ name }) => name).filter((name) => TOOLS.includes(name));
  if (surface === 'bridge')
    return pick(((await (await asking.own.fetch('/tools', asking)).json()) as { tools: [] }).tools);
  const { result } = (await ask(surface, asking, ['tools/list', {}])) as { result: { tools: [] } };
  return pick(result.tools);
}

const servers = { open: fixture('echo'), secret: fixture('echo') };
const rules = [
  { action: 'deny', caller: 'ruled', server: 'open', kind: ['resource', 'prompt'], tool: [GREETING, 'hi*'] },
  { action: 'deny', caller: 'silenced', server: 'native' },
  { action: 'ask', caller: 'asked', kind: ['resource', 'prompt'] },
];
const views = {
  one: { servers: ['open'] },
  ruled: { rules: [{ action: 'deny', kind: 'resource', tool: GREETING }] },
  exact: { servers: ['open'], tools: ['echo'] },
  on: { servers: ['open'], tools: ['echo'], names: 'plain', resourceTools: true },
  off: { resourceTools: false },
};
const CAPABILITIES: Record<string, string[]> = {
  all: ['mcp_integration'],
  few: ['mcp:open'],
  stranger: ['mcp:elsewhere'],
  ruled: ['mcp_integration'],
  asked: ['mcp_integration'],
  silenced: ['mcp_integration'],
};

let own: OwnDaemon;
const tokens: Record<string, string> = {};
beforeAll(async () => {
  own = await ownDaemon({ servers, rules, resourceTools: true, daemon: { views, approvalWaitMs: 1_000 } });
  await own.daemon.configured.runtime.connectAll();
  for (const [name, can] of Object.entries(CAPABILITIES)) {
    const { body } = await own.post('/api/tokens', { name, can, access: ['call'] });
    tokens[name] = String(body.token);
  }
});
afterAll(() => own.close());

const as = (name: string, view?: string): Asking => ({
  own,
  token: name === 'owner' ? String(own.daemon.token) : (tokens[name] ?? ''),
  view,
});

const serversIn = (listed: unknown, kind: string): string[] => [
  ...new Set((listed as Record<string, Array<{ server: string }>>)[kind]?.map(({ server }) => server)),
];
const urisIn = (listed: unknown, of: string): string[] =>
  (listed as { resources: Array<{ server: string; uri: string }> }).resources
    .filter(({ server }) => server === of)
    .map(({ uri }) => uri);

// requirement T8
describe.each(SURFACES)('the resource tools over %s', (surface) => {
  const withViews = surface !== 'bridge';
  type Row = [name: string, view: string | undefined, server: string, outcome: 'read' | string];
  const rows: Row[] = [
    ['owner', undefined, 'secret', 'read'],
    ['all', undefined, 'secret', 'read'],
    ['few', undefined, 'open', 'read'],
    ['few', undefined, 'secret', 'RESOURCE_UNKNOWN'],
    ['few', undefined, 'made-up', 'RESOURCE_UNKNOWN'],
    ['stranger', undefined, 'open', 'RESOURCE_UNKNOWN'],
    ['ruled', undefined, 'open', 'RESOURCE_UNKNOWN'],
    ['ruled', undefined, 'secret', 'read'],
    ['asked', undefined, 'open', 'APPROVAL_PENDING'],
    ['all', 'one', 'open', 'read'],
    ['all', 'one', 'secret', 'RESOURCE_UNKNOWN'],
    ['owner', 'one', 'secret', 'RESOURCE_UNKNOWN'],
    ['all', 'on', 'open', 'read'],
    ['all', 'on', 'secret', 'RESOURCE_UNKNOWN'],
    ['few', 'on', 'open', 'read'],
    ['owner', 'ruled', 'open', 'RESOURCE_UNKNOWN'],
  ];

  it.each(rows.filter(([, view]) => withViews || view === undefined))(
    'read for %s in view %s from %s: %s',
    async (name, view, server, outcome) => {
      const asking = as(name, view);
      const read = await call(surface, asking, ['read_mcp_resource', { server, uri: GREETING }]);
      if (outcome === 'read') expect(read).toMatchObject({ contents: [{ uri: GREETING, text: 'hello' }] });
      else expect(read).toBe(outcome);
      const listed = await call(surface, asking, ['list_mcp_resources', {}]);
      const isListed = urisIn(listed, server).includes(GREETING);
      // Asking hides nothing.
      expect(isListed).toBe(outcome === 'read' || outcome === 'APPROVAL_PENDING');
    },
  );

  it('list resources, templates and prompts of the servers that the caller may see', async () => {
    for (const [asking, seen] of [
      [as('all'), ['open', 'secret']],
      [as('few'), ['open']],
      [as('stranger'), []],
      ...(withViews ? ([[as('all', 'one'), ['open']]] as const) : []),
    ] as const) {
      const listed = await call(surface, asking, ['list_mcp_resources', {}]);
      expect(serversIn(listed, 'resources')).toEqual(seen);
      expect(serversIn(listed, 'templates')).toEqual(seen);
      expect(serversIn(await call(surface, asking, ['list_mcp_prompts', {}]), 'prompts')).toEqual(seen);
      const one = await call(surface, asking, ['list_mcp_prompts', { server: 'secret' }]);
      expect(serversIn(one, 'prompts')).toEqual(seen.filter((name) => name === 'secret'));
    }
  });

  it('get a prompt that the caller may get', async () => {
    const [prompt] = await own.daemon.configured.runtime.listPrompts('open');
    const args = Object.fromEntries((prompt?.arguments ?? []).map(({ name }) => [name, 'Ada']));
    const get = (name: string, server: string, view?: string): Promise<unknown> =>
      call(surface, as(name, view), ['get_mcp_prompt', { server, name: prompt?.name, arguments: args }]);
    expect(await get('few', 'open')).toMatchObject({ messages: [{ role: 'user' }] });
    expect(await get('few', 'secret')).toBe('PROMPT_UNKNOWN');
    expect(await get('asked', 'open')).toBe('APPROVAL_PENDING');
    if (withViews) expect(await get('all', 'secret', 'one')).toBe('PROMPT_UNKNOWN');
  });

  it('are where the configuration, the view and the rules put them', async () => {
    expect(await toolsOf(surface, as('all'))).toEqual(TOOLS);
    expect(await toolsOf(surface, as('silenced'))).toEqual([]);
    if (!withViews) return;
    expect(await toolsOf(surface, as('all', 'one'))).toEqual(TOOLS);
    expect(await toolsOf(surface, as('all', 'exact'))).toEqual([]);
    expect(await toolsOf(surface, as('all', 'on'))).toEqual(TOOLS);
    expect(await toolsOf(surface, as('all', 'off'))).toEqual([]);
    expect(await call(surface, as('all', 'off'), ['list_mcp_resources', {}])).toBe('unknown');
  });

  // requirement D5, P5
  it('log a read like any read of the resource, with its caller', async () => {
    await call(surface, as('few'), ['read_mcp_resource', { server: 'open', uri: GREETING }]);
    await call(surface, as('ruled'), ['read_mcp_resource', { server: 'open', uri: GREETING }]);
    const rows = async (caller: string): Promise<object[]> => {
      const response = await own.fetch(`/api/calls?caller=${caller}&limit=100`);
      return ((await response.json()) as { calls: object[] }).calls;
    };
    const read = { kind: 'resource', server: 'open', tool: GREETING };
    const fine = { ...read, caller: 'few', outcome: 'ok', decision: 'allow' };
    expect(await rows('few')).toContainEqual(expect.objectContaining(fine));
    const denied = { ...read, caller: 'ruled', code: 'RESOURCE_UNKNOWN', decision: 'deny' };
    expect(await rows('ruled')).toContainEqual(expect.objectContaining(denied));
  });
});

it('an approval that somebody gives lets the read continue', async () => {
  const reading = own.post(
    '/mcp/call',
    {
      tool_name: 'read_mcp_resource',
      arguments: { server: 'secret', uri: GREETING },
      approval_wait_ms: 60_000,
    },
    tokens.asked,
  );
  type Waiting = { approvals: Array<{ id: string; tool: string; server: string; callerId: string }> };
  const find = async () => {
    const { approvals } = (await (await own.fetch('/api/approvals')).json()) as Waiting;
    return approvals.find(({ server }) => server === 'secret');
  };
  await waitUntil(async () => (await find()) !== undefined);
  const asked = await find();
  expect(asked).toMatchObject({ tool: GREETING, callerId: 'asked' });
  await own.post(`/api/approvals/${asked?.id}`, { answer: 'once' });
  expect((await reading).body).toMatchObject({ success: true });
});

// requirement C8
it('the key can be changed while the daemon runs, for everything or for one view', async () => {
  const other = await ownDaemon({ servers });
  onTestFinished(() => other.close());
  const { body } = await other.post('/api/tokens', {
    name: 'all',
    can: ['mcp_integration'],
    access: ['call'],
  });
  const asking = { own: other, token: String(body.token) };
  const see = (view?: string) => toolsOf('modern', { ...asking, view });
  expect(await see()).toEqual([]);
  other.configure({ servers, resourceTools: true });
  await waitUntil(async () => (await see()).length === TOOLS.length);
  other.configure({ servers, daemon: { views: { on: { servers: ['open'], resourceTools: true } } } });
  await waitUntil(async () => (await see()).length === 0);
  expect(await see('on')).toEqual(TOOLS);
  const list = (view?: string) => call('modern', { ...asking, view }, ['list_mcp_resources', {}]);
  expect(await list()).toBe('unknown');
  expect(serversIn(await list('on'), 'resources')).toEqual(['open']);
  expect(await toolsOf('bridge', asking)).toEqual([]);
  expect(await call('bridge', asking, ['list_mcp_resources', {}])).toBe('TOOL_UNKNOWN');
  other.configure({ servers });
  await waitUntil(async () => (await list('on')) === 'unknown');
});
