/** Creates the transport for each kind of remote server. */
import type { InProcessServer, ServerConfig, StdioServer } from '../../config/schema/schema.js';
import { createWebSocketTransport } from './create-websocket-transport.js';
import { createHttpTransport } from './http/http-transport.js';
import { proxyTarget, withoutCredentials } from './http/remote-address.js';
import { createSseTransport } from './http/sse-transport.js';
import type { ServerTransport, ServerTransportOptions } from './server-transport.js';

export async function createNetworkTransport(
  config: Exclude<ServerConfig, StdioServer | InProcessServer>,
  options: ServerTransportOptions,
): Promise<ServerTransport> {
  switch (config.type) {
    case 'websocket':
      return createWebSocketTransport(config, options);
    case 'http':
      return createHttpTransport(withoutCredentials(config), options);
    case 'sse':
      return createSseTransport(withoutCredentials(config), options);
    case 'proxy':
      return createHttpTransport(proxyTarget(config), options);
  }
}
