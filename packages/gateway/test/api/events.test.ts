import { connect } from 'node:net';
import { waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EventFeed } from '../../src/api/events/event-feed.js';
import { truncateData } from '../../src/api/events/truncate-data.js';
import { openStage, type Stage } from './api-stage.js';
import { followEvents } from './read-events.js';

const inputSchema = { type: 'object' };

/** A stage with a tool that returns at once. */
async function openQuick(options?: Parameters<typeof openStage>[0]): Promise<Stage> {
  const stage = await openStage(options);
  stage.runtime.registerTool({ name: 'quick', inputSchema, run: ({ text }) => String(text) });
  return stage;
}

// requirement D3
describe('the stream of events', () => {
  it('accepts many readers without a process warning', async () => {
    const warnings: string[] = [];
    const keep = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', keep);
    onTestFinished(() => void process.off('warning', keep));
    const stage = await openQuick();
    const readers = await Promise.all(Array.from({ length: 30 }, () => followEvents(stage)));
    await stage.runtime.execute('quick', { text: 'x' });
    for (const reader of readers)
      await waitUntil(() => reader.events().some(({ event }) => event === 'call.settled'));
    expect(warnings).toEqual([]);
  });

  it('sends events', async () => {
    const stage = await openStage();
    const following = await followEvents(stage);
    await stage.runtime.connectAll();
    await stage.runtime.callTool('demo', 'echo', { text: 'hello' });
    await waitUntil(() => following.events().some(({ event }) => event === 'call.settled'));
    const events = following.events();
    const names = events.map(({ event }) => event);
    for (const name of ['server.state', 'catalog.changed', 'call.started', 'call.decided'])
      expect(names).toContain(name);
    const settled = events.find(({ event }) => event === 'call.settled');
    expect(settled?.data).toMatchObject({
      type: 'call.settled',
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      data: {
        server: 'demo',
        tool: 'echo',
        outcome: 'ok',
        arguments: '{"text":"hello"}',
        resultBytes: expect.any(Number),
      },
    });
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  it('sends only the requested events', async () => {
    const stage = await openQuick();
    const following = await followEvents(stage, { query: '?types=call.settled,server.*' });
    await stage.runtime.execute('quick', { text: 'x' });
    await stage.runtime.connectAll();
    await waitUntil(() => following.events().some(({ data }) => data.data.to === 'ready'));
    const names = new Set(following.events().map(({ event }) => event));
    expect([...names].filter((name) => name !== 'call.settled' && !name.startsWith('server.'))).toEqual([]);
    expect((await followEvents(stage, { query: '?types=call.nothing' })).status).toBe(422);
    expect((await followEvents(stage, { query: '?type=x' })).status).toBe(422);
  });

  it('sends a restricted token only events of its servers', async () => {
    const stage = await openQuick();
    const all = await followEvents(stage, { query: '?types=call.settled' });
    const token = await stage.token(['read'], ['mcp:demo/echo']);
    const some = await followEvents(stage, { token });
    await stage.runtime.connectAll();
    await stage.runtime.callTool('demo', 'add', { a: 1, b: 2 });
    await stage.runtime.callTool('demo', 'echo', { text: 'mine' });
    await waitUntil(() => all.events().length === 2);
    await waitUntil(() => some.events().some(({ event }) => event === 'call.settled'));
    const tools = some.events().flatMap(({ data }) => data.data.tool ?? []);
    expect(new Set(tools)).toEqual(new Set(['echo']));
  });

  it('sends keep-alive comments', async () => {
    const stage = await openQuick({ events: { keepAliveMs: 5 } });
    const following = await followEvents(stage);
    await waitUntil(() => following.text().includes(':\n\n:\n\n'));
  });

  it('ends when the server closes, and when its token is revoked', async () => {
    const stage = await openQuick({ events: { keepAliveMs: 50 } });
    const [token, other] = [await stage.token(['read']), await stage.token(['read'])];
    const revoked = await followEvents(stage, { token });
    const staying = await followEvents(stage, { token: other });
    await stage.tokens.revoke('made-1');
    await waitUntil(() => revoked.isOver());
    expect(staying.isOver()).toBe(false);
    await stage.http.close(10_000);
    await waitUntil(() => staying.isOver());
  });

  it('accepts a limited number of readers', async () => {
    const stage = await openQuick({ events: { maxReaders: 1 } });
    const first = await followEvents(stage);
    expect((await followEvents(stage)).status).toBe(503);
    first.leave();
    await waitUntil(() => stage.http.inFlight === 0);
    expect((await followEvents(stage)).status).toBe(200);
  });

  it('shortens the data of a large call', async () => {
    const stage = await openQuick();
    const following = await followEvents(stage);
    await stage.runtime.execute('quick', { text: 'x'.repeat(1_000_000) });
    await waitUntil(() => following.events().some(({ event }) => event === 'call.settled'));
    expect(following.text().length).toBeLessThan(10_000);
  });
});

describe('a reader that reconnects', () => {
  it('gets each event that it missed once', async () => {
    const stage = await openQuick();
    const query = '?types=call.settled';
    const first = await followEvents(stage, { query });
    await stage.runtime.execute('quick', { text: 'one' });
    await waitUntil(() => first.events().length === 1);
    first.leave();
    await stage.runtime.execute('quick', { text: 'two' });
    await stage.runtime.execute('quick', { text: 'three' });
    const second = await followEvents(stage, { query, after: first.events()[0]?.id ?? '' });
    await stage.runtime.execute('quick', { text: 'four' });
    await waitUntil(() => second.events().length >= 3);
    expect(second.events().map(({ data }) => data.data.arguments)).toEqual(
      ['two', 'three', 'four'].map((text) => JSON.stringify({ text })),
    );
  });

  it('gets "missed" when events are no longer kept', async () => {
    const stage = await openQuick({ events: { keep: 6 } });
    const query = '?types=call.settled';
    const first = await followEvents(stage, { query });
    await stage.runtime.execute('quick', { text: '0' });
    await waitUntil(() => first.events().length === 1);
    for (let count = 1; count < 10; count += 1) await stage.runtime.execute('quick', { text: `${count}` });
    for (const after of [first.events()[0]?.id ?? '', 'otherlife-7', 'zzz-999999', 'nonsense']) {
      const again = await followEvents(stage, { query, after });
      await waitUntil(() => again.events().length >= 3);
      expect(again.events().map(({ event, data }) => [event, data.data?.arguments])).toEqual([
        ['missed', undefined],
        ['call.settled', '{"text":"8"}'],
        ['call.settled', '{"text":"9"}'],
      ]);
    }
  });

  it('gets "missed" after a period without subscribers', async () => {
    const { runtime } = await openQuick();
    const feed = new EventFeed({ runtime, epoch: 'a', lingerMs: 1 });
    const ids: string[] = [];
    const note = ({ text }: { text: string }): void => void ids.push(/^id: (.*)$/m.exec(text)?.[1] ?? '');
    const stop = feed.subscribe(note);
    await runtime.execute('quick', { text: 'x' });
    const last = ids.at(-1);
    expect(feed.since(last)).toEqual({ missed: false, events: [] });
    stop();
    await waitUntil(() => !feed.isListening);
    const count = ids.length;
    await runtime.execute('quick', { text: 'x' });
    feed.subscribe(note);
    expect(ids).toHaveLength(count);
    expect(feed.since(last)).toEqual({ missed: true, events: [] });
  });
});

describe('a client that does not read its events', () => {
  it('is disconnected, and no other client is', async () => {
    const stage = await openQuick({ events: { maxUnsentBytes: 64 * 1_024 } });
    const { port } = new URL(stage.url);
    const slow = connect(Number(port), '127.0.0.1');
    onTestFinished(() => void slow.destroy());
    slow.pause();
    slow.write(
      `GET /api/events HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${stage.owner}\r\n\r\n`,
    );
    const good = await followEvents(stage, { query: '?types=call.settled' });
    await waitUntil(() => stage.http.inFlight === 2);
    const text = 'x'.repeat(400);
    let made = 0;
    // The kernel buffers megabytes before the daemon has to.
    while (stage.http.inFlight === 2 && made < 100_000) {
      for (let count = 0; count < 50; count += 1) await stage.runtime.execute('quick', { text });
      made += 50;
      await stage.runtime.execute('quick', { text: `after ${made}` });
      await waitUntil(() => good.text().slice(-2_000).includes(`after ${made}`));
    }
    expect(stage.http.inFlight).toBe(1);
    await stage.runtime.execute('quick', { text: 'last' });
    await waitUntil(() => good.text().includes('last'));
    expect(good.isOver()).toBe(false);
  }, 120_000);
});

it('truncateData marks what it cut, and keeps the structure', () => {
  const limits = { text: 10, all: 30 };
  expect(truncateData({ a: 'x'.repeat(20), b: [1, 2n, undefined], c: new Error('no') }, limits)).toEqual({
    a: 'xxxxxxxxxx…',
    b: [1, '2', undefined],
    c: { code: undefined, message: 'no', hint: undefined },
  });
  const ring: Record<string, unknown> = {};
  ring.self = ring;
  expect(JSON.stringify(truncateData(ring, { text: 10, all: 1_000 }))).toContain('…');
  expect(truncateData(Array(500).fill(1), limits)).toHaveLength(201);
});
