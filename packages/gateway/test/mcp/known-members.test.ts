/** Of a request, only what the protocol has is forwarded: a server never sees what was not authorized. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { EVERYTHING, openStand, type Stand } from './stand.js';
import { codeOf, openSurface, SURFACES } from './surfaces.js';

const OPEN = 'note://open';
const CLOSED = 'note://closed';

let server: Upstream;
let stand: Stand;
beforeAll(async () => {
  server = await openUpstream({
    tools: [{ name: 'write', inputSchema: { type: 'object' } }],
    answers: {
      initialize: () => ({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, resources: {}, prompts: {} },
        serverInfo: { name: 'up', version: '1' },
      }),
      'resources/list': () => ({ resources: [{ uri: OPEN, name: 'open' }] }),
      'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'note://{x}', name: 'any' }] }),
      'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'content' }] }),
      'resources/subscribe': () => ({}),
      'prompts/list': () => ({ prompts: [{ name: 'greet' }] }),
      'prompts/get': () => ({ messages: [] }),
      'completion/complete': () => ({ completion: { values: [] } }),
      'tasks/other': () => ({}),
    },
  });
  stand = await openStand({
    servers: { in: { url: server.url } },
    options: {
      rules: [
        { action: 'deny', kind: 'resource', tool: CLOSED },
        { action: 'deny', kind: 'prompt', arguments: { 'arguments.path': '/etc/**' } },
        { action: 'allow', tool: 'write', arguments: { path: '/home/**' } },
        { action: 'deny', tool: 'write' },
        { action: 'allow' },
      ],
    },
  });
});
afterAll(async () => {
  await stand.close();
  await server.close();
});

type Sent = readonly [method: string, params: Record<string, unknown>];

/** What a client sends, and what the server gets; undefined: it is refused. */
const TABLE: ReadonlyArray<readonly [Sent, Record<string, unknown> | undefined]> = [
  [['resources/read', { uri: OPEN, URI: CLOSED, Uri: CLOSED, more: { uri: CLOSED } }], { uri: OPEN }],
  [
    ['prompts/get', { name: 'in_greet', Name: 'other', NAME: 'other', arguments: { a: 'b' } }],
    { name: 'greet', arguments: { a: 'b' } },
  ],
  [['prompts/get', { name: 'in_greet', Arguments: { path: '/etc/x' } }], { name: 'greet' }],
  [['prompts/get', { name: 'in_greet', arguments: { PATH: '/etc/x' } }], undefined],
  [
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'in_greet', NAME: 'other' }, REF: {}, more: 1 },
    ],
    { ref: { type: 'ref/prompt', name: 'greet' } },
  ],
  [
    [
      'tools/call',
      { name: 'in_write', NAME: 'other', arguments: { path: '/home/x' }, Arguments: { path: '/x' } },
    ],
    { name: 'write', arguments: { path: '/home/x' } },
  ],
  [['tools/call', { name: 'in_write', arguments: { path: '/home/x', PATH: '/etc/x' } }], undefined],
  [['tasks/other', { TaskId: 'foreign' }], undefined],
];

// requirement D2
describe.each(SURFACES)('a client over %s', (surface) => {
  it.each(TABLE)('sends %j', async ([method, params], forwarded) => {
    const ask = await openSurface(surface, stand, { token: 'token', caller: EVERYTHING });
    const before = server.noted.length;
    const answer = await ask(method, params);
    const got = server.noted.slice(before).filter((one) => one.method === method);
    if (forwarded === undefined) expect(codeOf(answer)).toBeDefined();
    else expect(answer.error).toBeUndefined();
    expect(got.map(({ params: { _meta, ...rest } }) => rest)).toEqual(
      forwarded === undefined ? [] : [forwarded],
    );
  });
});
