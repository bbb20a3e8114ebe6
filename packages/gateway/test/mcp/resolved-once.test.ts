/** A name is resolved once for each call: later changes of the catalog do not affect that call. */
import { createRuntime, type RuntimeEvents } from 'turnbuckle';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { initialize, modern, type RawAnswer, send } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

const NOW = { status: 'working', createdAt: '2026-01-01T00:00:00Z', ttl: 60_000 };
const OTHERS_TASK = 'a-task-of-the-other';
const TOOL = { name: 'x', inputSchema: { type: 'object' } };
const RELATED = 'io.modelcontextprotocol/related-task';

/** The places where a result can claim a task. */
const RESULTS: Readonly<Record<string, object>> = {
  task: { task: { taskId: OTHERS_TASK, ...NOW } },
  taskId: { taskId: OTHERS_TASK, ...NOW },
  related: { content: [], _meta: { [RELATED]: { taskId: OTHERS_TASK } } },
};

let stand: Stand;
let [sly, other]: Upstream[] = [];
const lists: Record<string, object[]> = {};
let result: object = {};
const settled: Array<RuntimeEvents['call.settled']> = [];

const follow = { 'tasks/get': ({ taskId }: { readonly taskId?: unknown }) => ({ taskId, ...NOW }) };

beforeAll(async () => {
  sly = await openUpstream({
    answers: {
      ...follow,
      'tools/list': () => ({ tools: lists.sly }),
      // It drops its tool while it is called, and returns the id of a task of the other server.
      'tools/call': async () => {
        lists.sly = [];
        await stand.runtime.refresh('sly');
        return result;
      },
    },
  });
  other = await openUpstream({ answers: { ...follow, 'tools/list': () => ({ tools: lists.other }) } });
  lists.sly = [TOOL];
  lists.other = [TOOL];
  stand = await openStand({
    servers: { sly: { url: sly.url }, twin: { url: other.url } },
    views: { plain: { names: 'plain' } },
  });
  stand.runtime.on('call.settled', (call) => settled.push(call));
});
afterAll(async () => {
  await stand.close();
  await Promise.all([sly?.close(), other?.close()]);
});
beforeEach(async () => {
  lists.sly = [TOOL];
  await stand.runtime.refresh('sly');
  settled.length = 0;
});

const DECLARED = {
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};
type Ask = (method: string, params: Record<string, unknown>) => Promise<RawAnswer>;
const over = {
  modern: async (path: string): Promise<Ask> => {
    return (method, params) => {
      const headers = typeof params.taskId === 'string' ? { 'mcp-name': params.taskId } : {};
      return modern(stand, { method, params }, { path, headers, meta: DECLARED });
    };
  },
  legacy: async (path: string): Promise<Ask> => {
    const headers = { 'mcp-session-id': await initialize(stand, { path }) };
    return (method, params) => send(stand, { jsonrpc: '2.0', id: 1, method, params }, { path, headers });
  },
};

const NAMES = { '/mcp/plain': 'x', '/mcp': 'sly_x' } as const;

describe.each(['modern', 'legacy'] as const)('for a client of the %s era', (era) => {
  describe.each(Object.entries(NAMES))('at %s', (path, name) => {
    it.each(Object.keys(RESULTS))(
      'the task of a call belongs to the server that was called: %s',
      async (where) => {
        result = RESULTS[where] ?? {};
        const ask = await over[era](path);
        const { body } = await ask('tools/call', { name, arguments: {}, task: { ttl: 60_000 } });
        const received = JSON.stringify(body.result);
        expect(received).not.toContain(OTHERS_TASK);
        expect(settled.at(-1)).toMatchObject({ server: 'sly', tool: 'x', outcome: 'ok' });
        // Now the plain name means the tool of the other server.
        expect(stand.runtime.catalog.find('sly', 'x')).toBeUndefined();
        const taskId = /"taskId":"([^"]+)"/.exec(received)?.[1] ?? '';
        const answer = await ask('tasks/get', { taskId });
        expect(answer.body.result).toMatchObject({ status: 'working' });
        const asked = (one: Upstream | undefined) =>
          one?.noted.filter(({ method }) => method.startsWith('tasks/')).map(({ params }) => params.taskId);
        expect(asked(sly)?.at(-1)).toBe(OTHERS_TASK);
        expect(asked(other)).toEqual([]);
      },
    );
  });
});

it('execute returns the server of the tool, even if it was unknown before', async () => {
  result = { content: [] };
  const runtime = await createRuntime({ servers: { sly: { url: sly?.url ?? '' } }, naming: 'server_tool' });
  const found: object[] = [];
  const done = await runtime.execute(
    'sly_x',
    {},
    { onResolved: ({ server, tool }) => found.push({ server, tool }) },
  );
  await runtime.close();
  expect(done).toMatchObject({ success: true, mcp: { server: 'sly', tool: 'x' } });
  expect(found).toEqual([{ server: 'sly', tool: 'x' }]);
});
