/** Servers over a WebSocket. */
import type { WebSocketServer } from '../../config/schema/schema.js';
import { serverFlooded } from '../lanes/server-error.js';
import { FloodMeter } from '../protocol/flood-meter.js';
import {
  createChannelTransport,
  type ServerTransport,
  type ServerTransportOptions,
} from './server-transport.js';
import { WebSocketTransport } from './websocket-transport.js';

export function createWebSocketTransport(
  config: WebSocketServer,
  options: ServerTransportOptions,
): ServerTransport {
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
  const serverTransport = createChannelTransport('websocket', transport, options);
  flood.onFlood = () => serverTransport.onBroken?.(serverFlooded(server));
  transport.outbox.onStuck = (error) => serverTransport.onBroken?.(error);
  return serverTransport;
}
