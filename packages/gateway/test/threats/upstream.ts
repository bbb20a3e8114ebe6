/** An MCP server over HTTP with answers from the test, which records every request. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

type Params = Readonly<Record<string, unknown>>;
/** Returns a result or a promise of one; throws an `UpstreamError` for a protocol error. */
type Answer = (params: Params) => unknown;

/** Thrown by an answer to send a JSON-RPC error. */
export class UpstreamError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Noted {
  readonly method: string;
  readonly params: Params;
  readonly headers: IncomingHttpHeaders;
  /** The remote port of its connection. */
  readonly port: number | undefined;
}

export interface Upstream {
  readonly url: string;
  readonly noted: readonly Noted[];
  /** The recorded tool calls. */
  calls(): readonly Noted[];
  close(): Promise<void>;
}

export interface UpstreamOptions {
  readonly era?: 'legacy' | 'modern';
  /** By method; by default a list of tools, and calls that return `called`. */
  readonly answers?: Readonly<Record<string, Answer>>;
  readonly tools?: readonly object[];
}

const CAPABILITIES = { tools: {}, resources: {} };
const UNKNOWN = { error: { code: -32601, message: 'Method not found' } };

const HANDSHAKES: Readonly<Record<'legacy' | 'modern', Readonly<Record<string, Answer>>>> = {
  legacy: {
    initialize: () => ({
      protocolVersion: '2025-11-25',
      capabilities: CAPABILITIES,
      serverInfo: { name: 'up', version: '1' },
    }),
  },
  modern: {
    'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: CAPABILITIES }),
  },
};

export async function openUpstream({
  era = 'legacy',
  answers,
  tools = [],
}: UpstreamOptions): Promise<Upstream> {
  const noted: Noted[] = [];
  const all: Readonly<Record<string, Answer>> = {
    ...HANDSHAKES[era],
    'tools/list': () => ({ tools }),
    'tools/call': () => ({ content: [{ type: 'text', text: 'called' }] }),
    'resources/list': () => ({ resources: [] }),
    'resources/templates/list': () => ({ resourceTemplates: [] }),
    ...answers,
  };
  const outcomeOf = async (method: string, params: Params): Promise<object> => {
    const answer = all[method];
    if (answer === undefined) return UNKNOWN;
    try {
      const result: unknown = await answer(params);
      return { result: { ...(era === 'modern' && { resultType: 'complete' }), ...Object(result) } };
    } catch (thrown) {
      if (!(thrown instanceof UpstreamError)) throw thrown;
      return { error: { code: thrown.code, message: thrown.message } };
    }
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params = {} } = JSON.parse(body);
    noted.push({ method, params, headers: request.headers, port: request.socket.remotePort });
    if (id === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(await outcomeOf(method, params)) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    noted,
    calls: () => noted.filter(({ method }) => method === 'tools/call'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
