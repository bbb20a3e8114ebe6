import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TurnbuckleError } from '../../../errors.js';
import { toRpcError } from '../../lanes/server-error.js';

/**
 * The SDK does not fail a request when its response stream breaks: it would wait for its timeout. An error response
 * ends it; for a request that got its response, it comes too late and is ignored.
 */
export function reportBrokenStreams(
  transport: StreamableHTTPClientTransport,
  why: () => TurnbuckleError,
): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) =>
    send(message, {
      ...options,
      onRequestStreamEnd: () => {
        options?.onRequestStreamEnd?.();
        if (Array.isArray(message) || !('id' in message) || typeof message.id !== 'number') return;
        transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error: toRpcError(why()) });
      },
    });
}
