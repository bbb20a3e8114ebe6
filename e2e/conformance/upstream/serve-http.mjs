import { randomUUID } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
  toWebRequest,
} from '@modelcontextprotocol/node';
import { createMcpHandler, isInitializeRequest, isLegacyRequest } from '@modelcontextprotocol/server';
import { createServer } from './create-server.mjs';
import { EventLog } from './event-log.mjs';

/**
 * @typedef {import('./world.mjs').World} World
 * @typedef {import('node:http').IncomingMessage & { method: string, url: string }} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 */

/**
 * Serves `/mcp` on a free port, and returns the URL.
 * @param {World} world
 * @param {'modern' | 'legacy' | 'both'} era
 * @returns {Promise<string>}
 */
export async function serveHttp(world, era) {
  const sessions = new Sessions(world);
  const handler = createMcpHandler(() => createServer(world, 'modern'), { legacy: 'reject' });
  world.listen((kind) =>
    kind === 'tools' ? handler.notify.toolsChanged() : handler.notify.promptsChanged(),
  );
  const serveModern = toNodeHandler(handler);
  const hasValidHost = localhostHostValidation();
  const hasValidOrigin = localhostOriginValidation();
  const http = createHttpServer(async (incoming, response) => {
    // Node types `method` and `url` as optional because responses share the class; a request has both.
    const request = /** @type {IncomingMessage} */ (incoming);
    if (!hasValidHost(request, response) || !hasValidOrigin(request, response)) return;
    if (request.url !== '/mcp') return void response.writeHead(404).end();
    const body = parse(request.method === 'POST' ? await text(request) : '');
    const isLegacy =
      era !== 'modern' &&
      (era === 'legacy' ||
        request.method !== 'POST' ||
        (await isLegacyRequest(await toWebRequest(request, body), body)));
    await (isLegacy ? sessions.serve(request, response, body) : serveModern(request, response, body));
  });
  await new Promise((resolve) => http.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = http.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/mcp`;
}

/**
 * Returns undefined for invalid JSON; the handler then responds with the error.
 * @param {string} body
 * @returns {unknown}
 */
function parse(body) {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** One server for each session of a legacy client. */
class Sessions {
  #world;
  #events = new EventLog();
  /** @type {Map<string, NodeStreamableHTTPServerTransport>} */
  #open = new Map();

  /** @param {World} world */
  constructor(world) {
    this.#world = world;
  }

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   * @param {unknown} body
   */
  async serve(request, response, body) {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? this.#open.get(id) : undefined;
    const transport =
      known ?? (id === undefined && isInitializeRequest(body) ? await this.#begin() : undefined);
    if (transport !== undefined) return transport.handleRequest(request, response, body);
    const isLost = id !== undefined;
    const error = { code: isLost ? -32001 : -32000, message: isLost ? 'Session not found' : 'No session' };
    response.writeHead(isLost ? 404 : 400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
  }

  async #begin() {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: this.#events,
      retryInterval: 500,
      onsessioninitialized: (id) => void this.#open.set(id, transport),
      onsessionclosed: (id) => void this.#open.delete(id),
    });
    const server = createServer(this.#world, 'legacy');
    this.#world.forwardChanges(server);
    await server.connect(transport);
    return transport;
  }
}
