/** Servers over Streamable HTTP. */
import type { JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { HttpServer } from '../../../config/schema/schema.js';
import type { TurnbuckleError } from '../../../errors.js';
import { LargeMessages } from '../../handshake/large-messages.js';
import { loadSdk } from '../../handshake/load-sdk.js';
import { HttpLane, type HttpSession } from '../../lanes/http-lane.js';
import { SdkLane } from '../../lanes/sdk-lane.js';
import { connectionLost, serverFlooded } from '../../lanes/server-error.js';
import { guardMessages } from '../../protocol/guard-messages.js';
import { NotificationGate } from '../../server-requests/notification-gate.js';
import { ServerRequests } from '../../server-requests/open-server-requests.js';
import type { ServerTransport, ServerTransportOptions } from '../server-transport.js';
import { reportBrokenStreams } from './broken-streams.js';
import { type HttpEndpoint, responseTooLarge } from './http-endpoint.js';
import { ListenedStream } from './listened-stream.js';
import { openEndpoint, refundAnswers } from './open-endpoint.js';
import { ReconnectDelay } from './reconnect-delay.js';

const SESSION_END_TIMEOUT_MS = 1_000;

/** The parts of a transport. */
interface TransportParts {
  readonly transport: StreamableHTTPClientTransport;
  readonly endpoint: HttpEndpoint;
  readonly eventStream: ListenedStream;
  readonly gate: NotificationGate;
  readonly serverRequests: ServerRequests;
}

export async function createHttpTransport(
  config: HttpServer,
  options: ServerTransportOptions,
): Promise<ServerTransport> {
  const { server } = options;
  const pace = new ReconnectDelay(options.random);
  const largeMessages = new LargeMessages(options, options.ignored);
  const { transport, endpoint, eventStream } = await openSdkTransport(config, options, {
    pace,
    largeMessages,
  });
  const gate = new NotificationGate(options.notificationsPerSecond);
  const serverRequests = new ServerRequests({
    guard: options.requestGuard,
    send: (message) => transport.send(message),
  });
  const parts = { transport, endpoint, eventStream, gate, serverRequests };
  const onBroken = (error: TurnbuckleError): void => serverTransport.onBroken?.(error);
  const lane = new HttpLane({
    server,
    endpoint,
    maxBytes: options.maxMessageBytes,
    rules: options,
    ignored: options.ignored,
    session: createSession(parts, options),
    onBroken,
  });
  const refund = refundAnswers(transport, endpoint.flood, options.maxMessageBytes);
  const route = (message: JSONRPCMessage, listen: (message: JSONRPCMessage) => void): void => {
    refund(message);
    endpoint.received(message);
    pace.reset();
    // Older servers may send progress, and resumed responses, on the stream that the SDK keeps open.
    if (!lane.accept(message)) gate.passAny(message, listen);
  };
  guardMessages(transport, { ...options, onDefect: onBroken, largeMessages, route });
  endpoint.flood.onFlood = () => onBroken(serverFlooded(server));
  const hasSession = (): boolean => transport.sessionId !== undefined;
  const serverTransport: ServerTransport = {
    type: 'http',
    transport,
    eventStream,
    hasHeaders: true,
    lane(client, envelope) {
      if (!options.expressLane) return new SdkLane(client, { server, hasSession, onBroken });
      lane.envelope = envelope;
      return lane;
    },
    async close() {
      gate.stop();
      serverRequests.close();
      await lane.drain();
      lane.close(connectionLost(server, { sent: true }));
      await endSession(transport);
      await endpoint.close();
    },
  };
  return serverTransport;
}

/** The SDK's transport, over our endpoint. */
async function openSdkTransport(
  config: HttpServer,
  options: ServerTransportOptions,
  { pace, largeMessages }: { readonly pace: ReconnectDelay; readonly largeMessages: LargeMessages },
): Promise<Pick<TransportParts, 'transport' | 'endpoint' | 'eventStream'>> {
  const { StreamableHTTPClientTransport } = await loadSdk();
  const { server, maxMessageBytes: maxBytes } = options;
  let cutOff = false;
  const onTooLarge = (): void => {
    cutOff = true;
  };
  const endpoint = await openEndpoint(config, options, { onTooLarge, largeMessages });
  const eventStream = new ListenedStream();
  const transport = new StreamableHTTPClientTransport(new URL(config.url), {
    fetch: eventStream.observe(endpoint.fetch),
    requestInit: { headers: config.headers },
    reconnectionScheduler: (reconnect, delayMs) => {
      const timer = setTimeout(reconnect, pace.next(delayMs)).unref();
      return () => clearTimeout(timer);
    },
  });
  reportBrokenStreams(transport, () => {
    const error = cutOff ? responseTooLarge({ server, maxBytes }) : connectionLost(server, { sent: true });
    cutOff = false;
    return error;
  });
  return { transport, endpoint, eventStream };
}

/** What the lane needs from the session, and where it sends other messages. */
const createSession = (
  { transport, gate, serverRequests }: TransportParts,
  { requestGuard }: ServerTransportOptions,
): HttpSession => ({
  get sessionId() {
    return transport.sessionId;
  },
  get protocolVersion() {
    return transport.protocolVersion;
  },
  deliver: (message, responder) => {
    if (!('method' in message)) return;
    const { method, params = {} } = message;
    if (method === 'notifications/cancelled') serverRequests.cancel(params.requestId);
    if (responder?.onNotice === undefined || isForConnection(method)) transport.onmessage?.(message);
    else gate.pass(message, () => requestGuard.notify(responder, method, params));
  },
  answer: (question, responder) => {
    let answering: Promise<void> | undefined;
    gate.passAny(question, () => {
      answering = serverRequests.answer(question, responder);
    });
    return answering;
  },
});

async function endSession(transport: StreamableHTTPClientTransport): Promise<void> {
  const ended = transport.terminateSession().catch(() => {});
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, SESSION_END_TIMEOUT_MS).unref())]);
  await transport.close();
}

/** On any stream. */
const isForConnection = (method: string): boolean =>
  method === 'notifications/cancelled' || method.endsWith('/list_changed') || method.endsWith('/updated');
