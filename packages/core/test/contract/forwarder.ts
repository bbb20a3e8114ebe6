import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

export interface ForwardedRequest {
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Refused {
  readonly status: number;
  readonly headers?: Record<string, string>;
}

/** Decides which requests are refused, and how; the others are forwarded. */
export type Refuse = (request: ForwardedRequest) => Refused | undefined;

/** A real HTTP proxy in front of one endpoint. */
export class Forwarder {
  readonly origin: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(target: string, refuse: Refuse): Promise<Forwarder> {
    const server = createServer((request, response) => void forward(request, response, { target, refuse }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Forwarder(server);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { target, refuse }: { target: string; refuse: Refuse },
): Promise<void> {
  const body = await readAll(request);
  const { url, headers, method = 'POST' } = request;
  const refused = refuse({ url, headers, body });
  if (refused !== undefined) return void response.writeHead(refused.status, refused.headers).end();
  const abort = new AbortController();
  response.on('close', () => abort.abort());
  try {
    const answer = await fetch(target, {
      method,
      headers: forwardedHeaders(headers),
      body: method === 'POST' ? body : null,
      signal: abort.signal,
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.flushHeaders();
    if (answer.body === null) return void response.end();
    const stream = Readable.fromWeb(answer.body as ReadableStream);
    stream.on('error', () => response.destroy());
    stream.pipe(response);
  } catch {
    response.destroy();
  }
}

/** The credential is for the proxy; the other headers belong to the connection. */
const NOT_FORWARDED = new Set(['authorization', 'host', 'connection', 'content-length', 'transfer-encoding']);

function forwardedHeaders(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      NOT_FORWARDED.has(name) ? [] : [[name, String(value)]],
    ),
  );
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
