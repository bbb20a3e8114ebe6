/** Clients with the same ids, the same progress tokens and the same servers: nothing of one reaches the other. */
import { fixture, type RunningFixture, startFixture } from '@turnbuckle/testing';
import type { Caller } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { initialize, modern, type RawAnswer, send } from '../mcp/raw-client.js';
import { openStand, type Stand, upstream } from '../mcp/stand.js';

const CALLERS: Readonly<Record<string, Caller>> = {
  ada: { id: 'ada', capabilities: ['mcp_integration'] },
  bob: { id: 'bob', capabilities: ['mcp_integration'] },
  little: { id: 'little', capabilities: ['mcp:up/echo'] },
};
const FORM = { type: 'object', properties: { name: { type: 'string' } } };

let stand: Stand;
let web: RunningFixture;
let far: Awaited<ReturnType<typeof upstream>>;
beforeAll(async () => {
  web = await startFixture('echo', {
    transport: 'http',
    flags: ['--era', 'modern', '--cache-scope', 'public', '--ttl-ms', '60000'],
  });
  far = await upstream('asking', { era: 'legacy', way: 'http' });
  const mayAsk = ['elicitation' as const];
  stand = await openStand({
    servers: {
      up: { url: web.url },
      near: { ...fixture('asking', '--era', 'legacy'), mayAsk },
      far: far.config,
      asking: { ...fixture('asking', '--era', 'modern'), mayAsk },
    },
    callers: CALLERS,
  });
});
afterAll(async () => {
  await stand.close();
  await Promise.all([web.stop(), far.stop()]);
});

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
}

/** A legacy client: the messages on the stream of a request, one by one. */
async function* follow(who: string, session: string, message: object): AsyncGenerator<Message> {
  const response = await fetch(`${stand.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${who}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': session,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, ...message }),
  });
  let rest = '';
  const decoder = new TextDecoder();
  for await (const part of response.body ?? []) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice(6));
  }
  if (rest !== '') yield JSON.parse(rest);
}

const textOf = (result: Message['result']): string => {
  const [first] = (result?.content ?? []) as Array<{ text: string }>;
  return first?.text ?? '';
};

describe('two clients of one server', () => {
  it('with the same ids hear of their own progress, and get their own answers', async () => {
    const one = async (who: string, ms: number): Promise<void> => {
      const session = await initialize(stand, { token: who });
      const params = { name: 'up_sleep', arguments: { ms, everyMs: 5 }, _meta: { progressToken: 1 } };
      const heard: Message[] = [];
      for await (const message of follow(who, session, { method: 'tools/call', params })) heard.push(message);
      const progress = heard.filter(({ method }) => method === 'notifications/progress');
      expect(progress.length).toBeGreaterThan(0);
      expect(new Set(progress.map(({ params: received }) => received?.total))).toEqual(new Set([ms]));
      expect(textOf(heard.at(-1)?.result)).toBe(`slept ${ms} ms`);
    };
    await Promise.all(
      Array.from({ length: 5 }, (_, turn) => [one('ada', 40 + turn), one('bob', 60 + turn)]).flat(),
    );
  });

  it.each([
    ['far', 3],
    // Over one pipe it is unknown for which call a server asks, unless there is only one.
    ['near', 0],
  ])('(%s) never get a question that is for the other', async (server, least) => {
    const one = async (who: string): Promise<void> => {
      const session = await initialize(stand, { token: who }, { elicitation: { form: {} } });
      const mine = { token: who, headers: { 'mcp-session-id': session } };
      const form = { message: `For ${who}`, requestedSchema: FORM };
      const params = { name: `${server}_ask`, arguments: { kind: 'elicitation', params: form, times: 3 } };
      const asked: unknown[] = [];
      const heard: Message[] = [];
      for await (const message of follow(who, session, { method: 'tools/call', params })) {
        heard.push(message);
        if (message.method !== 'elicitation/create') continue;
        asked.push(message.params?.message);
        const result = { action: 'accept', content: { name: who } };
        await send(stand, { jsonrpc: '2.0', id: message.id, result }, mine);
      }
      expect(asked.length).toBeGreaterThanOrEqual(least);
      expect(new Set([...asked, form.message])).toEqual(new Set([form.message]));
      const own = JSON.stringify({ action: 'accept', content: { name: who } });
      const answers = (JSON.parse(textOf(heard.at(-1)?.result)) as object[]).map((one) =>
        JSON.stringify(one),
      );
      expect(answers.filter((one) => one === own)).toHaveLength(asked.length);
      expect(answers.filter((one) => one !== own && !one.includes('error'))).toEqual([]);
    };
    await Promise.all(['ada', 'bob', 'ada', 'bob'].map(one));
  });
});

describe('what a client says of itself', () => {
  const claims = {
    caller: 'owner',
    capabilities: ['mcp_integration'],
    scopes: ['admin'],
    'turnbuckle/caller': CALLERS.ada,
    'io.modelcontextprotocol/clientInfo': { name: 'owner', version: '1' },
    authorization: 'Bearer ada',
  };

  it('in _meta gives it nothing', async () => {
    const names = async (meta: object): Promise<string[]> => {
      const { body } = await modern(stand, { method: 'tools/list' }, { token: 'little', meta: { ...meta } });
      const { tools = [] } = body.result ?? {};
      return (tools as Array<{ name: string }>).map(({ name }) => name);
    };
    expect(await names({})).toEqual(['up_echo']);
    expect(await names(claims)).toEqual(['up_echo']);
    const call = { method: 'tools/call', params: { name: 'up_pid', arguments: {} } };
    const { body } = await modern(stand, call, { token: 'little', meta: claims });
    expect(body.error).toMatchObject({ code: -32602 });
  });

  const ask = (more: object, token = 'ada'): Promise<RawAnswer> => {
    const form = { message: 'Who?', requestedSchema: FORM };
    const params = { name: 'asking_ask', arguments: { kind: 'elicitation', params: form }, ...more };
    const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
    return modern(stand, { method: 'tools/call', params }, { token, meta });
  };
  const inputResponses = { answer1: { action: 'accept', content: { name: 'Ada' } } };

  it('as requestState returns to its server unchanged, or not at all', async () => {
    const { requestState } = (await ask({})).body.result ?? {};
    // The server signs its own state, with characters that do not survive normalization: none of it is visible here.
    expect(requestState).toMatch(/^[\w-]+$/);
    const done = await ask({ inputResponses, requestState });
    expect(done.body.result).toMatchObject({ resultType: 'complete' });
    const altered = await ask({ inputResponses, requestState: `${String(requestState).slice(1)}` });
    expect(altered.body.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('Nothing was sent'),
    });
  });

  it('as a forged state of ours does not reach the server', async () => {
    const made = await ask({ inputResponses, requestState: `turnbuckle:${'A'.repeat(32)}` });
    expect(made.body.error).toMatchObject({ code: -32602, message: expect.stringContaining('requestState') });
  });
});

describe('what caches between client and daemon may keep', () => {
  const METHODS = [
    'tools/list',
    'resources/list',
    'resources/templates/list',
    'prompts/list',
    'server/discover',
  ];

  it.each(METHODS)('is of one token: %s', async (method) => {
    const [all, some] = await Promise.all(
      ['ada', 'little'].map((token) => modern(stand, { method }, { token })),
    );
    for (const answer of [all, some]) expect(answer?.body.result).toMatchObject({ cacheScope: 'private' });
    if (method === 'tools/list') expect(all?.body.result?.tools).not.toEqual(some?.body.result?.tools);
  });

  // Not every caller of the daemon may read it, whatever cache scope its server declares.
  it('is of one token: resources/read', async () => {
    const read = { method: 'resources/read', params: { uri: 'fixture://greeting' } };
    expect((await modern(stand, read, { token: 'ada' })).body.result).toMatchObject({
      cacheScope: 'private',
    });
  });
});
