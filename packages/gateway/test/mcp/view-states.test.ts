/** What starts in one view continues there: another view gives no access to what it does not have. */
import { fixture } from '@turnbuckle/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { modern, type RawAnswer } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

const FORM = {
  message: 'Who?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
};
const ADA = { action: 'accept', content: { name: 'Ada' } };
const now = { status: 'working', ttl: null, createdAt: 'x', lastUpdatedAt: 'x' };
const META = {
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: { form: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};

let stand: Stand;
let server: Upstream;
beforeAll(async () => {
  server = await openUpstream({
    era: 'modern',
    tools: ['ask', 'slow'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    answers: {
      'tools/call': ({ name, inputResponses }) => {
        if (name === 'slow') return { task: { taskId: 'up-1', ...now } };
        if (inputResponses !== undefined) return { content: [{ type: 'text', text: 'done' }] };
        const inputRequests = { who: { method: 'elicitation/create', params: FORM } };
        return { resultType: 'input_required', inputRequests, requestState: 'own' };
      },
      'tasks/get': ({ taskId }) => ({ taskId, ...now }),
    },
  });
  stand = await openStand({
    servers: {
      old: { ...fixture('asking', '--era', 'legacy'), mayAsk: ['elicitation'] },
      new: { url: server.url, mayAsk: ['elicitation'] },
      other: fixture('echo'),
    },
    views: {
      a: { servers: ['old', 'new'] },
      b: { servers: ['old', 'new', 'other'] },
      elsewhere: { servers: ['other'] },
      strict: { rules: [{ action: 'deny', tool: ['ask', 'slow'] }] },
    },
  });
});
afterAll(async () => {
  await stand.close();
  await server.close();
});
beforeEach(() => {
  (server.noted as unknown[]).length = 0;
});

const ask = (view: string, method: string, params: Record<string, unknown>): Promise<RawAnswer> => {
  const path = view === '' ? '/mcp' : `/mcp/${view}`;
  const headers = params.taskId === undefined ? {} : { 'mcp-name': String(params.taskId) };
  return modern(stand, { method, params }, { path, headers, meta: META });
};

const VIEWS = ['', 'a', 'b', 'elsewhere', 'strict'];
const WAYS = ['', 'a', 'b'].flatMap((from) =>
  VIEWS.filter((to) => to !== from).map((to) => [from || 'the root', to || 'the root', from, to] as const),
);
const CALLS = {
  'a call that waits here': {
    name: 'old_ask',
    arguments: { kind: 'elicitation', params: FORM, times: 1, atOnce: true },
  },
  'a state of a server': { name: 'new_ask', arguments: {} },
};

describe.each(Object.entries(CALLS))('%s', (_, call) => {
  it.each(WAYS)('that began at %s does not go on at %s', async (_from, _to, from, to) => {
    const asked = await ask(from, 'tools/call', call);
    const { requestState, inputRequests } = asked.body.result ?? {};
    const inputResponses = Object.fromEntries(Object.keys(Object(inputRequests)).map((key) => [key, ADA]));
    const again = { ...call, requestState, inputResponses };
    const calls = server.calls().length;
    const { body } = await ask(to, 'tools/call', again);
    expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining('requestState') });
    expect(server.calls()).toHaveLength(calls);
    // The call is not lost.
    const done = await ask(from, 'tools/call', again);
    expect(done.body.result).toMatchObject({ resultType: 'complete', content: [{ type: 'text' }] });
  });
});

describe('a task', () => {
  it.each(WAYS)(
    'that began at %s is known at %s only if its tool is visible there',
    async (_from, _to, from, to) => {
      const begun = await ask(from, 'tools/call', { name: 'new_slow', arguments: {}, task: {} });
      const { taskId } = Object(begun.body.result?.task);
      const { body } = await ask(to, 'tasks/get', { taskId });
      const isThere = ['', 'a', 'b'].includes(to);
      if (isThere) expect(body.result).toMatchObject({ taskId, status: 'working' });
      else expect(body.error).toMatchObject({ code: -32602 });
      expect(server.noted.some(({ method }) => method === 'tasks/get')).toBe(isThere);
    },
  );
});

it.each([
  ['90071992547409931', '90071992547409932'],
  ['0', '-0'],
])('a call that waits with %s does not continue with %s', async (one, other) => {
  const { arguments: args, name } = CALLS['a call that waits here'];
  const send = (n: string, more = ''): Promise<RawAnswer['body']> =>
    fetch(`${stand.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer token',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":{${JSON.stringify(
        args,
      ).slice(1, -1)},"n":${n}}${more},"_meta":${JSON.stringify({
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        ...META,
      })}}}`,
    }).then((response) => response.json() as Promise<RawAnswer['body']>);
  const { requestState, inputRequests } = (await send(one)).result ?? {};
  const [key = ''] = Object.keys(Object(inputRequests));
  const more = `,"requestState":${JSON.stringify(requestState)},"inputResponses":${JSON.stringify({ [key]: ADA })}`;
  expect((await send(other, more)).error).toMatchObject({ code: -32602 });
  expect((await send(one, more)).result).toMatchObject({ resultType: 'complete' });
});
