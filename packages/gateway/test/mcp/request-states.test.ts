/** The state that a server sends with a question returns only to that server, for the same caller and the same item. */
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RequestStates } from '../../src/mcp/sealed/request-states.js';
import { makeTaskKey, TaskIds } from '../../src/mcp/sealed/task-ids.js';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { initialize, modern, type RawAnswer, send } from './raw-client.js';
import { EVERYTHING, openStand, type Stand } from './stand.js';

/** Characters that do not survive normalization, after the prefix of our own states. */
const OWN = 'turnbuckle: "\\\u00e9e\u0301\u2028\ud800=?+/% ';
const QUESTION = {
  method: 'elicitation/create',
  params: { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
};
const inputResponses = { who: { action: 'accept', content: { name: 'Ada' } } };
const ALICE = { id: 'alice', capabilities: ['mcp_integration'] };
const ELICITS = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
const ANSWERS: Readonly<Record<string, object>> = {
  'tools/call': { content: [] },
  'prompts/get': { messages: [] },
  'resources/read': { contents: [] },
};

let stand: Stand;
let [first, second]: Upstream[] = [];
/** Whether the first server still has its items. */
let hasItems = true;
let ownState: unknown = OWN;

const open = (isThere: () => boolean, tools: readonly string[]): Promise<Upstream> => {
  const listed = (items: readonly object[]): readonly object[] => (isThere() ? items : []);
  const ask = (method: string) => (params: { readonly inputResponses?: unknown }) =>
    params.inputResponses === undefined
      ? {
          resultType: 'input_required',
          inputRequests: { who: QUESTION },
          ...(ownState !== undefined && { requestState: ownState }),
        }
      : ANSWERS[method];
  return openUpstream({
    era: 'modern',
    answers: {
      'server/discover': () => ({
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {}, resources: {}, prompts: {} },
      }),
      'tools/list': () => ({
        tools: listed(tools.map((name) => ({ name, inputSchema: { type: 'object' } }))),
      }),
      'prompts/list': () => ({ prompts: listed([{ name: 'x' }]) }),
      'resources/list': () => ({ resources: listed([{ uri: 'test://x', name: 'x' }]) }),
      ...Object.fromEntries(Object.keys(ANSWERS).map((method) => [method, ask(method)])),
    },
  });
};

beforeAll(async () => {
  first = await open(() => hasItems, ['x', 'y']);
  second = await open(() => true, ['x']);
  stand = await openStand({
    servers: {
      first: { url: first.url, mayAsk: ['elicitation'] },
      second: { url: second.url, mayAsk: ['elicitation'] },
    },
    callers: { token: EVERYTHING, alice: ALICE },
    views: { plain: { names: 'plain' } },
    options: { approvals: 'queue' },
  });
});
afterAll(async () => {
  await stand.close();
  await Promise.all([first?.close(), second?.close()]);
});
const have = async (items: boolean): Promise<void> => {
  hasItems = items;
  await stand.runtime.refresh('first');
  stand.endpoint.invalidate();
};
beforeEach(async () => {
  ownState = OWN;
  stand.runtime.setRules([]);
  await have(true);
});

type Params = Record<string, unknown>;
type Answer = RawAnswer['body'];
type Ask = (method: string, params: Params, token?: string) => Promise<Answer>;

/** Each transport of a modern client. */
const over = {
  http:
    (view: string): Ask =>
    async (method, params, token) => {
      const path = view === '' ? '/mcp' : `/mcp/${view}`;
      return (await modern(stand, { method, params }, { path, meta: ELICITS, ...(token && { token }) })).body;
    },
  stdio:
    (view: string): Ask =>
    async (method, params, token) => {
      const [input, output] = [new PassThrough(), new PassThrough()];
      const caller = token === undefined ? EVERYTHING : ALICE;
      const serving = stand.endpoint.serveStdio({ input, output, caller, maxBytes: 1_000_000 }, view);
      const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', ...ELICITS };
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } })}\n`);
      let text = '';
      for await (const part of output) {
        text += String(part);
        if (text.includes('\n')) break;
      }
      input.end();
      await serving;
      return JSON.parse(text.slice(0, text.indexOf('\n')));
    },
};

interface Item {
  readonly method: string;
  /** How the client names the item of the first server. */
  readonly named: Params;
  /** How it names the item of the second server, once the first has none. */
  readonly twin: Params;
}

const ITEMS: Readonly<Record<string, Readonly<Record<string, Item>>>> = {
  plain: {
    tool: { method: 'tools/call', named: { name: 'x' }, twin: { name: 'x' } },
    prompt: { method: 'prompts/get', named: { name: 'x' }, twin: { name: 'x' } },
    resource: { method: 'resources/read', named: { uri: 'test://x' }, twin: { uri: 'test://x' } },
  },
  '': {
    tool: { method: 'tools/call', named: { name: 'first_x' }, twin: { name: 'second_x' } },
    prompt: { method: 'prompts/get', named: { name: 'first_x' }, twin: { name: 'second_x' } },
    resource: { method: 'resources/read', named: { uri: 'test://x' }, twin: { uri: 'test://x' } },
  },
};
const TABLE = (['http', 'stdio'] as const).flatMap((way) =>
  Object.entries(ITEMS).flatMap(([view, items]) =>
    Object.entries(items).map(([kind, item]) => ({ way, view, kind, item })),
  ),
);

const arrivedAt = (one: Upstream | undefined): readonly Params[] =>
  (one?.noted ?? []).flatMap(({ method, params }) => (Object.hasOwn(ANSWERS, method) ? [params] : []));
/** What arrives at both servers during the work. */
async function arriving(
  doing: () => Promise<unknown>,
): Promise<{ first: readonly Params[]; second: readonly Params[] }> {
  const before = [arrivedAt(first).length, arrivedAt(second).length];
  await doing();
  return { first: arrivedAt(first).slice(before[0]), second: arrivedAt(second).slice(before[1]) };
}
const REFUSED = { code: -32602, message: expect.stringContaining('requestState') };

describe.each(TABLE)('over $way, view "$view", a $kind', ({ way, view, item: { method, named, twin } }) => {
  const ask = over[way](view);
  const begin = async (): Promise<unknown> => {
    const { result } = await ask(method, named);
    expect(result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
    expect(JSON.stringify(result)).not.toContain('\\u2028');
    expect(result?.requestState).not.toContain('turnbuckle:');
    return result?.requestState;
  };

  it('is requested again with the exact state that its server sent', async () => {
    const requestState = await begin();
    const arrived = await arriving(async () => {
      const { result } = await ask(method, { ...named, inputResponses, requestState });
      expect(result).toMatchObject({ resultType: 'complete' });
    });
    expect(arrived).toMatchObject({ first: [{ requestState: OWN, inputResponses }], second: [] });
  });

  it('of another server, by the same name or its own, gets neither the state nor the answers', async () => {
    const requestState = await begin();
    await have(false);
    const arrived = await arriving(async () => {
      const again = { inputResponses, requestState };
      expect((await ask(method, { ...twin, ...again })).error).toMatchObject(REFUSED);
      expect((await ask(method, { ...named, ...again })).error).toMatchObject(REFUSED);
    });
    expect(arrived).toEqual({ first: [], second: [] });
    // Without the state, the other server handles the request itself.
    expect((await ask(method, twin)).result).toMatchObject({ resultType: 'input_required' });
  });

  it('keeps its answers from another server even if its own server sent no state', async () => {
    ownState = undefined;
    const requestState = await begin();
    const arrived = await arriving(() => ask(method, { ...named, inputResponses, requestState }));
    expect(arrived).toMatchObject({ first: [{ inputResponses }], second: [] });
    expect(arrived.first[0]).not.toHaveProperty('requestState');
    await have(false);
    const refused = await arriving(() => ask(method, { ...twin, inputResponses, requestState }));
    expect(refused).toEqual({ first: [], second: [] });
  });

  it('rejects a state of another caller, of another kind, or a forged one', async () => {
    const requestState = await begin();
    const elsewhere = Object.values(ITEMS[view] ?? {}).find((one) => one.method !== method) as Item;
    const others = await ask(elsewhere.method, elsewhere.named);
    const task = { server: 'first', tool: 'x', id: OWN };
    const wrong = [
      OWN.slice('turnbuckle:'.length),
      // The last character may have bits that do not count.
      String(requestState).replace(/.(?=..$)/, (one) => (one === 'A' ? 'B' : 'A')),
      new TaskIds(makeTaskKey()).seal(task, EVERYTHING.id),
      others.result?.requestState,
      '',
      'A'.repeat(60_000),
      7,
      null,
      {},
    ];
    const arrived = await arriving(async () => {
      for (const state of wrong)
        expect(
          (await ask(method, { ...named, inputResponses, requestState: state })).error,
          String(state),
        ).toMatchObject(REFUSED);
      const stolen = await ask(method, { ...named, inputResponses, requestState }, 'alice');
      expect(stolen.error).toMatchObject(REFUSED);
    });
    expect(arrived).toEqual({ first: [], second: [] });
  });
});

describe.each(['', 'plain'])('at the view "%s"', (view) => {
  const ask = over.http(view);
  const [x, y] = view === '' ? ['first_x', 'first_y'] : ['x', 'y'];

  it('a state is valid for its tool only, and reveals nothing that the caller may not know', async () => {
    const { result } = await ask('tools/call', { name: x });
    const { requestState } = result ?? {};
    const refusals: unknown[] = [];
    const arrived = await arriving(async () => {
      refusals.push((await ask('tools/call', { name: y, inputResponses, requestState })).error);
      const rule = { action: 'deny', tool: 'y', hide: true } as const;
      stand.runtime.setRules([{ rule, from: 'user', position: 0 }]);
      stand.endpoint.invalidate();
      refusals.push((await ask('tools/call', { name: y, inputResponses, requestState })).error);
      refusals.push((await ask('tools/call', { name: 'first_z', inputResponses, requestState })).error);
    });
    expect(refusals).toEqual(Array(3).fill(refusals[0]));
    expect(refusals[0]).toMatchObject(REFUSED);
    expect(arrived).toEqual({ first: [], second: [] });
  });

  it('an approval shows the state that is sent', async () => {
    const { result } = await ask('tools/call', { name: x });
    stand.runtime.setRules([{ rule: { action: 'ask', tool: 'x' }, from: 'user', position: 0 }]);
    const params = { name: x, inputResponses, requestState: result?.requestState };
    // Without form support in the client, which would be asked instead.
    const going = modern(
      stand,
      { method: 'tools/call', params },
      { path: view === '' ? '/mcp' : `/mcp/${view}` },
    );
    const pending = () => stand.runtime.approvals.pending();
    await expect.poll(() => pending().length).toBe(1);
    const [asked] = pending();
    expect(asked?.alsoSent).toMatchObject({
      inputResponses,
      requestState: expect.stringContaining('turnbuckle:'),
    });
    stand.runtime.approvals.answer(asked?.id ?? '', 'once');
    expect((await going).body.result).toMatchObject({ resultType: 'complete' });
  });

  it('a legacy client has no state, and cannot send one', async () => {
    const path = view === '' ? '/mcp' : `/mcp/${view}`;
    const { result } = await ask('tools/call', { name: x });
    const headers = { 'mcp-session-id': await initialize(stand, { path }) };
    const arrived = await arriving(async () => {
      for (const requestState of [OWN, 'state', 1]) {
        const params = { name: x, arguments: {}, inputResponses, requestState };
        const { body } = await send(
          stand,
          { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
          { path, headers },
        );
        expect(body.error).toMatchObject({ code: -32602 });
      }
    });
    expect(arrived).toEqual({ first: [], second: [] });
    expect(result).toMatchObject({ resultType: 'input_required' });
  });
});

it.each([
  ['a long one', 'x'.repeat(1_048_577)],
  ['a number', 7],
  ['an object', { a: 1 }],
])('an invalid state of a server is a protocol violation: %s', async (_what, state) => {
  ownState = state;
  const { result } = await over.http('')('tools/call', { name: 'first_x' });
  expect(result).toMatchObject({
    isError: true,
    _meta: { 'turnbuckle/error': { code: 'PROTOCOL_VIOLATION' } },
  });
});

it('a state is valid after a restart with the same key, at any accepted length, and is no task id', () => {
  const key = makeTaskKey();
  const by = { method: 'tools/call', caller: EVERYTHING, view: '' };
  const own = '\u2028'.repeat(1_048_576);
  const { requestState } = new RequestStates(key).seal(
    { resultType: 'input_required', requestState: own },
    { server: 'first', item: 'x' },
    by,
  );
  expect(new RequestStates(key).open(requestState, by)).toMatchObject({
    server: 'first',
    item: 'x',
    state: own,
  });
  expect(() => new RequestStates(makeTaskKey()).open(requestState, by)).toThrow('requestState');
  const ids = new TaskIds(key);
  const short = new RequestStates(key).seal(
    { resultType: 'input_required' },
    { server: 'first', item: 'x' },
    by,
  );
  expect(ids.open(short.requestState, EVERYTHING.id)).toBeUndefined();
  const id = ids.seal({ server: 'first', tool: 'x', id: '1' }, EVERYTHING.id);
  expect(() => new RequestStates(key).open(id, by)).toThrow('requestState');
});
