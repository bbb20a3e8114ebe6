import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TurnbuckleError } from '../errors.js';
import { toAnswer } from './server-error.js';

/**
 * The SDK does not tell a request that the stream of its answer broke: it would wait for its timeout. An
 * error answer tells it; for a request that was answered it comes too late and is nobody's.
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
        transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error: toAnswer(why()) });
      },
    });
}
