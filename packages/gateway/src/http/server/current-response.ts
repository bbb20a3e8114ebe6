import { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * The response that is due on a connection, if there is one: inside it, or in its place, anything else would be taken
 * for it. Node looks at the same field; responses queued behind it are there only while it is.
 */
export function currentResponse(socket: Duplex): ServerResponse | undefined {
  const response: unknown = Reflect.get(socket, '_httpMessage');
  return response instanceof ServerResponse ? response : undefined;
}
