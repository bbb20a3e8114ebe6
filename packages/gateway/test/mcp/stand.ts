/** A gateway on a free port with fixtures as its servers, and clients of both eras over HTTP or streams. */
import { PassThrough } from 'node:stream';
import {
  Client,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { type FixtureName, fixture, type RunningFixture, startFixture } from '@turnbuckle/testing';
import { type Caller, createRuntime, type Runtime, type RuntimeOptions, type ServerInput } from 'turnbuckle';
import { Authenticator } from '../../src/http/authenticate.js';
import { HttpServer } from '../../src/http/server/http-server.js';
import { McpEndpoint, type McpEndpointOptions } from '../../src/mcp/mcp-endpoint.js';
import { createMcpRoutes } from '../../src/mcp/mcp-routes.js';
import type { Telemetry } from '../../src/telemetry/telemetry.js';

export type Era = 'legacy' | 'modern';
export type Way = 'stdio' | 'http';

export const EVERYTHING: Caller = { id: 'agent', capabilities: ['mcp_integration'] };
const MAY_ASK: ServerInput['mayAsk'] = ['elicitation', 'sampling', 'roots'];

export interface Stand {
  readonly url: string;
  readonly runtime: Runtime;
  readonly endpoint: McpEndpoint;
  close(): Promise<void>;
}

export interface StandOptions extends Pick<McpEndpointOptions, 'views' | 'sessionLimits' | 'now'> {
  readonly telemetry?: Telemetry | undefined;
  readonly servers: NonNullable<RuntimeOptions['servers']>;
  /** The caller of each token. */
  readonly callers?: Readonly<Record<string, Caller>>;
  readonly options?: RuntimeOptions;
}

export async function openStand({
  servers,
  callers,
  options,
  telemetry,
  ...rest
}: StandOptions): Promise<Stand> {
  const runtime = await createRuntime({
    servers,
    naming: 'server_tool',
    callersAnswer: true,
    defaultDecision: 'allow',
    telemetry: telemetry ?? false,
    ...options,
  });
  await runtime.connectAll();
  const endpoint = new McpEndpoint({ runtime, version: '0.0.0', ...rest, telemetry });
  const known = callers ?? { token: EVERYTHING };
  const find = (token: string) => {
    const caller = Object.hasOwn(known, token) ? known[token] : undefined;
    return caller && { caller, access: new Set(['call'] as const) };
  };
  const defects: unknown[] = [];
  const http = new HttpServer({
    routes: createMcpRoutes(endpoint),
    authenticator: new Authenticator({ credentials: { find } }),
    onDefect: (thrown) => defects.push(thrown),
  });
  const { url } = await http.listen(0, '127.0.0.1');
  return {
    url,
    runtime,
    endpoint,
    close: async () => {
      const drained = http.close(1_000);
      await endpoint.close();
      await drained;
      await runtime.close();
      if (defects.length > 0) throw defects[0];
    },
  };
}

/** A fixture as a server of that era, and a function that stops it. */
export async function upstream(
  name: FixtureName,
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

/** Over streams in this process, like stdin and stdout of another. */
export async function connectStreams(stand: Stand, client: Client, view?: string): Promise<Client> {
  const input = new PassThrough();
  const output = new PassThrough();
  const serving = stand.endpoint.serveStdio({ input, output, caller: EVERYTHING, maxBytes: 1_000_000 }, view);
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
