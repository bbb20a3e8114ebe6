/** What a server says on the connection of one caller is for that caller alone. */
import { waitUntil } from '@turnbuckle/testing';
import type { Caller, RuntimeEvents, ServerInput } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EventFeed } from '../../src/api/events/event-feed.js';
import { OWNER } from '../../src/identity/owner.js';
import { connectHttp, createClient, openStand, type Stand } from './stand.js';

interface Message {
  readonly id?: number | string;
  readonly method?: string;
}

interface Wire {
  onmessage?: (message: Message) => void;
  start(): Promise<void>;
  send(message: unknown): Promise<void>;
}

/** In this process: a test decides on which of its links it sends a log message. */
class TalkingServer {
  readonly #wires: Wire[] = [];

  config(more: object): ServerInput {
    return { type: 'in-process', server: this, era: 'legacy', ...more };
  }

  async connect(given: never): Promise<void> {
    const wire = given as Wire;
    const index = this.#wires.push(wire) - 1;
    wire.onmessage = ({ id, method }) => {
      if (id !== undefined) void wire.send({ jsonrpc: '2.0', id, result: resultOf(method, index) });
    };
    await wire.start();
  }

  /** Each link says which one it is. */
  talk(): void {
    for (const [index, wire] of this.#wires.entries())
      void wire
        .send({
          jsonrpc: '2.0',
          method: 'notifications/message',
          params: { level: 'info', data: `link ${index}` },
        })
        .catch(() => {});
  }
}

function resultOf(method: string | undefined, index: number): unknown {
  if (method === 'initialize')
    return {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, logging: {} },
      serverInfo: { name: 'talking', version: '1' },
    };
  if (method === 'tools/list') return { tools: [{ name: 'which', inputSchema: { type: 'object' } }] };
  return method === 'tools/call' ? { content: [{ type: 'text', text: `link ${index}` }] } : {};
}

const callerNamed = (id: string): Caller => ({ id, identity: `of:${id}`, capabilities: ['mcp_integration'] });
const CALLERS = { ada: callerNamed('ada'), bob: callerNamed('bob'), eve: callerNamed('eve') };
const MAIN = 'link 0';

interface Listener {
  /** What the servers said to it, by the name of the server. */
  readonly heard: { readonly logger: string; readonly text: string }[];
  /** Calls the server, and says which link answered. */
  call(): Promise<string>;
}

async function connectListener(stand: Stand, token: string, path = '/mcp'): Promise<Listener> {
  const client = createClient({ era: 'legacy' });
  const heard: Listener['heard'] = [];
  client.setNotificationHandler('notifications/message', ({ params: { logger = '', data } }) => {
    heard.push({ logger, text: String(data) });
  });
  await connectHttp(stand, client, { era: 'legacy', token, path });
  onTestFinished(() => client.close());
  return {
    heard,
    call: async () => {
      const { content } = await client.callTool({ name: 'mail_which', arguments: {} });
      return (content as { text: string }[])[0]?.text ?? '';
    },
  };
}

async function open(mail: object): Promise<{ stand: Stand; mail: TalkingServer; news: TalkingServer }> {
  const servers = { mail: new TalkingServer(), news: new TalkingServer() };
  const stand = await openStand({
    servers: { mail: servers.mail.config(mail), news: servers.news.config({}) },
    callers: { ...CALLERS, owner: { id: OWNER, capabilities: ['mcp_integration'] } },
    views: { some: { servers: ['mail', 'news'] } },
  });
  onTestFinished(() => stand.close());
  return { stand, ...servers };
}

/** What each of them has heard of the server, once all of them have heard the news that came after it. */
async function hear(
  { mail, news }: { mail: TalkingServer; news: TalkingServer },
  listeners: readonly Listener[],
): Promise<string[][]> {
  const newsOf = ({ heard }: Listener): number => heard.filter(({ logger }) => logger === 'news').length;
  await waitUntil(() => {
    news.talk();
    return listeners.every((one) => newsOf(one) > 0);
  });
  for (const { heard } of listeners) heard.length = 0;
  mail.talk();
  await waitUntil(() => {
    news.talk();
    return listeners.every((one) => newsOf(one) > 1);
  });
  return listeners.map(({ heard }) => [
    ...new Set(heard.flatMap(({ logger, text }) => (logger === 'mail' ? [text] : []))),
  ]);
}

const WAYS = [
  { share: { share: 'agent' }, hasRuns: false },
  { share: { share: 'session' }, hasRuns: true },
];

describe.each(WAYS)('a log message with $share', ({ share, hasRuns }) => {
  it('is for the caller whose connection it came on, and for nobody else', async () => {
    const opened = await open(share);
    const names = ['ada', 'ada', 'bob', 'eve', 'owner'];
    const listeners = await Promise.all(names.map((token) => connectListener(opened.stand, token)));
    const [ada, adaAgain, bob, , owner] = listeners as [Listener, Listener, Listener, Listener, Listener];
    const links = { ada: await ada.call(), again: await adaAgain.call(), bob: await bob.call() };
    expect(await owner.call()).toBe(MAIN);
    expect(links.ada === links.again).toBe(!hasRuns);
    // The connection that lists the tools is used by the owner alone. Eve has none.
    expect(await hear(opened, listeners)).toEqual([[links.ada], [links.again], [links.bob], [], [MAIN]]);
  });

  it('is for the same caller in a view', async () => {
    const opened = await open(share);
    const listeners = await Promise.all(
      ['ada', 'owner', 'bob'].map((token) => connectListener(opened.stand, token, '/mcp/some')),
    );
    const [ada, owner] = listeners as [Listener, Listener];
    const links = { ada: await ada.call(), owner: await owner.call() };
    expect(await hear(opened, listeners)).toEqual([[links.ada], expect.arrayContaining([links.owner]), []]);
    expect(new Set([MAIN, links.ada, links.owner]).size).toBe(3);
  });

  it('names the caller in the event, and not its identity in what is sent to readers', async () => {
    const opened = await open(share);
    const { runtime } = opened.stand;
    const events: RuntimeEvents['server.notice'][] = [];
    runtime.on('server.notice', (event) => events.push(event));
    const feed = new EventFeed({ runtime, epoch: 'e' });
    const texts: string[] = [];
    feed.subscribe(({ text, readAccessText }) => texts.push(text, readAccessText ?? ''));
    await runtime.callTool('mail', 'which', {}, { caller: { ...CALLERS.ada, run: 'r' } });
    opened.mail.talk();
    await waitUntil(() => events.length === 2);
    const ofAda = { callerId: 'ada', identity: 'of:ada', ...(hasRuns && { run: 'r' }) };
    expect(events.map(({ connectionOf }) => connectionOf)).toEqual(['host', ofAda]);
    expect(texts.join('\n')).toContain('"callerId":"ada"');
    expect(texts.join('\n')).not.toContain('of:ada');
  });
});

it('a log message on a connection that all callers share is for all of them', async () => {
  const opened = await open({});
  const names = ['ada', 'bob', 'owner'];
  const listeners = await Promise.all(names.map((token) => connectListener(opened.stand, token)));
  expect(await hear(opened, listeners)).toEqual([[MAIN], [MAIN], [MAIN]]);
});
