import { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * The answer whose turn it is on a connection, if one is owed: inside it, or in its place, anything else would be taken
 * for it. Node looks there too; those that wait behind it are there only while it is.
 */
export function owedAnswer(socket: Duplex): ServerResponse | undefined {
  const response: unknown = Reflect.get(socket, '_httpMessage');
  return response instanceof ServerResponse ? response : undefined;
}
