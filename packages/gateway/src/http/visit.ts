/** One request on its way through a route: what it asks, who asks, and how to answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Caller, Cancellation, type CancelSignal } from 'turnbuckle';
import type { Visitor } from './visitor.js';

export interface VisitParts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The path as it was sent, without the query. */
  readonly path: string;
  /** The parts of the path that the route leaves open. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly visitor: Visitor;
  /** Largest body that may be read. */
  readonly maxBodyBytes: number;
  /** Aborts when the server begins to close: streams without an end then end themselves. */
  readonly closing: AbortSignal;
}

/** What most routes do not need (`query`, `signal`) is made when it is asked for. */
export class Visit implements VisitParts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly visitor: Visitor;
  readonly caller: Caller;
  readonly maxBodyBytes: number;
  readonly closing: AbortSignal;
  #query: URLSearchParams | undefined;
  #signal: CancelSignal | undefined;

  constructor(parts: VisitParts) {
    this.request = parts.request;
    this.response = parts.response;
    this.path = parts.path;
    this.parameters = parts.parameters;
    this.visitor = parts.visitor;
    this.caller = parts.visitor.caller;
    this.maxBodyBytes = parts.maxBodyBytes;
    this.closing = parts.closing;
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams((this.request.url ?? '').slice(this.path.length));
    return this.#query;
  }

  /** Aborts when the client has gone before it had the whole answer. */
  get signal(): CancelSignal {
    this.#signal ??= goneSignal(this.response);
    return this.#signal;
  }
}

function goneSignal(response: ServerResponse): CancelSignal {
  const gone = new Cancellation();
  const look = (): void => {
    if (!response.writableFinished) gone.cancel();
  };
  if (response.closed || response.destroyed) look();
  else response.once('close', look);
  return gone;
}
