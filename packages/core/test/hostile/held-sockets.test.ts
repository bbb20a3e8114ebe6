import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import {
  type Answer,
  answerAsOlder,
  olderAnswer,
  ownHttpServer,
  sendJson,
} from '../lifecycle/own-http-server.js';
import { withRuntime } from './with-runtime.js';

/** Counts the sockets on which the server has not finished its response. */
function countingServer(
  answer: Answer,
  onGet?: (response: ServerResponse) => void,
): { readonly open: Set<Socket>; readonly url: Promise<string> } {
  const open = new Set<Socket>();
  const url = ownHttpServer((asked, response, request) => {
    const { socket } = request;
    open.add(socket);
    response.once('finish', () => open.delete(socket));
    socket.once('close', () => open.delete(socket));
    answer(asked, response, request);
  }, onGet);
  return { open, url };
}

describe('a server that does not end its responses keeps no sockets', () => {
  it('to a notification that a call was cancelled', async () => {
    const { open, url } = countingServer((asked, response) => {
      if (asked.method === 'notifications/cancelled') return;
      if (asked.params?.name === 'slow') return;
      answerAsOlder(asked, response, ['slow', 'good']);
    });
    await withRuntime({ servers: { far: { url: await url } } }, async (runtime) => {
      const calls = Array.from({ length: 20 }, () =>
        runtime.callTool('far', 'slow', {}, { timeoutMs: 200 }).catch(({ code }) => code),
      );
      expect(new Set(await Promise.all(calls))).toEqual(new Set(['CALL_TIMEOUT']));
      await waitUntil(() => open.size === 0, 30_000);
      expect((await runtime.callTool('far', 'good')).content).toEqual([{ type: 'text', text: 'good' }]);
    });
  });

  it('on an event stream that stays open after the response', async () => {
    const { open, url } = countingServer((asked, response) => {
      if (asked.method !== 'tools/call') return answerAsOlder(asked, response, ['stream']);
      const result = { content: [{ type: 'text', text: 'streamed' }] };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: asked.id, result })}\n\n`);
    });
    await withRuntime({ servers: { far: { url: await url } } }, async (runtime) => {
      const calls = Array.from({ length: 20 }, () => runtime.callTool('far', 'stream'));
      for (const { content } of await Promise.all(calls))
        expect(content).toEqual([{ type: 'text', text: 'streamed' }]);
      await waitUntil(() => open.size === 0, 30_000);
      expect(runtime.serverStatus('far').status).toBe('connected');
    });
  });

  it.each([true, false])(
    'for a request that was answered on another stream (express lane: %s)',
    async (expressLane) => {
      let stream: ServerResponse | undefined;
      const { open, url } = countingServer(
        (asked, response) => {
          if (asked.method !== 'tools/call') return answerAsOlder(asked, response, ['other']);
          const result = { content: [{ type: 'text', text: 'other' }] };
          stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: asked.id, result })}\n\n`);
        },
        (response) => {
          stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.flushHeaders();
        },
      );
      const servers = { far: { url: await url, era: 'legacy' as const } };
      await withRuntime({ servers, expressLane }, async (runtime) => {
        await waitUntil(() => stream !== undefined, 10_000);
        const calls = Array.from({ length: 20 }, () => runtime.callTool('far', 'other'));
        for (const { content } of await Promise.all(calls))
          expect(content).toEqual([{ type: 'text', text: 'other' }]);
        await waitUntil(() => open.size === 0, 30_000);
        expect(runtime.serverStatus('far').status).toBe('connected');
      });
    },
  );

  it.each(['nothing', 'only the head'])('of the older transport that answers a POST with %s', async (how) => {
    const { open, url } = await olderServer((response) => {
      if (how === 'only the head') response.writeHead(202, { 'content-length': '10' }).flushHeaders();
    });
    await withRuntime({ servers: { far: { type: 'sse', url } } }, async (runtime) => {
      for (let round = 0; round < 5; round += 1)
        await Promise.all(Array.from({ length: 4 }, () => runtime.callTool('far', 'good')));
      await waitUntil(() => open.size <= 1, 30_000);
      expect(runtime.serverStatus('far').status).toBe('connected');
    });
  });

  it('after the connection is closed, even those of connections that were replaced', async () => {
    const { open, url } = countingServer((asked, response) => {
      if (asked.params?.name === 'slow') return;
      if (asked.params?.name === 'wrong') return sendJson(response, { id: -1, result: { content: [] } });
      answerAsOlder(asked, response, ['slow', 'wrong']);
    });
    await withRuntime({ servers: { far: { url: await url } } }, async (runtime) => {
      const slow = [];
      for (let round = 0; round < 3; round += 1) {
        slow.push(runtime.callTool('far', 'slow').catch(() => {}));
        await waitUntil(() => open.size > round, 10_000);
        await runtime.callTool('far', 'wrong').catch(() => {});
      }
      expect(open.size).toBeGreaterThanOrEqual(3);
      await runtime.disconnect('far');
      await waitUntil(() => open.size === 0, 10_000);
      await Promise.all(slow);
    });
  });
});

describe('a server that goes on after its response', () => {
  it('is not read any further', async () => {
    let sent = 0;
    const { open, url } = countingServer((asked, response, { socket }) => {
      if (asked.method !== 'tools/call') return answerAsOlder(asked, response, ['chatty']);
      const result = { content: [{ type: 'text', text: 'said' }] };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: asked.id, result })}\n\n`);
      const notice = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: {} })}\n\n`;
      const chunk = notice.repeat(500);
      const go = (): void => {
        while (!socket.destroyed && response.write(chunk)) sent += chunk.length;
        if (!socket.destroyed) response.once('drain', go);
      };
      go();
    });
    await withRuntime({ servers: { far: { url: await url } } }, async (runtime) => {
      await runtime.callTool('far', 'chatty');
      await waitUntil(() => open.size === 0, 10_000);
      // What fits into the buffers of the system.
      expect(sent).toBeLessThan(16 * 1_024 * 1_024);
    });
  });
});

/** A server of the older HTTP with SSE: it answers calls on its stream, and their POST as the test says. */
async function olderServer(
  onCall: (response: ServerResponse) => void,
): Promise<{ readonly open: Set<Socket>; readonly url: string }> {
  let stream: ServerResponse | undefined;
  const { open, url } = countingServer(
    (asked, response) => {
      const answer = JSON.stringify({ jsonrpc: '2.0', ...olderAnswer(asked) });
      if (asked.id !== undefined) stream?.write(`data: ${answer}\n\n`);
      if (asked.method === 'tools/call') onCall(response);
      else response.writeHead(202).end();
    },
    (response) => {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: /mcp\n\n');
    },
  );
  return { open, url: await url };
}
