import { once } from 'node:events';
import { createServer as createHttp, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll } from 'vitest';

export interface Canary {
  readonly port: number;
  /** The connections so far, by their destination address. */
  readonly hits: readonly string[];
  /** How many bytes it received. */
  bytes(): number;
  /** A socket to it, for any target. */
  dial(): Socket;
}

/** Listens on loopback and counts connections: there should be none. Closed after the test file. */
export async function startCanary(host = '127.0.0.1', port = 0): Promise<Canary> {
  const hits: string[] = [];
  let bytes = 0;
  const server = createServer((socket) => {
    hits.push(socket.localAddress ?? '');
    socket.on('error', () => {});
    socket.on('end', () => socket.destroy());
    socket.on('data', ({ length }) => {
      bytes += length;
      socket.destroy();
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  afterAll(() => void server.close());
  const address = server.address() as AddressInfo;
  return { port: address.port, hits, bytes: () => bytes, dial: () => connect(address.port, host) };
}

/** A real HTTP server on loopback, closed after the test file with all its connections. */
export async function startServer(
  answer: RequestListener,
  host = '127.0.0.1',
): Promise<{ origin: string; port: number; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server = createHttp((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  server.listen(0, host);
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, port, requests };
}
