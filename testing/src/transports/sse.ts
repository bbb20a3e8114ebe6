import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Channel } from '../kernel/channel.js';
import type { FixtureServer } from '../kernel/fixture-server.js';
import type { Session } from '../kernel/session.js';
import { announceReady, type LoopbackOptions, listenOnLoopback } from './loopback.js';
import { readBody } from './read-body.js';

interface SseLink {
  readonly session: Session;
  readonly channel: Channel;
}

/** Serves the HTTP+SSE transport of 2024-11-05: the stream at `/sse`, messages posted to `/messages`. */
export async function serveSse(server: FixtureServer, options: LoopbackOptions): Promise<void> {
  const links = new Map<string, SseLink>();
  const { origin } = await listenOnLoopback(options.port, (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const route = `${request.method} ${url.pathname}`;
    if (route === 'GET /sse') return openLink(server, links, response);
    if (route !== 'POST /messages') return void response.writeHead(url.pathname === '/sse' ? 405 : 404).end();
    const link = links.get(url.searchParams.get('sessionId') ?? '');
    if (link === undefined) return void response.writeHead(404).end('no such session');
    void takeMessage(link, request, response);
  });
  announceReady(`${origin}/sse`, options);
}

function openLink(server: FixtureServer, links: Map<string, SseLink>, response: ServerResponse): void {
  const id = randomUUID();
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' });
  response.write(`event: endpoint\ndata: /messages?sessionId=${id}\n\n`);
  const channel: Channel = {
    deliver: (text) => void response.write(`event: message\ndata: ${text}\n\n`),
    writeRaw: (bytes) => void response.write(bytes),
    drop: () => response.socket?.destroy(),
  };
  const session = server.open(channel);
  links.set(id, { session, channel });
  response.on('close', () => {
    links.delete(id);
    server.close(session);
  });
}

async function takeMessage(link: SseLink, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let message: unknown;
  try {
    message = JSON.parse(await readBody(request));
  } catch {
    return void response.writeHead(400).end('not JSON');
  }
  response.writeHead(202).end('Accepted');
  await link.session.receive(message, link.channel);
}
