/** A daemon with a hidden server and a partly visible one, and every transport to it. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { waitUntil } from '@turnbuckle/testing';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';
import { openUpstream, type Upstream, UpstreamError } from '../threats/upstream.js';
import { initialize, modern, type RawAnswer, send } from './raw-client.js';
import type { Stand } from './stand.js';

type Body = Record<string, unknown>;
export type Request = readonly [method: string, params: Body];

/** A part of every hidden name, which restricted callers must never see. */
export const SECRET = 'wxyzsecret';
/** A name that does not exist, as long and as different from every other name. */
export const ABSENT = 'wxyzabsent';
export const HIDDEN_SERVER = `server${SECRET}`;

export const HIDERS = {
  /** The view has only the open server, and rules that deny its secret items. */
  view: { token: 'everything', view: 'lit' },
  plainView: { token: 'everything', view: 'plain' },
  rule: { token: 'ruled', view: undefined },
  capability: { token: 'worded', view: undefined },
  /** Capabilities for some items of the open server only. */
  fewCapabilities: { token: 'few', view: undefined },
  /** All capabilities for servers, but not the one that `requires` names for the secret items. */
  requires: { token: 'uncleared', view: undefined },
} as const;
export type Hider = keyof typeof HIDERS;

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
const keyed = {
  inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
};

const openServer = (name: string): Promise<Upstream> => {
  const uris = [`note://${name}/shown`, `note://${name}/${SECRET}`];
  const prompts = ['shown', SECRET];
  const known = (there: boolean, result: object): object => {
    if (!there) throw new UpstreamError(-32602, 'No such thing');
    return result;
  };
  return openUpstream({
    tools: [tool('look'), tool('keyed', keyed), tool(SECRET), tool(`keyed${SECRET}`, keyed)],
    answers: {
      initialize: () => ({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} },
        serverInfo: { name, version: '1' },
      }),
      'tools/call': (params) => ({ content: [{ type: 'text', text: `${name} ran ${params.name}` }] }),
      'resources/list': () => ({ resources: uris.map((uri) => ({ uri, name: uri })) }),
      'resources/templates/list': () => ({
        resourceTemplates: [{ uriTemplate: `note://${name}/of${SECRET}/{one}`, name: 'of' }],
      }),
      'resources/read': ({ uri }) => known(uris.includes(String(uri)), { contents: [{ uri, text: name }] }),
      'resources/subscribe': ({ uri }) => known(uris.includes(String(uri)), {}),
      'resources/unsubscribe': () => ({}),
      'prompts/list': () => ({ prompts: prompts.map((prompt) => ({ name: prompt })) }),
      'prompts/get': (params) => known(prompts.includes(String(params.name)), { messages: [] }),
      'completion/complete': ({ ref }) =>
        known(
          !JSON.stringify(ref).includes(ABSENT) &&
            [`note://${name}/`, 'shown', `"${SECRET}"`].some((own) => JSON.stringify(ref).includes(own)),
          {
            completion: { values: [name] },
          },
        ),
      [`own/${SECRET}`]: () => ({ done: name }),
    },
  });
};

const secretRules = [
  { action: 'deny', server: 'open', kind: ['tool', 'prompt'], tool: `*${SECRET}*` },
  { action: 'deny', server: 'open', kind: 'resource', tool: `*${SECRET}*` },
] as const;

export interface HiddenStage {
  readonly own: OwnDaemon;
  /** Every request that the servers received. */
  asked(): string[];
  token(name: string): string;
  /** URLs that every caller may name as an endpoint. */
  readonly inlineUrls: readonly string[];
  close(): Promise<void>;
}

export async function openHiddenStage(): Promise<HiddenStage> {
  const upstreams = [await openServer('open'), await openServer(HIDDEN_SERVER)];
  const [open, hidden] = upstreams;
  const own = await ownDaemon({
    servers: {
      open: { url: open?.url, requires: { [`*${SECRET}*`]: ['mcp_cleared'] } },
      [HIDDEN_SERVER]: { url: hidden?.url, requires: ['mcp_cleared'] },
    },
    rules: [
      ...secretRules.map((rule) => ({ ...rule, caller: 'ruled' })),
      { action: 'deny', server: HIDDEN_SERVER, caller: 'ruled' },
      { action: 'deny', server: 'inline-*', tool: `*${SECRET}*`, caller: 'ruled' },
      { action: 'allow' },
    ],
    daemon: {
      bridge: { urls: [hidden?.url] },
      views: {
        lit: { servers: ['open'], rules: [...secretRules, { action: 'allow' }] },
        plain: { servers: ['open'], names: 'plain', rules: [...secretRules, { action: 'allow' }] },
      },
    },
  });
  const { runtime } = own.daemon.configured;
  await runtime.connectAll();
  const can: Record<string, string[]> = {
    everything: ['mcp_integration', 'mcp_cleared'],
    ruled: ['mcp_integration', 'mcp_cleared'],
    worded: ['mcp:open', 'mcp_cleared'],
    few: ['mcp:open/look', 'mcp_cleared'],
    uncleared: ['mcp_integration'],
  };
  const tokens = new Map<string, string>();
  for (const [name, words] of Object.entries(can)) {
    // A token with read access and all capabilities sees everything.
    const access = words.includes('mcp_integration') ? ['call'] : ['call', 'read', 'admin'];
    const { body } = await own.post('/api/tokens', { name, can: words, access });
    tokens.set(name, String(body.token));
  }
  return {
    own,
    asked: () =>
      upstreams.flatMap(({ noted }) =>
        noted.map(({ method, params }) => `${method} ${JSON.stringify(params)}`),
      ),
    inlineUrls: [hidden?.url ?? ''],
    token: (name) => tokens.get(name) ?? '',
    close: async () => {
      await own.close();
      for (const upstream of upstreams) await upstream.close();
    },
  };
}

export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

export const WAYS = ['modern', 'legacy', 'stdio modern', 'stdio legacy'] as const;
export type Way = (typeof WAYS)[number];

/** The whole response as text, so that no part of it is overlooked. */
export function askOver(stage: HiddenStage, way: Way, hider: Hider): (request: Request) => Promise<string> {
  const { token: name, view } = HIDERS[hider];
  const token = stage.token(name);
  const stand = { url: stage.own.daemon.url } as Stand;
  const path = view === undefined ? '/mcp' : `/mcp/${view}`;
  const words = ({ status, body }: RawAnswer): string => JSON.stringify([status, body]);
  if (way === 'modern')
    return async ([method, params]) => {
      const headers = typeof params.taskId === 'string' ? { 'mcp-name': params.taskId } : {};
      return words(await modern(stand, { method, params }, { path, token, headers, meta: META }));
    };
  if (way === 'legacy')
    return async ([method, params]) => {
      const headers = { 'mcp-session-id': await initialize(stand, { path, token }) };
      return words(await send(stand, { jsonrpc: '2.0', id: 1, method, params }, { path, token, headers }));
    };
  const meta = way === 'stdio modern' ? { _meta: META } : {};
  return ([method, params]) => askTunnel(stage, { token, view }, [method, { ...params, ...meta }]);
}

/** Sends one line on its own connection, and returns everything received. */
export async function askTunnel(
  { own }: Pick<HiddenStage, 'own'>,
  { token, view }: { readonly token: string; readonly view: string | undefined },
  [method, params]: Request,
): Promise<string> {
  const { host, port } = new URL(own.daemon.url);
  const socket: Socket = connect(Number(port), '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const lines = [`host: ${host}`, `authorization: Bearer ${token}`];
  if (view !== undefined) lines.push(`turnbuckle-view: ${view}`);
  socket.write(['CONNECT mcp-stdio:0 HTTP/1.1', ...lines, '', ''].join('\r\n'));
  socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`);
  const answer = (): string | undefined => text.split('\n').find((line) => line.includes('"id":1,'));
  await waitUntil(() => answer() !== undefined);
  socket.end();
  if (!socket.closed) await once(socket, 'close');
  return text;
}
