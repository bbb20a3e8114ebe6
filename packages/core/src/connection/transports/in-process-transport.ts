/** The carrier of a server that lives in this process: an object of the SDK, or a function that answers requests. */
import type { Transport } from '@modelcontextprotocol/client';
import type { InProcessServer } from '../config/schema.js';
import { reportBrokenStreams } from './broken-streams.js';
import { type Carrier, type CarrierOptions, channelCarrier } from './carrier.js';
import { guardMessages } from './guard-messages.js';
import { NotificationGate } from './notification-gate.js';
import { loadSdk } from './sdk.js';
import { SdkLane } from './sdk-lane.js';
import { connectionLost } from './server-error.js';

export async function inProcessCarrier(config: InProcessServer, options: CarrierOptions): Promise<Carrier> {
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
      onDefect: (error) => carrier.onBroken?.(error),
      route: (message, listen) => gate.passAny(message, listen),
    });
    reportBrokenStreams(transport, () => connectionLost(server, { sent: true }));
    const carrier: Carrier = {
      type: 'in-process',
      transport,
      hasHeaders: true,
      lane: (client) => new SdkLane(client, { server }),
      close: () => {
        gate.stop();
        return transport.close();
      },
    };
    return carrier;
  }
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  // Whatever goes wrong further on is the channel's matter.
  guardMessages(ours, { ...options, onDefect: () => void ours.close() });
  // The SDK's servers take any transport; the parameter is `never` because their class is not ours to import.
  await (target.connect as (transport: Transport) => Promise<void>).call(target, theirs);
  return channelCarrier('in-process', ours, options);
}
