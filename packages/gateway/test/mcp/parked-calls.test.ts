/** A modern client and a legacy server: the call is parked while its client is asked. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fixture, waitUntil } from '@turnbuckle/testing';
import type { Caller, RuntimeEvents } from 'turnbuckle';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ParkedCalls } from '../../src/mcp/modern/parked-calls.js';
import { modern, type RawAnswer } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

const CALLERS: Readonly<Record<string, Caller>> = {
  token: { id: 'ada', capabilities: ['mcp_integration'] },
  other: { id: 'bob', capabilities: ['mcp_integration'] },
  // Several tokens of one subject.
  all: { id: 'eve', identity: 'issuer eve', capabilities: ['mcp_integration', 'mcp_more'] },
  tool: { id: 'eve', identity: 'issuer eve', capabilities: ['mcp:up/ask'] },
  elsewhere: { id: 'eve', identity: 'issuer eve', capabilities: ['mcp:down'] },
  nothing: { id: 'eve', identity: 'issuer eve', capabilities: [] },
};
const FORM = {
  message: 'Who?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
};
const ADA = { action: 'accept', content: { name: 'Ada' } };

let stand: Stand | undefined;
afterEach(() => stand?.close());

async function open(): Promise<Stand> {
  const asking = { ...fixture('asking', '--era', 'legacy'), mayAsk: ['elicitation' as const] };
  stand = await openStand({ servers: { up: asking }, callers: CALLERS });
  return stand;
}

interface AskOptions {
  readonly more?: Record<string, unknown>;
  readonly token?: string;
  readonly times?: number;
  readonly capabilities?: object;
}

function ask(
  here: Stand,
  { more = {}, token = 'token', times = 1, capabilities }: AskOptions = {},
): Promise<RawAnswer> {
  const params = {
    name: 'up_ask',
    arguments: { kind: 'elicitation', params: FORM, times, atOnce: true },
    ...more,
  };
  return modern(
    here,
    { method: 'tools/call', params },
    {
      token,
      meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities ?? { elicitation: { form: {} } } },
    },
  );
}

/** The params that answer every question of the result. */
const answered = ({ body: { result = {} } }: RawAnswer): Record<string, unknown> => ({
  requestState: result.requestState,
  inputResponses: Object.fromEntries(Object.keys(result.inputRequests as object).map((key) => [key, ADA])),
});

describe('a call that waits for its client', () => {
  it('continues with the answer, and its requestState is valid once', async () => {
    const here = await open();
    const asked = await ask(here);
    expect(asked.body.result).toMatchObject({
      resultType: 'input_required',
      requestState: expect.any(String),
    });
    expect(Object.values(asked.body.result?.inputRequests as object)).toEqual([
      { method: 'elicitation/create', params: FORM },
    ]);
    const more = answered(asked);
    const done = await ask(here, { more });
    expect(done.body.result).toMatchObject({
      resultType: 'complete',
      content: [{ text: JSON.stringify([ADA]) }],
    });
    expect((await ask(here, { more })).body.error).toMatchObject({ code: -32602 });
  });

  it('sends concurrent questions together, and repeats the unanswered ones', async () => {
    const here = await open();
    const asked = await ask(here, { times: 3 });
    const keys = Object.keys(asked.body.result?.inputRequests as object);
    expect(keys).toHaveLength(3);
    const [first = ''] = keys;
    const some = { requestState: asked.body.result?.requestState, inputResponses: { [first]: ADA } };
    const again = await ask(here, { times: 3, more: some });
    expect(Object.keys(again.body.result?.inputRequests as object)).toEqual(keys.slice(1));
    expect(again.body.result?.requestState).not.toBe(asked.body.result?.requestState);
    const done = await ask(here, { times: 3, more: answered(again) });
    expect(done.body.result).toMatchObject({ content: [{ text: JSON.stringify([ADA, ADA, ADA]) }] });
  });

  it.each([
    ['all', true],
    ['tool', true],
    ['elsewhere', false],
    ['nothing', false],
  ] as const)('is resumed with the token "%s" of the same caller: %s', async (token, isResumed) => {
    const here = await open();
    const settled: RuntimeEvents['call.settled'][] = [];
    here.runtime.on('call.settled', (call) => settled.push(call));
    const asked = await ask(here, { token: 'all' });
    const more = answered(asked);
    const { body } = await ask(here, { token, more });
    expect(body.result?.resultType === 'complete').toBe(isResumed);
    if (isResumed) return;
    expect(body.error).toMatchObject({ code: -32602 });
    expect(settled).toMatchObject([{ error: { code: 'REQUEST_INVALID' }, callerId: 'eve' }]);
    // It still waits for a caller that may make the call.
    expect((await ask(here, { token: 'all', more })).body.result?.resultType).toBe('complete');
  });

  it('cannot be resumed by another caller, or with another request', async () => {
    const here = await open();
    const more = answered(await ask(here));
    for (const wrong of [
      ask(here, { more, token: 'other' }),
      ask(here, { more, times: 2 }),
      ask(here, { more: { ...more, requestState: `${String(more.requestState)}x` } }),
    ])
      expect((await wrong).body.error).toMatchObject({ code: -32602 });
    expect((await ask(here, { more })).body.result).toMatchObject({ resultType: 'complete' });
  });

  it('refuses the question if the client did not declare the capability', async () => {
    const here = await open();
    const received: RuntimeEvents['server.asked'][] = [];
    here.runtime.on('server.asked', (event) => received.push(event));
    const { body } = await ask(here, { capabilities: {} });
    expect(received).toMatchObject([{ kind: 'elicitation', outcome: 'refused' }]);
    expect(body.result ?? body.error).toBeDefined();
  });

  it('does not end while its client is asked, but with the gateway', async () => {
    const here = await open();
    await ask(here);
    let settled = 0;
    here.runtime.on('call.settled', () => {
      settled += 1;
    });
    expect(settled).toBe(0);
    await here.close();
    stand = undefined;
    await waitUntil(() => settled === 1);
  });
});

/** A server that ends a call on request, although its question in the middle of it is unanswered. */
async function openEnding(end: (tell: (outcome: object) => void) => void): Promise<Stand> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, result } = JSON.parse(body);
    if (id === undefined || result !== undefined) return void response.writeHead(202).end();
    const answers: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'ending', version: '1' },
      },
      'tools/list': { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] },
    };
    if (method !== 'tools/call') {
      const outcome =
        answers[method] === undefined
          ? { error: { code: -32601, message: 'no' } }
          : { result: answers[method] };
      response.writeHead(200, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const say = (message: object): unknown =>
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
    say({ id: 'question', method: 'elicitation/create', params: FORM });
    end((outcome) => {
      say({ id, ...outcome });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const up = { url: `http://127.0.0.1:${port}/mcp`, mayAsk: ['elicitation' as const] };
  stand = await openStand({ servers: { up }, callers: CALLERS });
  return stand;
}

describe('a call that ends while its client is asked', () => {
  const begin = async () => {
    let tell: (outcome: object) => void = () => {};
    let settled = 0;
    const here = await openEnding((given) => {
      tell = given;
    });
    here.runtime.on('call.settled', () => {
      settled += 1;
    });
    const asked = await ask(here);
    expect(asked.body.result).toMatchObject({ resultType: 'input_required' });
    const finish = async (outcome: object): Promise<void> => {
      tell(outcome);
      await waitUntil(() => settled === 1);
    };
    return { here, more: answered(asked), finish };
  };
  const DONE = { result: { content: [{ type: 'text', text: 'done without you' }] } };

  it('returns its result once, to the client that resumes it', async () => {
    const { here, more, finish } = await begin();
    await finish(DONE);
    expect((await ask(here, { more, token: 'other' })).body.error).toMatchObject({ code: -32602 });
    expect((await ask(here, { more, times: 2 })).body.error).toMatchObject({ code: -32602 });
    const { body } = await ask(here, { more });
    expect(body.result).toMatchObject({ resultType: 'complete', content: [{ text: 'done without you' }] });
    expect((await ask(here, { more })).body.error).toMatchObject({ code: -32602 });
  });

  it('reports why it failed', async () => {
    const { here, more, finish } = await begin();
    await finish({ error: { code: -32000, message: 'gave up waiting' } });
    expect((await ask(here, { more })).body.error).toMatchObject({
      code: -32000,
      message: 'gave up waiting',
    });
  });

  it('does not keep a result that is too large', async () => {
    const { here, more, finish } = await begin();
    await finish({ result: { content: [{ type: 'text', text: 'x'.repeat(4_200_000) }] } });
    const { body } = await ask(here, { more });
    expect(body.error).toMatchObject({ code: -32603, message: expect.stringContaining('too large') });
  });

  it('is kept with others of its caller up to a bound, and takes nothing from another', async () => {
    const calls = new ParkedCalls();
    const begin = async (id: string, name: string) => {
      let finish: (result: Record<string, unknown>) => void = () => {};
      const request = {
        method: 'tools/call',
        params: { name },
        caller: { id, capabilities: [] },
        view: '',
        era: 'modern' as const,
      };
      const asked = await calls.start(request, { capabilities: { elicitation: {} } }, ({ answers }) => {
        const { signal } = new AbortController();
        Promise.resolve(answers?.elicitation?.({ params: FORM, signal } as never)).catch(() => {});
        return new Promise((resolve) => {
          finish = resolve;
        });
      });
      finish({ text: 'x'.repeat(1_000_000) });
      await new Promise((resolve) => setImmediate(resolve));
      const { requestState } = asked as { requestState: string };
      return () =>
        calls.resume({ ...request, params: { name, requestState } }).then(
          () => 'kept',
          () => 'too large',
        );
    };
    const own = [];
    for (const name of 'abcdef') own.push(await begin('ada', name));
    const other = await begin('bob', 'a');
    expect(calls.size).toBe(7);
    expect(await other()).toBe('kept');
    const outcomes = [];
    for (const resume of own) outcomes.push(await resume());
    expect(outcomes).toEqual(['kept', 'kept', 'kept', 'kept', 'too large', 'too large']);
    expect(calls.size).toBe(0);
    // Fetched results leave room again.
    expect(await (await begin('ada', 'g'))()).toBe('kept');
  });

  it('keeps nothing for a caller whose token has ended', async () => {
    const calls = new ParkedCalls();
    const ended = new AbortController();
    let finish: (result: Record<string, unknown>) => void = () => {};
    const request = {
      method: 'tools/call',
      params: { name: 'x' },
      caller: { id: 'ada', capabilities: [] },
      view: '',
      era: 'modern' as const,
    };
    const client = { capabilities: { elicitation: {} }, ended: ended.signal };
    const asked = await calls.start(request, client, ({ answers }) => {
      const signal = new AbortController().signal;
      Promise.resolve(answers?.elicitation?.({ params: FORM, signal } as never)).catch(() => {});
      return new Promise((resolve) => {
        finish = resolve;
      });
    });
    expect(calls.size).toBe(1);
    ended.abort();
    expect(calls.size).toBe(0);
    finish({ content: [] });
    const { requestState } = asked as { requestState: string };
    await expect(calls.resume({ ...request, params: { ...request.params, requestState } })).rejects.toThrow(
      'Unknown or expired requestState',
    );
  });
});
