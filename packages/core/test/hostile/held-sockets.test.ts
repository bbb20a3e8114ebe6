import type { Socket } from 'node:net';
import { waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { type Answer, answerAsOlder, ownHttpServer } from '../lifecycle/own-http-server.js';
import { withRuntime } from './with-runtime.js';

/** Counts the sockets on which the server has not finished its response. */
function countingServer(answer: Answer): { readonly open: Set<Socket>; readonly url: Promise<string> } {
  const open = new Set<Socket>();
  const url = ownHttpServer((asked, response, request) => {
    const { socket } = request;
    open.add(socket);
    response.once('finish', () => open.delete(socket));
    socket.once('close', () => open.delete(socket));
    answer(asked, response, request);
  });
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
});
