/**
 * Responses queued behind another one on the same connection. When the connection ends, Node notifies only the current
 * response: without this, what belongs to the others would never be released.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export class QueuedResponses {
  readonly #bySocket = new WeakMap<Socket, Set<ServerResponse>>();

  add(socket: Socket, response: ServerResponse): void {
    const queued = this.#bySocket.get(socket) ?? this.#watch(socket);
    queued.add(response);
    response.once('close', () => queued.delete(response));
  }

  /** One listener for each connection, however many responses are queued. */
  #watch(socket: Socket): Set<ServerResponse> {
    const queued = new Set<ServerResponse>();
    this.#bySocket.set(socket, queued);
    socket.once('close', () => {
      for (const response of [...queued]) {
        response.destroy();
        // As Node does for the current response.
        if (queued.has(response)) response.emit('close');
      }
    });
    return queued;
  }
}
