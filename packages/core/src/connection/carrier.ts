/** For each kind of server the transport that the SDK connects over, and the lane that rides on it. */
import type {
  Client,
  JSONRPCMessage,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client';
import type { Authorizer } from '../auth/authorizer.js';
import { toSandboxPolicy } from '../config/sandbox-schema.js';
import type {
  HttpServer,
  InProcessServer,
  ProxyServer,
  ServerConfig,
  SseServer,
  StdioServer,
  WebSocketServer,
} from '../config/schema.js';
import type { TurnbuckleError } from '../errors.js';
import { type Channel, ChannelLane } from './channel-lane.js';
import { childEnvironment } from './environment.js';
import { HttpEndpoint, tooLarge } from './http-endpoint.js';
import { HttpLane } from './http-lane.js';
import type { Envelope, Lane } from './lane.js';
import { NotificationGate } from './notification-gate.js';
import type { ProcessTable } from './processes.js';
import type { SandboxStatus } from './sandbox/status.js';
import { loadSdk } from './sdk.js';
import { SdkLane } from './sdk-lane.js';
import { connectionLost, toAnswer } from './server-error.js';
import type { StderrListener } from './stderr-lines.js';
import { StdioTransport } from './stdio.js';
import type { TextRing } from './text-ring.js';
import { WebSocketTransport } from './websocket.js';

export interface CarrierOptions {
  readonly server: string;
  readonly processes: ProcessTable;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
  readonly maxMessageBytes: number;
  readonly notificationsPerSecond: number;
  readonly expressLane: boolean;
  readonly stderrListener?: StderrListener | undefined;
  /** What presents the credentials of a remote server. */
  readonly authorizer?:
    | ((server: string, config: HttpServer | SseServer | WebSocketServer) => Promise<Authorizer | undefined>)
    | undefined;
}

export interface Carrier {
  readonly type: 'stdio' | 'http' | 'sse' | 'websocket' | 'in-process';
  readonly transport: Transport;
  /** Each request has HTTP headers of its own. */
  readonly hasHeaders: boolean;
  readonly pid?: number | undefined;
  readonly stderr?: TextRing | undefined;
  readonly exit?: StdioTransport['exit'];
  /** The sandbox that its process is in. */
  readonly sandbox?: SandboxStatus | undefined;
  /** Told when the connection is found broken although no close came. */
  onBroken?: (error: TurnbuckleError) => void;
  /** The channel, where the handshake goes over it without the SDK. */
  readonly channel?: ChannelLane | undefined;
  /** Begins what can begin before the SDK is loaded. */
  prepare?: () => void;
  /** The lane, once the client has negotiated; the envelope is present in the newer revision. */
  lane(client: Client, envelope: Envelope | undefined): Lane;
  close(): Promise<void>;
}

/** Builds the carrier of a configured server; nothing is started or contacted yet. */
export async function createCarrier(config: ServerConfig, options: CarrierOptions): Promise<Carrier> {
  switch (config.type) {
    case 'stdio':
      return stdioCarrier(config, options);
    case 'websocket':
      return websocketCarrier(config, options);
    case 'http':
      return httpCarrier(withoutCredentials(config), options);
    case 'sse':
      return sseCarrier(withoutCredentials(config), options);
    case 'proxy':
      return httpCarrier(proxyTarget(config), options);
    case 'in-process':
      return inProcessCarrier(config, options);
  }
}

/** A name and password in an address belong into a header: no request may carry them in its address. */
function withoutCredentials<Server extends HttpServer | SseServer>(config: Server): Server {
  const url = new URL(config.url);
  if (url.username === '' && url.password === '') return config;
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  return { ...config, url: url.href, headers: { authorization, ...config.headers } };
}

/** A hosted proxy is a Streamable HTTP server whose address is made of the base, and whose token is the proxy's. */
export function proxyTarget({ baseUrl, id, token, ...rest }: ProxyServer): HttpServer {
  const base = new URL(baseUrl);
  base.pathname = `${base.pathname.replace(/\/+$/, '')}/${encodeURIComponent(id)}`;
  const credential = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return { ...rest, type: 'http', url: base.href, headers: { ...rest.headers, ...credential } };
}

async function stdioCarrier(config: StdioServer, options: CarrierOptions): Promise<Carrier> {
  const { command, args, cwd } = config;
  const env = childEnvironment(options.environment, config);
  const policy = toSandboxPolicy(config.sandbox);
  const confinement =
    policy === undefined
      ? undefined
      : await (await import('./sandbox/confine.js')).confine({ ...options, config, policy, env });
  const transport = new StdioTransport(
    {
      server: options.server,
      ...(confinement ?? { command, args, cwd }),
      env,
      maxBytes: options.maxMessageBytes,
      stderrListener: options.stderrListener,
    },
    options.processes,
  );
  const carrier = channelCarrier('stdio', transport, options);
  return Object.defineProperties(carrier, {
    pid: { get: () => transport.pid },
    exit: { get: () => transport.exit },
    sandbox: { value: confinement?.status },
    stderr: { value: transport.stderr },
    prepare: { value: () => void transport.start() },
  });
}

function websocketCarrier(config: WebSocketServer, options: CarrierOptions): Carrier {
  const { server } = options;
  const { url, headers, connectTimeoutMs } = config;
  return channelCarrier(
    'websocket',
    new WebSocketTransport({
      server,
      url,
      headers,
      connectTimeoutMs,
      maxBytes: options.maxMessageBytes,
      authorizer: () => options.authorizer?.(server, config),
    }),
    options,
  );
}

function channelCarrier(type: Carrier['type'], channel: Channel, options: CarrierOptions): Carrier {
  const { server, maxMessageBytes: maxBytes } = options;
  const gate = new NotificationGate(options.notificationsPerSecond);
  const lane = new ChannelLane(channel, { server, maxBytes, gate });
  return {
    type,
    transport: lane,
    hasHeaders: false,
    // What needs the SDK for its transport has it loaded anyway.
    channel: options.expressLane && (type === 'stdio' || type === 'websocket') ? lane : undefined,
    lane(client, envelope) {
      lane.envelope = envelope;
      return options.expressLane ? lane : new SdkLane(client, { server });
    },
    close: () => lane.close(),
  };
}

async function sseCarrier(config: SseServer, options: CarrierOptions): Promise<Carrier> {
  const { SSEClientTransport, SseError } = await loadSdk();
  const endpoint = await openEndpoint(config, options, (bytes) => channel.onoversized?.('', bytes));
  const transport = new SSEClientTransport(new URL(config.url), {
    fetch: endpoint.fetch,
    requestInit: { headers: config.headers },
  });
  const channel: Channel = transport;
  const carrier = channelCarrier('sse', channel, options);
  const start = transport.start.bind(transport);
  transport.start = () =>
    start().catch((error: unknown) => {
      throw endpoint.refusal ?? error;
    });
  const report = transport.onerror;
  transport.onerror = (error) => {
    report?.(error);
    // The stream is the session: one that was opened anew by itself knows nothing of us.
    if (error instanceof SseError) void transport.close();
  };
  return { ...carrier, close: () => carrier.close().finally(() => endpoint.close()) };
}

const openEndpoint = async (
  config: HttpServer | SseServer,
  options: CarrierOptions,
  onTooLarge?: (bytes: number) => void,
): Promise<HttpEndpoint> =>
  HttpEndpoint.open({
    onTooLarge,
    authorizer: await options.authorizer?.(options.server, config),
    server: options.server,
    url: config.url,
    headers: config.headers,
    connectTimeoutMs: config.connectTimeoutMs,
    maxBytes: options.maxMessageBytes,
  });

/** A server may ask for a new stream at once, for ever; it gets one at most this often. */
const STREAM_FLOOR_MS = 250;
const SESSION_END_MS = 1_000;

async function httpCarrier(config: HttpServer, options: CarrierOptions): Promise<Carrier> {
  const { StreamableHTTPClientTransport } = await loadSdk();
  let cutOff = false;
  const endpoint = await openEndpoint(config, options, () => {
    cutOff = true;
  });
  const transport = new StreamableHTTPClientTransport(new URL(config.url), {
    fetch: endpoint.fetch,
    requestInit: { headers: config.headers },
    reconnectionScheduler: (reconnect, delayMs) => {
      const timer = setTimeout(reconnect, Math.max(delayMs, STREAM_FLOOR_MS)).unref();
      return () => clearTimeout(timer);
    },
  });
  const { server } = options;
  const gate = new NotificationGate(options.notificationsPerSecond);
  reportBrokenStreams(transport, () => {
    const error = cutOff
      ? tooLarge({ server, maxBytes: options.maxMessageBytes })
      : connectionLost(server, { sent: true });
    cutOff = false;
    return error;
  });
  const onBroken = (error: TurnbuckleError): void => carrier.onBroken?.(error);
  const hasSession = (): boolean => transport.sessionId !== undefined;
  const carrier: Carrier = {
    type: 'http',
    transport,
    hasHeaders: true,
    lane(client, envelope) {
      if (!options.expressLane) return new SdkLane(client, { server, hasSession, onBroken });
      lane.envelope = envelope;
      // Older servers may send progress, and resumed answers, on the stream that the SDK keeps open.
      const toClient = transport.onmessage;
      transport.onmessage = (message: JSONRPCMessage) => {
        if (!lane.accept(message)) gate.passAny(message, (passed) => toClient?.(passed));
      };
      return lane;
    },
    async close() {
      gate.stop();
      await lane.drain();
      lane.close(connectionLost(server, { sent: true }));
      const ended = transport.terminateSession().catch(() => {});
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, SESSION_END_MS).unref())]);
      await transport.close();
      await endpoint.close();
    },
  };
  const lane = new HttpLane({
    server,
    endpoint,
    maxBytes: options.maxMessageBytes,
    session: {
      get sessionId() {
        return transport.sessionId;
      },
      get protocolVersion() {
        return transport.protocolVersion;
      },
      deliver: (message) => transport.onmessage?.(message),
    },
    onBroken,
  });
  return carrier;
}

async function inProcessCarrier(config: InProcessServer, options: CarrierOptions): Promise<Carrier> {
  const { InMemoryTransport, StreamableHTTPClientTransport } = await loadSdk();
  const target = typeof config.server === 'function' ? await config.server() : config.server;
  if ('fetch' in target) {
    const transport = new StreamableHTTPClientTransport(new URL('http://in-process.invalid/mcp'), {
      fetch: (url, init) => target.fetch(new Request(url, init as RequestInit)),
    });
    const { server } = options;
    reportBrokenStreams(transport, () => connectionLost(server, { sent: true }));
    return {
      type: 'in-process',
      transport,
      hasHeaders: true,
      lane: (client) => new SdkLane(client, { server }),
      close: () => transport.close(),
    };
  }
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  // The SDK's servers take any transport; the parameter is `never` because their class is not ours to import.
  await (target.connect as (transport: Transport) => Promise<void>).call(target, theirs);
  return channelCarrier('in-process', ours, options);
}

/**
 * The SDK does not tell a request that the stream of its answer broke: it would wait for its timeout. An
 * error answer tells it; for a request that was answered it comes too late and is nobody's.
 */
function reportBrokenStreams(transport: StreamableHTTPClientTransport, why: () => TurnbuckleError): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) =>
    send(message, {
      ...options,
      onRequestStreamEnd: () => {
        options?.onRequestStreamEnd?.();
        if (Array.isArray(message) || !('id' in message) || typeof message.id !== 'number') return;
        transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error: toAnswer(why()) });
      },
    });
}
