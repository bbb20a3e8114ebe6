/** Servers over the older HTTP with SSE. */
import type { Transport } from '@modelcontextprotocol/client';
import type { SseServer } from '../../../config/schema/schema.js';
import { loadSdk } from '../../handshake/load-sdk.js';
import type { Channel } from '../../lanes/channel-lane.js';
import { serverFlooded } from '../../lanes/server-error.js';
import { guardMessages } from '../../protocol/guard-messages.js';
import { NO_EDGES } from '../../protocol/message-edges.js';
import { MessageReader } from '../../protocol/message-reader.js';
import {
  createChannelTransport,
  type ServerTransport,
  type ServerTransportOptions,
} from '../server-transport.js';
import { openEndpoint, refundAnswers } from './open-endpoint.js';

export async function createSseTransport(
  config: SseServer,
  options: ServerTransportOptions,
): Promise<ServerTransport> {
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
      endpoint.received(message);
      listen(message);
    },
  });
  const serverTransport = createChannelTransport('sse', channel, options);
  endpoint.flood.onFlood = () => serverTransport.onBroken?.(serverFlooded(options.server));
  const start = transport.start.bind(transport);
  transport.start = async () => {
    await start().catch((error: unknown) => {
      throw endpoint.lastAuthError ?? error;
    });
    readOwnEvents(transport, (text) => {
      // Such a stream cannot be paused.
      if (reader.queuedCharacters > options.maxMessageBytes * MAX_QUEUED_MESSAGES) void transport.close();
      else reader.push(text);
    });
  };
  const report = transport.onerror;
  transport.onerror = (error) => {
    report?.(error);
    // The stream is the session: one that reconnected by itself is a new session.
    if (error instanceof SseError) void transport.close();
  };
  const close = serverTransport.close.bind(serverTransport);
  return Object.assign(serverTransport, { close: () => close().finally(() => endpoint.close()) });
}

/** How many messages of maximum size may wait while one is parsed. */
const MAX_QUEUED_MESSAGES = 4;

/**
 * The SDK silently drops an invalid message, and its request waits in vain. So the events are parsed here, as on
 * every other transport; if the SDK moved its event source, its own parsing would apply.
 */
function readOwnEvents(transport: Transport, read: (text: string) => void): void {
  const source: unknown = Reflect.get(transport, '_eventSource');
  if (typeof source !== 'object' || source === null || !('onmessage' in source)) return;
  source.onmessage = (event: { readonly data: unknown }) => read(String(event.data));
}
