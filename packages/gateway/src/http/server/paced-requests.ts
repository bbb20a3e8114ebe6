/**
 * Requests that a client sends without waiting for the responses (pipelining): Node reads and handles thousands of them in
 * one turn of the event loop. Here the first one of a connection is handled immediately, and a few more in each later turn.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

interface PacedConnection {
  readonly waiting: Array<{ readonly request: IncomingMessage; readonly response: ServerResponse }>;
  isPaused: boolean;
}

/** For each connection. */
const MAX_PER_TURN = 4;
/** With more of them, the connection ends with the response to the last one. */
const MAX_WAITING = 64;

export class PacedRequests {
  readonly #handle: Handle;
  /** Connections with a request in this turn, and those whose requests wait. */
  readonly #paced = new Map<Socket, PacedConnection>();
  /** Connections that had too many. */
  readonly #ending = new WeakSet<Socket>();
  #isScheduled = false;

  constructor(handle: Handle) {
    this.#handle = handle;
  }

  /** For `request` of a server. */
  readonly take = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    if (this.#ending.has(socket)) return;
    this.#schedule();
    const paced = this.#paced.get(socket);
    if (paced === undefined) {
      this.#paced.set(socket, { waiting: [], isPaused: false });
      return this.#handle(request, response);
    }
    paced.waiting.push({ request, response });
    // Nothing is read meanwhile, beyond what Node has read already.
    socket.pause();
    paced.isPaused = true;
    if (paced.waiting.length < MAX_WAITING) return;
    response.setHeader('connection', 'close');
    this.#ending.add(socket);
  };

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#runTurn());
  }

  #runTurn(): void {
    this.#isScheduled = false;
    for (const [socket, { waiting, isPaused }] of [...this.#paced]) {
      const next = socket.destroyed ? [] : waiting.splice(0, MAX_PER_TURN);
      for (const { request, response } of next) this.#handle(request, response);
      if (next.length > 0) continue;
      this.#paced.delete(socket);
      if (isPaused && !this.#ending.has(socket)) socket.resume();
    }
    if (this.#paced.size > 0) this.#schedule();
  }
}
