/**
 * Answers that wait for another one on the same connection. Node tells only the one whose turn it is that the connection
 * has ended: without this, what belongs to the others would never be released.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export class QueuedAnswers {
  readonly #bySocket = new WeakMap<Socket, Set<ServerResponse>>();

  add(socket: Socket, response: ServerResponse): void {
    const queued = this.#bySocket.get(socket) ?? this.#follow(socket);
    queued.add(response);
    response.once('close', () => queued.delete(response));
  }

  /** One listener for each connection, however many wait. */
  #follow(socket: Socket): Set<ServerResponse> {
    const queued = new Set<ServerResponse>();
    this.#bySocket.set(socket, queued);
    socket.once('close', () => {
      for (const response of [...queued]) {
        response.destroy();
        // As Node does for the one that has the connection.
        if (queued.has(response)) response.emit('close');
      }
    });
    return queued;
  }
}
