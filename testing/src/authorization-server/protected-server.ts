import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type FixtureName, startFixture } from '../fixture.js';
import { type JsonObject, toObject } from '../kernel/json.js';
import { readBody } from '../transports/read-body.js';
import { AuthGuard, type AuthGuardOptions } from './auth-guard.js';

export interface ProtectedServerOptions extends AuthGuardOptions {
  readonly transport?: 'http' | 'sse' | 'websocket' | undefined;
  readonly fixture?: FixtureName | undefined;
  readonly flags?: readonly string[] | undefined;
  /** Calls tell the server who the token is for, in the `subject` of their `_meta`: its tool `meta` returns it. */
  readonly tellsSubject?: boolean | undefined;
  /** Default: a free port. The address is 127.0.0.1. */
  readonly port?: number | undefined;
}

export interface ProtectedServer {
  readonly url: string;
  readonly guard: AuthGuard;
  /** Merged into the protected resource metadata; null: there is no such document. */
  metadata: JsonObject | null;
  stop(): Promise<void>;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** A fixture server that only accepts requests with a token of its authorization server. */
export async function startProtectedServer(options: ProtectedServerOptions): Promise<ProtectedServer> {
  const { transport = 'http', fixture = 'echo', flags = [] } = options;
  const inner = await startFixture(fixture, { transport, flags });
  const target = new URL(inner.url);
  const guard = new AuthGuard(options);
  const server = createServer({ keepAliveTimeout: 60_000 });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const own = new URL(target.pathname, `${target.protocol}//127.0.0.1:${port}`);
  // Metadata and tokens use the http URL, whatever the transport.
  guard.resource = own.href.replace(/^ws/, 'http');
  const outside: ProtectedServer = {
    url: own.href,
    guard,
    metadata: {},
    async stop() {
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await inner.stop();
    },
  };
  const sockets = new Set<Socket>();
  server.on('request', (request, response) => {
    const url = new URL(request.url ?? '/', guard.resource);
    if (url.pathname.startsWith(WELL_KNOWN)) return describe(response, outside);
    void forward(request, response, { url, target, guard, tellsSubject: options.tellsSubject });
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    sockets.add(socket);
    void upgrade(request, socket, { head, target, guard, url: new URL(guard.resource) });
  });
  return outside;
}

function describe(response: ServerResponse, { metadata, guard }: ProtectedServer): void {
  if (metadata === null) return void response.writeHead(404).end();
  const document = {
    resource: guard.resource,
    authorization_servers: [guard.authorizationServer.issuer],
    bearer_methods_supported: ['header'],
    ...metadata,
  };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
}

interface ProxyContext {
  readonly url: URL;
  readonly target: URL;
  readonly guard: AuthGuard;
  readonly tellsSubject?: boolean | undefined;
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { url, target, guard, tellsSubject = false }: ProxyContext,
): Promise<void> {
  const text = request.method === 'POST' ? await readBody(request) : '';
  const refusal = await guard.check(request, { url, body: parse(text) });
  if (refusal !== undefined) return void response.writeHead(refusal.status, refusal.headers).end();
  const { authorization, dpop: _, 'content-length': __, ...headers } = request.headers;
  const body = tellsSubject ? withSubject(text, await guard.subjectOf(authorization)) : text;
  const inner = send(
    new URL(`${url.pathname}${url.search}`, target),
    { method: request.method, headers },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      // A connection that the inner server breaks is broken for the client too.
      answer.on('error', () => {});
      answer.on('close', () => {
        if (!answer.complete) response.destroy();
      });
    },
  );
  inner.on('error', () => response.destroy());
  response.on('close', () => inner.destroy());
  inner.end(body);
}

function withSubject(text: string, subject: string | undefined): string {
  const message = toObject(parse(text));
  if (message.method !== 'tools/call') return text;
  const params = toObject(message.params);
  const _meta = { ...toObject(params._meta), subject: subject ?? null };
  return JSON.stringify({ ...message, params: { ...params, _meta } });
}

async function upgrade(
  request: IncomingMessage,
  socket: Socket,
  { url, target, guard, head }: ProxyContext & { readonly head: Buffer },
): Promise<void> {
  const refusal = await guard.check(request, { url, body: undefined });
  socket.on('error', () => {});
  if (refusal !== undefined) {
    const lines = Object.entries(refusal.headers).map(([name, value]) => `${name}: ${value}`);
    const start = `HTTP/1.1 ${refusal.status} Refused`;
    return void socket.end([start, ...lines, 'connection: close', '', ''].join('\r\n'));
  }
  const inner = connect(Number(target.port), target.hostname);
  const pairs = request.rawHeaders.flatMap((name, index, all) =>
    index % 2 === 0 && !/^authorization$/i.test(name) ? [`${name}: ${all[index + 1]}`] : [],
  );
  inner.write(`${[`GET ${target.pathname} HTTP/1.1`, ...pairs, '', ''].join('\r\n')}`);
  inner.write(head);
  inner.on('error', () => socket.destroy());
  socket.on('close', () => inner.destroy());
  inner.on('close', () => socket.destroy());
  inner.pipe(socket);
  socket.pipe(inner);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
