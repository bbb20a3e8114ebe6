/** Every forwarded part of a request is searched for known secrets, and by a rule for what looks like one. */
import type { Rule } from 'turnbuckle';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { initialize, modern, type RawAnswer, send } from './raw-client.js';
import { type Era, openStand, type Stand } from './stand.js';

const KNOWN = 'zebraquartzlampshade77';
const LOOKS = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
const each = (write: (code: string) => string): string =>
  [...KNOWN].map((letter) => write(letter.charCodeAt(0).toString(16))).join('');
/** The last ones escape characters that need no escape. */
const WRITINGS = {
  plain: KNOWN,
  percent: each((code) => `%${code}`),
  twice: each((code) => `%25${code}`),
  json: each((code) => `\\u00${code}`),
  page: each((code) => `&#x${code};`),
  some: `${KNOWN.slice(0, 9)}%${KNOWN.charCodeAt(9).toString(16)}${KNOWN.slice(10)}`,
};
/** So much that it is searched in slices. */
const MANY = Array.from({ length: 20_000 }, (_, index) => `plain ${index}`);

let server: Upstream;
let stand: Stand;
let session: string;
let taskId: string;

const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} };
const now = { status: 'working', ttl: null, createdAt: 'x', lastUpdatedAt: 'x' };

beforeAll(async () => {
  server = await openUpstream({
    tools: [{ name: 't', inputSchema: { type: 'object' } }],
    answers: {
      initialize: () => ({
        protocolVersion: '2025-11-25',
        capabilities,
        serverInfo: { name: 'up', version: '1' },
      }),
      'tools/call': () => ({ task: { taskId: 'up-1', ...now } }),
      'tasks/get': () => ({ taskId: 'up-1', ...now }),
      'resources/list': () => ({ resources: [{ uri: 'a://b', name: 'r' }] }),
      'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'a://b/{x}', name: 'r' }] }),
      'resources/read': () => ({ contents: [] }),
      'resources/subscribe': () => ({}),
      'prompts/list': () => ({ prompts: [{ name: 'p' }] }),
      'prompts/get': () => ({ messages: [] }),
      'completion/complete': () => ({ completion: { values: [] } }),
    },
  });
  stand = await openStand({
    servers: { up: { url: server.url } },
    options: {
      resolve: async (_name, config, learn) => {
        learn(KNOWN);
        return config;
      },
    },
  });
  session = await initialize(stand);
  const begun = await ask.legacy('tools/call', { name: 'up_t', arguments: {}, task: {} });
  taskId = String(Object(begun.body.result?.task).taskId);
});
afterAll(async () => {
  await stand.close();
  await server.close();
});

type Params = Record<string, unknown>;

const DECLARED = {
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

const ask: Record<Era, (method: string, params: Params) => Promise<RawAnswer>> = {
  legacy: (method, params) =>
    send(stand, { jsonrpc: '2.0', id: 1, method, params }, { headers: { 'mcp-session-id': session } }),
  modern: (method, params) => {
    const headers = params.taskId === undefined ? {} : { 'mcp-name': String(params.taskId) };
    const meta = { ...DECLARED, ...Object(params._meta) };
    return modern(stand, { method, params }, { headers, meta });
  },
};

const rules = (...all: Rule[]): void =>
  stand.runtime.setRules(all.map((rule, position) => ({ rule, from: 'user' as const, position })));

/** Each part of a request that the caller controls and that is forwarded. */
const PLACES: Readonly<Record<string, (secret: string) => readonly [method: string, params: Params]>> = {
  arguments: (secret) => ['tools/call', { name: 'up_t', arguments: { deep: [{ x: `a ${secret}` }] } }],
  'a name in arguments': (secret) => ['tools/call', { name: 'up_t', arguments: { [secret]: 1 } }],
  'large arguments': (secret) => ['tools/call', { name: 'up_t', arguments: { MANY, x: secret } }],
  _meta: (secret) => ['tools/call', { name: 'up_t', arguments: {}, _meta: { 'x/y': [secret] } }],
  'a name in _meta': (secret) => ['tools/call', { name: 'up_t', arguments: {}, _meta: { [secret]: 1 } }],
  baggage: (secret) => ['tools/call', { name: 'up_t', arguments: {}, _meta: { baggage: `x=${secret}` } }],
  tracestate: (secret) => [
    'tools/call',
    { name: 'up_t', arguments: {}, _meta: { tracestate: `x=${secret}` } },
  ],
  'a large _meta': (secret) => [
    'tools/call',
    { name: 'up_t', arguments: {}, _meta: { 'x/y': { MANY, x: secret } } },
  ],
  task: (secret) => ['tools/call', { name: 'up_t', arguments: {}, task: { ttl: 1, x: secret } }],
  answers: (secret) => [
    'tools/call',
    { name: 'up_t', arguments: {}, inputResponses: { a: { action: 'accept', content: { x: secret } } } },
  ],
  'the _meta of a request about a task': (secret) => ['tasks/get', { taskId, _meta: { 'x/y': secret } }],
  'a URI': (secret) => ['resources/read', { uri: `a://b/${secret}` }],
  'the _meta of a resource': (secret) => ['resources/read', { uri: 'a://b', _meta: { 'x/y': secret } }],
  'an argument of a prompt': (secret) => ['prompts/get', { name: 'up_p', arguments: { x: secret } }],
  'the _meta of a prompt': (secret) => ['prompts/get', { name: 'up_p', _meta: { 'x/y': secret } }],
  'a value to complete': (secret) => [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'up_p' }, argument: { name: 'q', value: secret } },
  ],
  'a method': (secret) => [`x/${secret}`, {}],
  'params of a method': (secret) => ['x/y', { z: secret }],
  'the _meta of a method': (secret) => ['x/y', { _meta: { 'x/y': secret } }],
};
const LEGACY_PLACES: typeof PLACES = {
  ...PLACES,
  'a URI to subscribe to': (secret) => ['resources/subscribe', { uri: `a://b/${secret}` }],
};

const arrived = (secret: string): boolean =>
  JSON.stringify(server.noted).includes(JSON.stringify(secret).slice(1, -1));

beforeEach(() => {
  (server.noted as unknown[]).length = 0;
});

describe.each(
  (['legacy', 'modern'] as const).flatMap((era) =>
    Object.entries(era === 'legacy' ? LEGACY_PLACES : PLACES).map(([place, make]) => ({ era, place, make })),
  ),
)('from a $era client in $place', ({ era, make }) => {
  it.each(Object.values(WRITINGS))(
    'no known secret is forwarded, whatever allows it, nor repeated: %s',
    async (secret) => {
      rules({ action: 'allow' });
      const { body } = await ask[era](...make(secret));
      expect(arrived(secret)).toBe(false);
      expect(JSON.stringify(body)).not.toContain('"resultType":"complete","content"');
      expect(JSON.stringify(body)).not.toContain(JSON.stringify(secret).slice(1, -1));
    },
  );

  it.each([{ action: 'deny', secrets: true } as const, { action: 'ask', secrets: true } as const])(
    'nothing that looks like a secret is forwarded with the rule %j',
    async (rule) => {
      rules(rule, { action: 'allow' });
      for (const secret of [LOOKS, KNOWN]) await ask[era](...make(secret));
      expect([arrived(LOOKS), arrived(KNOWN)]).toEqual([false, false]);
    },
  );

  it('what looks like a secret is forwarded without such a rule, and other text always', async () => {
    rules({ action: 'allow' });
    await ask[era](...make(LOOKS));
    expect(arrived(LOOKS)).toBe(true);
    rules({ action: 'deny', secrets: true }, { action: 'allow' });
    const [method, params] = make('plainwords');
    const traceparent = `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`;
    await ask[era](method, { ...params, _meta: { traceparent, ...Object(params._meta) } });
    expect(arrived('plainwords')).toBe(true);
  });
});

it.each(['legacy', 'modern'] as const)(
  'from a %s client a further param of a resource is never forwarded',
  async (era) => {
    rules({ action: 'allow' });
    for (const secret of [LOOKS, 'plainwords']) {
      const { body } = await ask[era]('resources/read', { uri: 'a://b', x: secret });
      expect(body.result?.contents).toBeDefined();
      expect(arrived(secret)).toBe(false);
    }
  },
);
