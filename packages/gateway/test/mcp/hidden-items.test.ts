/** A hidden item is rejected with the message for a missing one, is recorded, and never reaches a server. */
import type { RuntimeEvents } from 'turnbuckle';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OWNER } from '../../src/identity/owner.js';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { initialize, modern, type RawAnswer, send } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

let servers: readonly Upstream[];
let stand: Stand;
const settled: Array<RuntimeEvents['call.settled']> = [];

const open = (name: string) =>
  openUpstream({
    answers: {
      initialize: () => ({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
        serverInfo: { name, version: '1' },
      }),
      'resources/list': () => ({ resources: [{ uri: `note://${name}/hidden`, name: 'hidden' }] }),
      'resources/templates/list': () => ({
        resourceTemplates: [{ uriTemplate: `note://${name}/of/{one}`, name: 'of' }],
      }),
      'prompts/list': () => ({ prompts: [{ name: 'hidden' }] }),
    },
  });

beforeAll(async () => {
  servers = [await open('in'), await open('out')];
  const [first, second] = servers;
  stand = await openStand({
    servers: { in: { url: first?.url ?? '' }, out: { url: second?.url ?? '' } },
    callers: {
      denied: { id: 'denied', capabilities: ['mcp_integration'] },
      poor: { id: 'poor', capabilities: ['mcp:elsewhere'] },
      owner: { id: OWNER, capabilities: ['mcp_integration'] },
    },
    views: { one: { servers: ['in'] } },
    options: { rules: [{ action: 'deny', kind: ['resource', 'prompt'] }] },
  });
  await stand.runtime.connectAll();
  stand.runtime.on('call.settled', (call) => settled.push(call));
});
afterAll(async () => {
  await stand.close();
  for (const server of servers) await server.close();
});
beforeEach(() => {
  settled.length = 0;
});

type Request = readonly [string, Record<string, unknown>];

const ask = {
  modern: (token: string, path: string, [method, params]: Request): Promise<RawAnswer> =>
    modern(stand, { method, params }, { path, token }),
  legacy: async (token: string, path: string, [method, params]: Request): Promise<RawAnswer> => {
    const headers = { 'mcp-session-id': await initialize(stand, { path, token }) };
    return send(stand, { jsonrpc: '2.0', id: 1, method, params }, { path, token, headers });
  },
};

/** The same request for any name. */
const REQUESTS: Readonly<Record<string, (name: string) => Request>> = {
  resource: (name) => ['resources/read', { uri: `note://in/${name}` }],
  template: (name) => ['resources/read', { uri: `note://in/of/${name}` }],
  prompt: (name) => ['prompts/get', { name: `in_${name}` }],
  completion: (name) => [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: `in_${name}` }, argument: { name: 'a', value: '' } },
  ],
};
const reached = (): string[] =>
  servers.flatMap(({ noted }) =>
    noted.map(({ method }) => method).filter((method) => /read|get|complete/.test(method)),
  );

describe.each(['modern', 'legacy'] as const)('a client of the %s era', (era) => {
  describe.each(['/mcp', '/mcp/one'])('at %s', (path) => {
    it.each(
      Object.entries(REQUESTS).flatMap(([kind, request]) => [
        { kind, token: 'denied', request },
        { kind, token: 'poor', request },
      ]),
    )('learns nothing of a $kind: $token', async ({ kind, token, request }) => {
      const hidden = await ask[era](token, path, request('hidden'));
      expect(settled).toMatchObject([
        {
          server: 'in',
          callerId: token,
          error: { code: /prompt|comp/.test(kind) ? 'PROMPT_UNKNOWN' : 'RESOURCE_UNKNOWN' },
        },
      ]);
      const never = await ask[era](token, path, request('never'));
      const words = (answer: RawAnswer): string => JSON.stringify([answer.status, answer.body]);
      expect(words(never)).toBe(words(hidden).replaceAll('hidden', 'never'));
      expect(words(hidden)).not.toContain('"server"');
      expect(reached()).toEqual([]);
    });

    it('shows the owner the reason', async () => {
      for (const kind of ['resource', 'prompt']) {
        const { body } = await ask[era]('owner', path, REQUESTS[kind]?.('hidden') ?? ['', {}]);
        expect(body.error?.data).toMatchObject({ code: 'CALL_DENIED' });
      }
      expect(settled.map(({ callerId, error }) => [callerId, error?.code])).toEqual([
        [undefined, 'CALL_DENIED'],
        [undefined, 'CALL_DENIED'],
      ]);
      expect(reached()).toEqual([]);
    });
  });
});
