import type { Channel } from './channel.js';
import type { JsonObject, RequestId } from './json.js';
import type { RpcError } from './rpc-error.js';

/** Sends a notification. */
export function notify(channel: Channel, method: string, params?: JsonObject): void {
  channel.deliver(JSON.stringify({ jsonrpc: '2.0', method, ...(params && { params }) }), { final: false });
}

/** Answers a request with its result. */
export function succeed(channel: Channel, id: RequestId, result: unknown): void {
  channel.deliver(JSON.stringify({ jsonrpc: '2.0', id, result }), { final: true });
}

/** Answers a request with an error; id null if the request's own could not be read. */
export function fail(channel: Channel, id: RequestId | null, error: RpcError): void {
  const text = JSON.stringify({ jsonrpc: '2.0', id, error: error.toJson() });
  channel.deliver(text, { final: true, status: error.status });
}
