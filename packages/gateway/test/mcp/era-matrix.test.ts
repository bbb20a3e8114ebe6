/** Clients of both eras over HTTP and streams, and servers of both eras over stdio and HTTP: nothing is lost. */
import type { Client } from '@modelcontextprotocol/client';
import { type FixtureName, waitUntil } from '@turnbuckle/testing';
import { afterEach, describe, expect, it } from 'vitest';
import {
  connectHttp,
  connectStreams,
  createClient,
  type Era,
  openStand,
  type Stand,
  upstream,
  type Way,
} from './stand.js';

interface Pair {
  readonly client: Era;
  readonly clientWay: Way;
  readonly server: Era;
  readonly serverWay: Way;
}

const ERAS: readonly Era[] = ['legacy', 'modern'];
const WAYS: readonly Way[] = ['stdio', 'http'];
const PAIRS: readonly Pair[] = ERAS.flatMap((client) =>
  ERAS.flatMap((server) =>
    WAYS.flatMap((clientWay) => WAYS.map((serverWay) => ({ client, clientWay, server, serverWay }))),
  ),
);

const ends: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function open(
  fixture: FixtureName,
  pair: Pair,
  prepare?: (client: Client) => void,
): Promise<{ client: Client; stand: Stand }> {
  const up = await upstream(fixture, { era: pair.server, way: pair.serverWay });
  ends.push(() => up.stop());
  const stand = await openStand({ servers: { up: up.config }, views: { plain: { names: 'plain' } } });
  ends.push(() => stand.close());
  const options = {
    era: pair.client,
    path: '/mcp/plain',
    capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
  };
  const client = createClient(options);
  prepare?.(client);
  if (pair.clientWay === 'http') await connectHttp(stand, client, options);
  else await connectStreams(stand, client, 'plain');
  ends.push(() => client.close());
  return { client, stand };
}

const textOf = (result: { content?: unknown }): string => {
  const [first] = result.content as Array<{ text: string }>;
  return first?.text ?? '';
};

// requirement D2
describe.each(PAIRS)('$client client over $clientWay, $server server over $serverWay', (pair) => {
  it('lists and calls tools, with unknown fields and _meta', async () => {
    const { client, stand } = await open('echo', pair);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('echo');
    expect(tools).toHaveLength(stand.runtime.tools().length);
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'hello' } }))).toBe('hello');
    const meta = await client.callTool({
      name: 'meta',
      arguments: {},
      _meta: { 'example/own': { a: [1, null] } },
    });
    expect(JSON.parse(textOf(meta))).toMatchObject({ 'example/own': { a: [1, null] } });
    expect(await client.callTool({ name: 'fail', arguments: {} })).toMatchObject({ isError: true });
    await expect(client.callTool({ name: 'nobody', arguments: {} })).rejects.toThrow(/nobody/);
  });

  it('forwards progress and cancellation', async () => {
    const { client } = await open('echo', pair);
    const seen: number[] = [];
    await client.callTool(
      { name: 'sleep', arguments: { ms: 120, everyMs: 20 } },
      { onprogress: ({ progress }) => seen.push(progress) },
    );
    expect(seen.length).toBeGreaterThan(1);
    expect(seen).toEqual([...seen].sort((left, right) => left - right));
    const abort = new AbortController();
    let began = false;
    const call = client.callTool(
      { name: 'sleep', arguments: { ms: 60_000, everyMs: 20 } },
      {
        signal: abort.signal,
        onprogress: () => {
          began = true;
        },
      },
    );
    call.catch(() => {});
    await waitUntil(() => began);
    abort.abort();
    await expect(call).rejects.toThrow();
    const countOf = async (): Promise<string> =>
      textOf(await client.callTool({ name: 'cancelled', arguments: {} }));
    let count = '0';
    for (let tries = 0; tries < 100 && count === '0'; tries += 1) {
      count = await countOf();
      if (count === '0') await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(count).toBe('1');
  });

  it('forwards elicitation and sampling requests of the server', async () => {
    const asked: unknown[] = [];
    const { client } = await open('asking', pair, (one) => {
      one.setRequestHandler('elicitation/create', ({ params }) => {
        asked.push(params.message);
        return { action: 'accept' as const, content: { name: 'Ada' } };
      });
      one.setRequestHandler('sampling/createMessage', () => ({
        role: 'assistant' as const,
        model: 'm',
        content: { type: 'text' as const, text: 'yes' },
      }));
    });
    const form = {
      message: 'Who?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    };
    const filled = await client.callTool({
      name: 'ask',
      arguments: { kind: 'elicitation', params: form, times: 2 },
    });
    expect(JSON.parse(textOf(filled))).toEqual([
      { action: 'accept', content: { name: 'Ada' } },
      { action: 'accept', content: { name: 'Ada' } },
    ]);
    expect(asked).toEqual(['Who?', 'Who?']);
    const params = { messages: [{ role: 'user', content: { type: 'text', text: 'Well?' } }], maxTokens: 10 };
    const sampled = await client.callTool({ name: 'ask', arguments: { kind: 'sampling', params } });
    expect(JSON.parse(textOf(sampled))).toMatchObject([{ role: 'assistant', content: { text: 'yes' } }]);
  });

  it('notifies of changed lists', async () => {
    let received = 0;
    const { client } = await open('list-changing', pair, (one) =>
      one.setNotificationHandler('notifications/tools/list_changed', () => {
        received += 1;
      }),
    );
    if (pair.client === 'modern') {
      const listening = await client.listen({ toolsListChanged: true });
      ends.push(() => listening.close());
    }
    await client.callTool({ name: 'mutate', arguments: { action: 'add', name: 'second' } });
    await waitUntil(() => received > 0);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('second');
  });

  it('reads resources and prompts, completes, and notifies of a changed resource', async () => {
    const received: string[] = [];
    const { client } = await open('echo', pair, (one) =>
      one.setNotificationHandler(
        'notifications/resources/updated',
        ({ params }) => void received.push(params.uri),
      ),
    );
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain('fixture://greeting');
    expect(await client.readResource({ uri: 'fixture://greeting' })).toMatchObject({
      contents: [{ text: 'hello' }],
    });
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toHaveLength(1);
    expect(await client.readResource({ uri: 'fixture://items/7' })).toHaveProperty('contents');
    await expect(client.readResource({ uri: 'fixture://nowhere' })).rejects.toThrow();
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toContain('greet');
    expect(await client.getPrompt({ name: 'greet', arguments: { who: 'Ada' } })).toHaveProperty('messages');
    const watched = resources.find(({ name }) => name === 'watched')?.uri ?? '';
    if (pair.client === 'modern') {
      const listening = await client.listen({ resourceSubscriptions: [watched] });
      ends.push(() => listening.close());
    } else await client.subscribeResource({ uri: watched });
    await client.callTool({ name: 'touch', arguments: {} });
    await waitUntil(() => received.length > 0);
    expect(received).toEqual([watched]);
  });
});
