/** A gateway on a free port before fixtures, and clients of both eras that talk to it over HTTP or over streams. */
import { PassThrough } from 'node:stream';
import {
  Client,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { fixture, type RunningFixture, startFixture } from '@turnbuckle/testing';
import { type Caller, createRuntime, type Runtime, type RuntimeOptions, type ServerInput } from 'turnbuckle';
import { Doors } from '../../src/http/doors.js';
import { HttpServer } from '../../src/http/http-server.js';
import { McpFront, type McpFrontOptions } from '../../src/mcp/mcp-front.js';
import { createMcpRoutes } from '../../src/mcp/mcp-routes.js';
import type { Tracer } from '../../src/traces/tracer.js';

export type Era = 'legacy' | 'modern';
export type Way = 'stdio' | 'http';

export const EVERYTHING: Caller = { id: 'agent', capabilities: ['mcp_integration'] };
const MAY_ASK: ServerInput['mayAsk'] = ['elicitation', 'sampling', 'roots'];

export interface Stand {
  readonly url: string;
  readonly runtime: Runtime;
  readonly front: McpFront;
  close(): Promise<void>;
}

export interface StandOptions extends Pick<McpFrontOptions, 'views' | 'sessionLimits' | 'now'> {
  readonly tracer?: (runtime: Runtime) => Tracer;
  readonly servers: NonNullable<RuntimeOptions['servers']>;
  /** Who comes with which token. */
  readonly callers?: Readonly<Record<string, Caller>>;
  readonly options?: RuntimeOptions;
}

export async function openStand({
  servers,
  callers,
  options,
  tracer,
  ...rest
}: StandOptions): Promise<Stand> {
  const runtime = await createRuntime({
    servers,
    naming: 'server_tool',
    callersAnswer: true,
    defaultDecision: 'allow',
    ...options,
  });
  await runtime.connectAll();
  const front = new McpFront({ runtime, version: '0.0.0', ...rest, tracer: tracer?.(runtime) });
  const known = callers ?? { token: EVERYTHING };
  const find = (token: string) => {
    const caller = Object.hasOwn(known, token) ? known[token] : undefined;
    return caller && { caller, access: new Set(['call'] as const) };
  };
  const defects: unknown[] = [];
  const http = new HttpServer({
    routes: createMcpRoutes(front),
    doors: new Doors({ credentials: { find } }),
    onDefect: (thrown) => defects.push(thrown),
  });
  const { url } = await http.listen(0, '127.0.0.1');
  return {
    url,
    runtime,
    front,
    close: async () => {
      const drained = http.close(1_000);
      await front.close();
      await drained;
      await runtime.close();
      if (defects.length > 0) throw defects[0];
    },
  };
}

/** A fixture as an upstream of that era, and what ends it. */
export async function upstream(
  name: string,
  { era, way }: { readonly era: Era; readonly way: Way },
): Promise<{ readonly config: ServerInput; stop(): Promise<void> }> {
  const flags = ['--era', era];
  if (way === 'stdio')
    return { config: { ...fixture(name, ...flags), mayAsk: MAY_ASK }, stop: async () => {} };
  const web: RunningFixture = await startFixture(name, { transport: 'http', flags });
  return { config: { url: web.url, mayAsk: MAY_ASK }, stop: () => web.stop() };
}

export interface ClientOptions {
  readonly era: Era;
  readonly path?: string;
  readonly token?: string;
  readonly capabilities?: ConstructorParameters<typeof Client>[1] extends infer Options
    ? Options extends { capabilities?: infer Capabilities }
      ? Capabilities
      : never
    : never;
}

export const createClient = ({ era, capabilities = {} }: ClientOptions): Client =>
  new Client(
    { name: 'client', version: '1' },
    {
      capabilities,
      versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
    },
  );

export async function connectHttp(stand: Stand, client: Client, options: ClientOptions): Promise<Client> {
  const { path = '/mcp', token = 'token' } = options;
  await client.connect(
    new StreamableHTTPClientTransport(new URL(stand.url + path), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  );
  return client;
}

/** Over streams in this process, as over stdin and stdout of another. */
export async function connectStreams(stand: Stand, client: Client, view?: string): Promise<Client> {
  const input = new PassThrough();
  const output = new PassThrough();
  const serving = stand.front.serveStdio({ input, output, caller: EVERYTHING, maxBytes: 1_000_000 }, view);
  let rest = '';
  output.setEncoding('utf8').on('data', (part: string) => {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) transport.onmessage?.(JSON.parse(line) as JSONRPCMessage);
  });
  const transport: Transport = {
    start: async () => {},
    send: async (message) => void input.write(`${JSON.stringify(message)}\n`),
    close: async () => {
      input.end();
      await serving;
      transport.onclose?.();
    },
  };
  await client.connect(transport);
  return client;
}
