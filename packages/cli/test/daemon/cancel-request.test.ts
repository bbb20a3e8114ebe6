import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { sendRequest } from '../../src/daemon/http/send-request.js';

/** A server that accepts connections and never answers. */
async function startSilent(): Promise<{ port: number; received: () => string }> {
  let text = '';
  const server = createServer((socket) => {
    socket.on('data', (part) => {
      text += String(part);
    });
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, received: () => text };
}

it.each(['http', 'https'])('a cancel in the same turn ends a request over %s', async (protocol) => {
  const { port, received } = await startSilent();
  const abort = new AbortController();
  const url = `${protocol}://127.0.0.1:${port}/mcp/call`;
  const sending = sendRequest({ url, method: 'POST', body: { x: 1 }, signal: abort.signal });
  abort.abort();
  await expect(sending).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  expect(received()).toBe('');
});
