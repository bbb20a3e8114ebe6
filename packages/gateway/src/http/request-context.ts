/** One request on its way through a route: what it asks, who asks, and how to answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Caller, Cancellation, type CancelSignal } from 'turnbuckle';
import type { Place } from './places.js';
import type { Visitor } from './visitor.js';
import { onVisitorEnd, requireGood } from './visitor-end.js';

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
  readonly closing: CancelSignal;
  /** What the request holds of what all share. */
  readonly place: Place;
}

/** What most routes do not need (`query`, the signals) is made when it is asked for. */
export class Visit implements VisitParts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly visitor: Visitor;
  readonly caller: Caller;
  readonly maxBodyBytes: number;
  readonly closing: CancelSignal;
  readonly place: Place;
  #query: URLSearchParams | undefined;
  #signal: CancelSignal | undefined;
  #streamSignal: CancelSignal | undefined;

  constructor(parts: VisitParts) {
    this.request = parts.request;
    this.response = parts.response;
    this.path = parts.path;
    this.parameters = parts.parameters;
    this.visitor = parts.visitor;
    this.caller = parts.visitor.caller;
    this.maxBodyBytes = parts.maxBodyBytes;
    this.closing = parts.closing;
    this.place = parts.place;
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams((this.request.url ?? '').slice(this.path.length));
    return this.#query;
  }

  /** TOKEN_REQUIRED when its token has ended: to be asked after each wait, right before something is changed. */
  confirm(): void {
    requireGood(this.visitor);
  }

  /** Aborts when the client has gone before it had the whole answer, or its identity is over. */
  get signal(): CancelSignal {
    this.#signal ??= goneSignal(this.response, this.visitor.ended);
    return this.#signal;
  }

  /** For an answer without an end: aborts too when the token of this request expires. */
  get streamSignal(): CancelSignal {
    this.#streamSignal ??= streamSignal(this.response, this.visitor);
    return this.#streamSignal;
  }
}

function goneSignal(response: ServerResponse, ended: CancelSignal | undefined): CancelSignal {
  const gone = new Cancellation();
  const end = (): void => gone.cancel(ended?.reason);
  const look = (): void => {
    ended?.removeEventListener('abort', end);
    if (!response.writableFinished) gone.cancel();
  };
  if (ended?.aborted === true) end();
  else if (response.closed || response.destroyed) look();
  else {
    response.once('close', look);
    ended?.addEventListener('abort', end);
  }
  return gone;
}

function streamSignal(response: ServerResponse, visitor: Visitor): CancelSignal {
  const gone = new Cancellation();
  const stop = onVisitorEnd(visitor, () => gone.cancel());
  const look = (): void => {
    stop();
    if (!response.writableFinished) gone.cancel();
  };
  if (response.closed || response.destroyed) look();
  else response.once('close', look);
  return gone;
}
