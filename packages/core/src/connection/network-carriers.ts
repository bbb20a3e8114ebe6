/** The carriers of remote servers: Streamable HTTP, the older HTTP with SSE, and WebSocket. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
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
import { reportBrokenStreams } from './broken-streams.js';
import { type Carrier, type CarrierOptions, channelCarrier } from './carrier.js';
import type { Channel } from './channel-lane.js';
import { AwaitedAnswers, FloodMeter } from './flood-meter.js';
import { guardMessages } from './guard-messages.js';
import { type EndpointOptions, HttpEndpoint, tooLarge } from './http-endpoint.js';
import { HttpLane } from './http-lane.js';
import { NO_EDGES } from './message-edges.js';
import { MessageReader } from './message-reader.js';
import { NotificationGate } from './notification-gate.js';
import { Questions } from './questions.js';
import { ReopenPace } from './reopen-pace.js';
import { loadSdk } from './sdk.js';
import { SdkLane } from './sdk-lane.js';
import { connectionLost, flooded } from './server-error.js';
import { StandIns } from './stand-ins.js';
import { WebSocketTransport } from './websocket.js';

export async function networkCarrier(
  config: Exclude<ServerConfig, StdioServer | InProcessServer>,
  options: CarrierOptions,
): Promise<Carrier> {
  switch (config.type) {
    case 'websocket':
      return websocketCarrier(config, options);
    case 'http':
      return httpCarrier(withoutCredentials(config), options);
    case 'sse':
      return sseCarrier(withoutCredentials(config), options);
    case 'proxy':
      return httpCarrier(proxyTarget(config), options);
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
function proxyTarget({ baseUrl, id, token, ...rest }: ProxyServer): HttpServer {
  const base = new URL(baseUrl);
  base.pathname = `${base.pathname.replace(/\/+$/, '')}/${encodeURIComponent(id)}`;
  const credential = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return { ...rest, type: 'http', url: base.href, headers: { ...rest.headers, ...credential } };
}

function websocketCarrier(config: WebSocketServer, options: CarrierOptions): Carrier {
  const { server } = options;
  const { url, headers, connectTimeoutMs } = config;
  const flood = new FloodMeter(options.flood);
  const transport = new WebSocketTransport({
    server,
    url,
    headers,
    connectTimeoutMs,
    maxBytes: options.maxMessageBytes,
    rules: options,
    flood,
    unsent: options.unsent,
    authorizer: () => options.authorizer?.(server, config),
  });
  const carrier = channelCarrier('websocket', transport, options);
  flood.onFlood = () => carrier.onBroken?.(flooded(server));
  transport.outbox.onStuck = (error) => carrier.onBroken?.(error);
  return carrier;
}

async function sseCarrier(config: SseServer, options: CarrierOptions): Promise<Carrier> {
  const { SSEClientTransport, SseError } = await loadSdk();
  const onTooLarge = (bytes: number): void => channel.onoversized?.(NO_EDGES, bytes);
  const endpoint = await openEndpoint(config, options, { onTooLarge });
  const transport = new SSEClientTransport(new URL(config.url), {
    fetch: endpoint.fetch,
    requestInit: { headers: config.headers },
  });
  const channel: Channel = transport;
  const reader = new MessageReader(options, channel);
  const note = refundAnswers(transport, endpoint.flood, options.maxMessageBytes);
  guardMessages(transport, {
    ...options,
    onDefect: () => void transport.close(),
    route: (message, listen) => {
      note(message);
      listen(message);
    },
  });
  const carrier = channelCarrier('sse', channel, options);
  endpoint.flood.onFlood = () => carrier.onBroken?.(flooded(options.server));
  const start = transport.start.bind(transport);
  transport.start = async () => {
    await start().catch((error: unknown) => {
      throw endpoint.refusal ?? error;
    });
    readOwnEvents(transport, (text) => {
      // Such a stream cannot be told to wait.
      if (reader.waiting > options.maxMessageBytes * MAX_WAITING) void transport.close();
      else reader.push(text);
    });
  };
  const report = transport.onerror;
  transport.onerror = (error) => {
    report?.(error);
    // The stream is the session: one that was opened anew by itself knows nothing of us.
    if (error instanceof SseError) void transport.close();
  };
  const close = carrier.close.bind(carrier);
  return Object.assign(carrier, { close: () => close().finally(() => endpoint.close()) });
}

/** Messages of the largest size that may wait while one is read. */
const MAX_WAITING = 4;

/**
 * The SDK drops what has not the shape of a message without a word to who waits for it. So the events are read here,
 * as on every other transport; were the SDK to keep its event source elsewhere, its own reading would go on.
 */
function readOwnEvents(transport: Transport, read: (text: string) => void): void {
  const source: unknown = Reflect.get(transport, '_eventSource');
  if (typeof source !== 'object' || source === null || !('onmessage' in source)) return;
  source.onmessage = (event: { readonly data: unknown }) => read(String(event.data));
}

/** On a stream that brings answers and all else, what was weighed before an answer was that answer. */
function refundAnswers(
  transport: Transport,
  flood: FloodMeter,
  maxBytes: number,
): (message: JSONRPCMessage) => void {
  const awaited = new AwaitedAnswers();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ('method' in message && 'id' in message) awaited.sent();
    return send(message, options);
  };
  return (message) => {
    if (awaited.take(message)) flood.refund(maxBytes);
  };
}

const openEndpoint = async (
  config: HttpServer | SseServer,
  options: CarrierOptions,
  more: Pick<EndpointOptions, 'onTooLarge' | 'standIns'>,
): Promise<HttpEndpoint> =>
  HttpEndpoint.open({
    ...more,
    authorizer: await options.authorizer?.(options.server, config),
    server: options.server,
    url: config.url,
    headers: config.headers,
    connectTimeoutMs: config.connectTimeoutMs,
    maxBytes: options.maxMessageBytes,
    flood: new FloodMeter(options.flood),
    unsent: options.unsent,
  });

const SESSION_END_MS = 1_000;

async function httpCarrier(config: HttpServer, options: CarrierOptions): Promise<Carrier> {
  const { StreamableHTTPClientTransport } = await loadSdk();
  let cutOff = false;
  const pace = new ReopenPace(options.random);
  const standIns = new StandIns(options, options.ignored);
  const onTooLarge = (): void => {
    cutOff = true;
  };
  const endpoint = await openEndpoint(config, options, { onTooLarge, standIns });
  const transport = new StreamableHTTPClientTransport(new URL(config.url), {
    fetch: endpoint.fetch,
    requestInit: { headers: config.headers },
    reconnectionScheduler: (reconnect, delayMs) => {
      const timer = setTimeout(reconnect, pace.next(delayMs)).unref();
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
  const refund = refundAnswers(transport, endpoint.flood, options.maxMessageBytes);
  const onBroken = (error: TurnbuckleError): void => carrier.onBroken?.(error);
  const route = (message: JSONRPCMessage, listen: (message: JSONRPCMessage) => void): void => {
    refund(message);
    pace.worked();
    // Older servers may send progress, and resumed answers, on the stream that the SDK keeps open.
    if (!lane.accept(message)) gate.passAny(message, listen);
  };
  guardMessages(transport, { ...options, onDefect: onBroken, standIns, route });
  endpoint.flood.onFlood = () => onBroken(flooded(server));
  const hasSession = (): boolean => transport.sessionId !== undefined;
  const carrier: Carrier = {
    type: 'http',
    transport,
    hasHeaders: true,
    lane(client, envelope) {
      if (!options.expressLane) return new SdkLane(client, { server, hasSession, onBroken });
      lane.envelope = envelope;
      return lane;
    },
    async close() {
      gate.stop();
      questions.close();
      await lane.drain();
      lane.close(connectionLost(server, { sent: true }));
      const ended = transport.terminateSession().catch(() => {});
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, SESSION_END_MS).unref())]);
      await transport.close();
      await endpoint.close();
    },
  };
  const questions = new Questions({
    guard: options.requests,
    send: (message) => transport.send(message),
  });
  const lane = new HttpLane({
    server,
    endpoint,
    maxBytes: options.maxMessageBytes,
    rules: options,
    ignored: options.ignored,
    session: {
      get sessionId() {
        return transport.sessionId;
      },
      get protocolVersion() {
        return transport.protocolVersion;
      },
      deliver: (message, respondent) => {
        if (!('method' in message)) return;
        const { method, params = {} } = message;
        if (method === 'notifications/cancelled') questions.cancel(params.requestId);
        if (respondent?.onNotice === undefined || isForConnection(method)) transport.onmessage?.(message);
        else gate.pass(message, () => options.requests.notify(respondent, method, params));
      },
      answer: (question, respondent) => {
        let answering: Promise<void> | undefined;
        gate.passAny(question, () => {
          answering = questions.answer(question, respondent);
        });
        return answering;
      },
    },
    onBroken,
  });
  return carrier;
}

/** On whatever stream they come. */
const isForConnection = (method: string): boolean =>
  method === 'notifications/cancelled' || method.endsWith('/list_changed') || method.endsWith('/updated');
