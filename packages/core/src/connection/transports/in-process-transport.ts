/** The transport of a server in this process: an object of the SDK, or a function that handles requests. */
import type { Transport } from '@modelcontextprotocol/client';
import type { InProcessServer } from '../../config/schema/schema.js';
import { loadSdk } from '../handshake/load-sdk.js';
import { SdkLane } from '../lanes/sdk-lane.js';
import { connectionLost } from '../lanes/server-error.js';
import { guardMessages } from '../protocol/guard-messages.js';
import { NotificationGate } from '../server-requests/notification-gate.js';
import { reportBrokenStreams } from './http/broken-streams.js';
import {
  createChannelTransport,
  type ServerTransport,
  type ServerTransportOptions,
} from './server-transport.js';

export async function createInProcessTransport(
  config: InProcessServer,
  options: ServerTransportOptions,
): Promise<ServerTransport> {
  const { InMemoryTransport, StreamableHTTPClientTransport } = await loadSdk();
  const target = typeof config.server === 'function' ? await config.server() : config.server;
  if ('fetch' in target) {
    const transport = new StreamableHTTPClientTransport(new URL('http://in-process.invalid/mcp'), {
      fetch: (url, init) => target.fetch(new Request(url, init as RequestInit)),
    });
    const { server } = options;
    const gate = new NotificationGate(options.notificationsPerSecond);
    guardMessages(transport, {
      ...options,
      onDefect: (error) => serverTransport.onBroken?.(error),
      route: (message, listen) => gate.passAny(message, listen),
    });
    reportBrokenStreams(transport, () => connectionLost(server, { sent: true }));
    const serverTransport: ServerTransport = {
      type: 'in-process',
      transport,
      hasHeaders: true,
      lane: (client) => new SdkLane(client, { server }),
      close: () => {
        gate.stop();
        return transport.close();
      },
    };
    return serverTransport;
  }
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  // Later failures are handled by the channel.
  guardMessages(ours, { ...options, onDefect: () => void ours.close() });
  // The SDK's servers accept any transport; the parameter is `never` because we do not import their class.
  await (target.connect as (transport: Transport) => Promise<void>).call(target, theirs);
  return createChannelTransport('in-process', ours, options);
}
