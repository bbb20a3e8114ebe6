/** A view limits what every caller can do there, the owner included, whatever is requested. */
import type { RuntimeEvents } from 'turnbuckle';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OWNER } from '../../src/identity/owner.js';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { initialize, modern, type RawAnswer, send } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

const ALL = ['mcp_integration'];
const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });

let inside: Upstream;
let outside: Upstream;
let stand: Stand;
const settled: Array<RuntimeEvents['call.settled']> = [];

const open = () =>
  openUpstream({
    tools: [tool('look'), tool('change'), tool('wipe')],
    answers: {
      'resources/list': () => ({
        resources: [
          { uri: 'note://open', name: 'open' },
          { uri: 'note://closed', name: 'closed' },
        ],
      }),
      'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'content' }] }),
      'resources/subscribe': () => ({}),
      'prompts/list': () => ({ prompts: [{ name: 'greet' }] }),
      'prompts/get': () => ({ messages: [] }),
      'completion/complete': () => ({ completion: { values: [] } }),
      'own/method': () => ({}),
    },
  });

beforeAll(async () => {
  inside = await open();
  outside = await open();
  stand = await openStand({
    servers: { in: { url: inside.url }, out: { url: outside.url } },
    callers: { owner: { id: OWNER, capabilities: ALL }, agent: { id: 'agent', capabilities: ALL } },
    views: {
      servers: { servers: ['in'] },
      tools: { servers: ['in'], tools: ['look'] },
      plain: { servers: ['in'], tools: ['look'], names: 'plain' },
      words: { capabilities: ['mcp:in/look'] },
      rules: {
        servers: ['in'],
        rules: [
          { action: 'deny', tool: 'wipe' },
          { action: 'deny', tool: 'change', arguments: { path: '/etc/**' }, reason: 'not from here' },
          { action: 'deny', kind: 'resource', tool: 'note://closed' },
          { action: 'deny', kind: 'prompt' },
          { action: 'deny', tool: 'own/*' },
          { action: 'allow' },
        ],
      },
    },
    options: { rules: [{ action: 'deny', tool: 'change', arguments: { path: '/root/**' } }] },
  });
  stand.runtime.on('call.settled', (call) => settled.push(call));
});
afterAll(async () => {
  await stand.close();
  await inside.close();
  await outside.close();
});
afterEach(() => {
  settled.length = 0;
});

type Ask = (method: string, params: Record<string, unknown>) => Promise<RawAnswer>;

const over = {
  modern: async (path: string, token: string): Promise<Ask> => {
    return (method, params) => modern(stand, { method, params }, { path, token });
  },
  legacy: async (path: string, token: string): Promise<Ask> => {
    const session = await initialize(stand, { path, token });
    const headers = { 'mcp-session-id': session };
    return (method, params) =>
      send(stand, { jsonrpc: '2.0', id: 1, method, params }, { path, token, headers });
  },
};

/** The requests of clients that arrived, without those of the runtime itself. */
const asked = (upstream: Upstream): string[] =>
  upstream.noted
    .map(({ method }) => method)
    .filter((method) => !/^(initialize|server\/discover|ping|notifications\/)|\/list$/.test(method));

const codeOf = ({ body }: RawAnswer): unknown => {
  const received = body.error?.data as { code?: string } | undefined;
  const meta = body.result?._meta as { 'turnbuckle/error'?: { code?: string } } | undefined;
  return received?.code ?? meta?.['turnbuckle/error']?.code ?? body.error?.code;
};

const call = (name: string, args: object = {}) => ['tools/call', { name, arguments: args }] as const;

/** What is refused in which view, and with which code. */
const REFUSED: ReadonlyArray<readonly [string, readonly [string, Record<string, unknown>], unknown]> = [
  ['servers', call('out_look'), 'TOOL_UNKNOWN'],
  ['servers', call('look'), 'TOOL_UNKNOWN'],
  ['tools', call('in_change'), 'TOOL_UNKNOWN'],
  ['tools', call('out_look'), 'TOOL_UNKNOWN'],
  ['tools', ['own/method', {}], 'TOOL_UNKNOWN'],
  ['plain', call('in_look'), 'TOOL_UNKNOWN'],
  ['plain', call('in_wipe'), 'TOOL_UNKNOWN'],
  ['plain', call('out_look'), 'TOOL_UNKNOWN'],
  ['plain', call('wipe'), 'TOOL_UNKNOWN'],
  ['words', call('in_change'), 'TOOL_UNKNOWN'],
  ['words', call('out_look'), 'TOOL_UNKNOWN'],
  ['words', ['resources/read', { uri: 'note://open' }], 'RESOURCE_UNKNOWN'],
  ['words', ['prompts/get', { name: 'in_greet' }], 'PROMPT_UNKNOWN'],
  ['servers', ['prompts/get', { name: 'out_greet' }], 'PROMPT_UNKNOWN'],
  ['rules', call('in_wipe'), 'TOOL_UNKNOWN'],
  ['rules', call('in_change', { path: '/etc/passwd' }), 'CALL_DENIED'],
  ['rules', call('in_change', { path: '/root/x' }), 'CALL_DENIED'],
  ['rules', ['resources/read', { uri: 'note://closed' }], 'RESOURCE_UNKNOWN'],
  ['rules', ['completion/complete', { ref: { type: 'ref/prompt', name: 'in_greet' } }], 'PROMPT_UNKNOWN'],
  ['rules', ['prompts/get', { name: 'in_greet' }], 'PROMPT_UNKNOWN'],
  ['rules', ['own/method', {}], 'TOOL_UNKNOWN'],
];

describe.each(['modern', 'legacy'] as const)('a client of the %s era', (era) => {
  describe.each(['owner', 'agent'])('with the token of %s', (token) => {
    it.each(REFUSED)('in the view "%s" is refused %j', async (view, [method, params], code) => {
      const [before, apart] = [asked(inside).length, asked(outside).length];
      const ask = await over[era](`/mcp/${view}`, token);
      expect(codeOf(await ask(method, params))).toBe(code);
      expect(asked(inside).slice(before)).toEqual([]);
      expect(asked(outside).slice(apart)).toEqual([]);
      if (method !== 'tools/call') return;
      expect(settled).toMatchObject([{ error: { code }, callerId: token === 'owner' ? undefined : token }]);
    });

    it('gets what the view has', async () => {
      const look = await (await over[era]('/mcp/tools', token))(...call('in_look'));
      expect(look.body.result?.content).toEqual([{ type: 'text', text: 'called' }]);
      const plain = await (await over[era]('/mcp/plain', token))(...call('look'));
      expect(plain.body.result?.content).toEqual([{ type: 'text', text: 'called' }]);
      const ask = await over[era]('/mcp/rules', token);
      expect((await ask(...call('in_change', { path: '/tmp/x' }))).body.result?.isError).toBeUndefined();
      expect((await ask('resources/read', { uri: 'note://open' })).body.result?.contents).toHaveLength(1);
    });

    it('lists only what the view has', async () => {
      const names = async (view: string, kind = 'tools'): Promise<unknown[]> => {
        const { body } = await (await over[era](`/mcp/${view}`, token))(`${kind}/list`, {});
        const listed = body.result?.[kind] as Array<{ name: string }>;
        return listed.map(({ name }) => name);
      };
      expect(await names('tools')).toEqual(['in_look']);
      expect(await names('plain')).toEqual(['look']);
      expect(await names('words')).toEqual(['in_look']);
      expect(await names('rules')).toEqual(['in_change', 'in_look']);
      expect(await names('rules', 'resources')).toEqual(['open']);
      expect(await names('rules', 'prompts')).toEqual([]);
    });
  });
});

it.each(['owner', 'agent'])('subscribes %s to nothing that the view denies', async (token) => {
  const ask = await over.legacy('/mcp/rules', token);
  const before = asked(inside).length;
  expect(codeOf(await ask('resources/subscribe', { uri: 'note://closed' }))).toBe('RESOURCE_UNKNOWN');
  expect(asked(inside).slice(before)).toEqual([]);
});

it('requires approval where the view does, whatever is allowed elsewhere', async () => {
  const server = await open();
  const own = await openStand({
    servers: { in: { url: server.url } },
    callers: { owner: { id: OWNER, capabilities: ALL }, agent: { id: 'agent', capabilities: ALL } },
    views: { careful: { rules: [{ action: 'ask', tool: 'wipe', reason: 'look twice' }] } },
    options: { approvals: 'queue' },
  });
  try {
    for (const token of ['owner', 'agent']) {
      const wiping = modern(
        own,
        { method: 'tools/call', params: { name: 'in_wipe' } },
        {
          path: '/mcp/careful',
          token,
        },
      );
      await expect.poll(() => own.runtime.approvals.pending().length).toBe(1);
      const [question] = own.runtime.approvals.pending();
      expect(question).toMatchObject({
        reason: 'a rule for this view requires approval with the reason "look twice"',
        answers: ['once', 'session', 'deny'],
      });
      expect(server.calls()).toHaveLength(token === 'owner' ? 0 : 1);
      own.runtime.approvals.answer(question?.id ?? '', 'once');
      expect((await wiping).body.result?.isError).toBeUndefined();
    }
    // Elsewhere it requires no approval.
    const elsewhere = await modern(
      own,
      { method: 'tools/call', params: { name: 'in_wipe' } },
      {
        token: 'agent',
      },
    );
    expect(elsewhere.body.result?.isError).toBeUndefined();
  } finally {
    await own.close();
    await server.close();
  }
});

it('applies a changed view to clients that are already connected', async () => {
  const server = await open();
  const own = await openStand({
    servers: { in: { url: server.url } },
    callers: { owner: { id: OWNER, capabilities: ALL } },
    views: { some: { tools: ['look', 'wipe'] } },
  });
  try {
    const path = '/mcp/some';
    const headers = { 'mcp-session-id': await initialize(own, { path, token: 'owner' }) };
    const wipe = () =>
      send(
        own,
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'in_wipe' } },
        { path, token: 'owner', headers },
      );
    expect((await wipe()).body.result?.isError).toBeUndefined();
    own.endpoint.setViews({ some: { tools: ['look'] } });
    expect(codeOf(await wipe())).toBe('TOOL_UNKNOWN');
    own.endpoint.setViews({});
    expect((await wipe()).status).toBe(404);
    expect(server.calls()).toHaveLength(1);
  } finally {
    await own.close();
    await server.close();
  }
});
