/**
 * Large events without a receiver: of another type, with an id of no request, on a stream that was abandoned. None of
 * them may be kept in memory.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectGarbage, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LargeMessages } from '../../src/connection/handshake/large-messages.js';
import { IgnoredMessages } from '../../src/connection/protocol/ignored-messages.js';
import { limitBody } from '../../src/connection/transports/http/limited-body.js';
import { createOwnRuntime } from './own-runtime.js';

const MB = 1_024 * 1_024;
/** A list of 250,000 empty lists: about 10 MB when parsed. */
const VALUE = `[${'[],'.repeat(250_000)}[]]`;
const TIMES = 12;
/** Half of the memory that all of them would take. */
const MAX_GROWTH = 60 * MB;

const answer = (id: string): string => `{"jsonrpc":"2.0","id":${id},"result":{"x":${VALUE}}}`;
const question = (id: string): string => `{"jsonrpc":"2.0","id":${id},"method":"x","params":{"x":${VALUE}}}`;

const EVENTS: Readonly<Record<string, string>> = {
  'of another type': `event: x\ndata: ${answer('5')}\n\n`,
  'of another type, with an id': `id: 7\nevent: ping\ndata: ${question('5')}\n\n`,
  'responses to a fractional id': `data: ${answer('1.5')}\n\n`,
  'responses to a huge id': `data: ${answer('1e300')}\n\n`,
  'requests with a fractional id': `event: message\ndata: ${question('0.5')}\n\n`,
  'responses to an unknown id': `data: ${answer('12345')}\n\n`,
  'responses to a string id': `data: ${answer('"nobody"')}\n\n`,
  'batches, too': `data: [${answer('1.5')},${answer('2.5')}]\n\n`,
};

const growthOf = async (work: () => Promise<void>): Promise<number> => {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  await work();
  collectGarbage();
  return process.memoryUsage().heapUsed - before;
};

/** A server whose stream the test writes, and which counts how often its tools are listed. */
async function streaming(): Promise<{
  url: string;
  stream: () => ServerResponse | undefined;
  lists: () => number;
}> {
  let stream: ServerResponse | undefined;
  let lists = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    if (request.method === 'GET') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void stream.write(': open\n\n');
    }
    const { id, method } = request.method === 'POST' ? JSON.parse(body) : {};
    if (id === undefined) return void response.writeHead(request.method === 'POST' ? 202 : 405).end();
    if (method === 'tools/list') lists += 1;
    const result =
      method === 'initialize'
        ? {
            protocolVersion: '2025-11-25',
            capabilities: { tools: { listChanged: true } },
            serverInfo: { name: 'a', version: '1' },
          }
        : { tools: [], content: [] };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, stream: () => stream, lists: () => lists };
}

describe.each([true, false])('on the stream of a server, express lane %s', (expressLane) => {
  it.each(Object.entries(EVENTS))(
    'large events, %s, are not kept',
    async (_what, event) => {
      const { url, stream, lists } = await streaming();
      const runtime = await createOwnRuntime({
        expressLane,
        servers: { a: { type: 'http', url, era: 'legacy' } },
        limits: { unaskedBytesPerSecond: 100 * MB },
      });
      onTestFinished(() => runtime.close());
      await runtime.connect('a');
      await waitUntil(() => stream() !== undefined);
      const growth = await growthOf(async () => {
        for (let time = 0; time < TIMES; time += 1) stream()?.write(event);
        const before = lists();
        stream()?.write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n');
        // By then the events before it have been read.
        await waitUntil(() => lists() > before, 30_000);
      });
      expect(growth).toBeLessThan(MAX_GROWTH);
      expect(runtime.serverStatus('a').state).toBe('connected');
    },
    60_000,
  );
});

/** A body with one large event, and no end. */
function bodyOf(event: string): { body: Response; fail: () => void } {
  let fail = (): void => {};
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(Buffer.from(event));
      fail = () => controller.error(new Error('the connection broke'));
    },
  });
  return { body: new Response(stream, { headers: { 'content-type': 'text/event-stream' } }), fail };
}

describe.each(['the reader leaves', 'the connection breaks'])('when %s', (why) => {
  it('what was on its way is forgotten', async () => {
    const rules = { server: 'a', maxDepth: 100 };
    const largeMessages = new LargeMessages(rules, new IgnoredMessages(() => {}));
    const growth = await growthOf(async () => {
      for (let time = 0; time < TIMES; time += 1) {
        const { body, fail } = bodyOf(`data: ${answer('5')}\n\n`);
        const onExceeded = (): Error => new Error('too large');
        const limited = limitBody(body, { maxBytes: 10 * MB, onExceeded, largeMessages });
        const reader = limited.body?.getReader();
        const { value } = (await reader?.read()) ?? {};
        expect(Buffer.from(value ?? []).toString()).toContain('stands-for');
        if (why === 'the reader leaves') await reader?.cancel();
        else {
          fail();
          await reader?.closed.catch(() => {});
        }
      }
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    });
    expect(growth).toBeLessThan(MAX_GROWTH);
    // Keeps `largeMessages` reachable during the measurement.
    expect(largeMessages.resolve({ jsonrpc: '2.0', id: 1, result: {} })).toBeUndefined();
  });
});
