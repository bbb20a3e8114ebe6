import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpServer,
} from '@modelcontextprotocol/server';
import { announceReady, type LoopbackOptions, listenOnLoopback } from './loopback.js';
import { readBody } from './read-body.js';

interface SdkHttpOptions extends LoopbackOptions {
  readonly era: 'both' | 'legacy' | 'modern';
}

/** Serves SDK servers at `/mcp`: a server per session in the legacy era, one per request in the modern era. */
export async function serveSdkHttp(makeServer: () => McpServer, options: SdkHttpOptions): Promise<void> {
  const answerModern = toNodeHandler(createMcpHandler(makeServer, { legacy: 'reject' }));
  const sessions = new SdkSessions(makeServer);
  const { origin } = await listenOnLoopback(options.port, async (request, response) => {
    if (!hasTarget(request)) return;
    const body: unknown = request.method === 'POST' ? JSON.parse(await readBody(request)) : undefined;
    const handshake =
      options.era !== 'modern' &&
      (options.era === 'legacy' || (await isLegacyRequest(await toWebRequest(request, body), body)));
    if (handshake) await sessions.answer(request, response, body);
    else await answerModern(request, response, body);
  });
  announceReady(`${origin}/mcp`, options);
}

// Node types both as optional because responses share the class; a server's request always has them.
function hasTarget(request: IncomingMessage): request is IncomingMessage & { method: string; url: string } {
  return request.method !== undefined && request.url !== undefined;
}

class SdkSessions {
  readonly #makeServer: () => McpServer;
  readonly #transports = new Map<string, NodeStreamableHTTPServerTransport>();

  constructor(makeServer: () => McpServer) {
    this.#makeServer = makeServer;
  }

  async answer(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? this.#transports.get(id) : undefined;
    const transport = known ?? (isInitializeRequest(body) ? await this.#open() : undefined);
    if (transport) return transport.handleRequest(request, response, body);
    const error = { code: -32000, message: 'no such session' };
    response.writeHead(id === undefined ? 400 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
  }

  async #open(): Promise<NodeStreamableHTTPServerTransport> {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#transports.set(id, transport),
      onsessionclosed: (id) => void this.#transports.delete(id),
    });
    await this.#makeServer().connect(transport);
    return transport;
  }
}
