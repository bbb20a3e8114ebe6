/** Whatever is refused leaves a record with its caller and its code, wherever it was sent. */
import type { Caller, RuntimeEvents } from 'turnbuckle';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { modern } from './raw-client.js';
import { openStand, type Stand } from './stand.js';
import { codeOf, openSurface, SURFACES } from './surfaces.js';

const CALLERS: Readonly<Record<string, Caller>> = {
  little: { id: 'little', capabilities: ['mcp:in/look'] },
  all: { id: 'all', capabilities: ['mcp_integration'] },
};
const CLOSED = 'note://closed';

let one: Upstream;
let other: Upstream;
let stand: Stand;
const settled: Array<RuntimeEvents['call.settled']> = [];

const open = (name: string) =>
  openUpstream({
    tools: [{ name: 'look', inputSchema: { type: 'object' } }],
    answers: {
      initialize: () => ({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, resources: {}, prompts: {} },
        serverInfo: { name: 'up', version: '1' },
      }),
      'resources/list': () => ({ resources: [{ uri: `note://${name}`, name }] }),
      'prompts/list': () => ({ prompts: [{ name: 'greet' }] }),
    },
  });

beforeAll(async () => {
  one = await open('closed');
  other = await open('open');
  stand = await openStand({
    servers: { in: { url: one.url }, out: { url: other.url } },
    callers: CALLERS,
    views: { plain: { names: 'plain' } },
    options: { rules: [{ action: 'deny', kind: 'resource', tool: CLOSED }, { action: 'allow' }] },
  });
  stand.runtime.on('call.settled', (call) => settled.push(call));
});
afterAll(async () => {
  await stand.close();
  await one.close();
  await other.close();
});
afterEach(() => {
  settled.length = 0;
});

const ref = (type: string, more: object) => ({ ref: { type, ...more }, argument: { name: 'a', value: 'b' } });

type Row = readonly [
  method: string,
  params: Record<string, unknown>,
  code: string,
  kind: string,
  tool: string,
];

const TABLE: readonly Row[] = [
  ['tools/call', { name: 'no_such' }, 'TOOL_UNKNOWN', 'tool', 'no_such'],
  ['tools/call', { name: 'out_nothing' }, 'TOOL_UNKNOWN', 'tool', 'out_nothing'],
  ['prompts/get', { name: 'made_up' }, 'PROMPT_UNKNOWN', 'prompt', 'made_up'],
  ['resources/read', { uri: 'made://up' }, 'RESOURCE_UNKNOWN', 'resource', 'made://up'],
  ['resources/read', { uri: CLOSED }, 'RESOURCE_UNKNOWN', 'resource', CLOSED],
  ['completion/complete', ref('ref/prompt', { name: 'made_up' }), 'PROMPT_UNKNOWN', 'prompt', 'made_up'],
  [
    'completion/complete',
    ref('ref/resource', { uri: 'made://{a}' }),
    'RESOURCE_UNKNOWN',
    'resource',
    'made://{a}',
  ],
  ['own/method', { a: 1 }, 'TOOL_UNKNOWN', 'tool', 'own/method'],
  ['prompts/get', { name: 'made_up', requestState: 'forged' }, 'REQUEST_INVALID', 'prompt', 'made_up'],
  ['tools/call', { name: 'in_look', requestState: 'forged' }, 'REQUEST_INVALID', 'tool', 'in_look'],
];
const TASK: Row = ['tasks/get', { taskId: 'of-another-caller' }, 'TOOL_UNKNOWN', 'tool', 'tasks/get'];
const FOLLOWED: readonly Row[] = [
  ['resources/subscribe', { uri: 'made://up' }, 'RESOURCE_UNKNOWN', 'resource', 'made://up'],
  ['resources/subscribe', { uri: CLOSED }, 'RESOURCE_UNKNOWN', 'resource', CLOSED],
];

// requirement D5, P5
describe.each(SURFACES)('a client over %s', (surface) => {
  describe.each(['little', 'all'])('with the token of %s', (token) => {
    it.each(surface === 'modern' ? TABLE : [...TABLE, TASK, ...FOLLOWED])(
      'that sends %s %j is recorded with %s',
      async (method, params, code, kind, tool) => {
        const caller = CALLERS[token] ?? { id: token, capabilities: [] };
        const ask = await openSurface(surface, stand, { token, caller });
        expect(codeOf(await ask(method, params))).toBeDefined();
        const [record, ...more] = settled;
        expect(more).toEqual([]);
        expect(record).toMatchObject({ outcome: 'failed', error: { code }, callerId: token, kind, tool });
        expect(record?.attempts).toBe(0);
      },
    );
  });
});

it('leaves one record for each request that succeeds', async () => {
  const caller = CALLERS.all ?? { id: 'all', capabilities: [] };
  for (const surface of SURFACES) {
    settled.length = 0;
    const ask = await openSurface(surface, stand, { token: 'all', caller });
    for (const kind of ['tools', 'prompts', 'resources']) await ask(`${kind}/list`, {});
    await ask('tools/call', { name: 'in_look' });
    expect(settled).toMatchObject([{ outcome: 'ok', tool: 'look' }]);
  }
});

describe('a modern client', () => {
  const caller = CALLERS.little ?? { id: 'little', capabilities: [] };

  it('that listens to resources it cannot read leaves a record of each', async () => {
    const ask = await openSurface('modern', stand, { token: 'little', caller });
    await ask('subscriptions/listen', { notifications: { resourceSubscriptions: ['made://up', CLOSED] } });
    const error = { code: 'RESOURCE_UNKNOWN' };
    expect(settled).toMatchObject([
      { tool: 'made://up', error, callerId: 'little' },
      { tool: CLOSED, error, callerId: 'little' },
    ]);
  });

  it('that asks about the task of another caller leaves a record', async () => {
    const meta = {
      'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    };
    const headers = { 'mcp-name': 'foreign' };
    const message = { method: 'tasks/get', params: { taskId: 'foreign' } };
    const { body } = await modern(stand, message, { token: 'little', headers, meta });
    expect(codeOf(body)).toBe('TOOL_UNKNOWN');
    expect(settled).toMatchObject([
      { tool: 'tasks/get', error: { code: 'TOOL_UNKNOWN' }, callerId: 'little' },
    ]);
  });
});
