/** A server that answers every tool call with 429 and `Retry-After: 20`, and forwards the rest to a server behind it. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export async function startBusy(behind: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer(async (asked, response) => {
    const { method, headers } = asked;
    const body = await text(asked);
    if (body.includes('"tools/call"')) return void response.writeHead(429, { 'retry-after': '20' }).end();
    const onward = request(behind, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.on('error', () => response.destroy()).pipe(response);
    });
    response.once('close', () => onward.destroy());
    onward.on('error', () => response.destroy()).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
