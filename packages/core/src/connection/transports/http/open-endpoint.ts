/** What the HTTP transports share: the endpoint of a server, and how its messages are measured. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { HttpServer, SseServer } from '../../../config/schema/schema.js';
import { AwaitedAnswers, FloodMeter } from '../../protocol/flood-meter.js';
import type { ServerTransportOptions } from '../server-transport.js';
import { type EndpointOptions, HttpEndpoint } from './http-endpoint.js';

export const openEndpoint = async (
  config: HttpServer | SseServer,
  options: ServerTransportOptions,
  more: Pick<EndpointOptions, 'onTooLarge' | 'largeMessages'>,
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

/** On a stream with responses and everything else, what was measured before a response was that response. */
export function refundAnswers(
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
