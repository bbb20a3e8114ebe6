/** One request in a route: what was sent, who sent it, and how to respond. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from 'turnbuckle';
import { Cancellation, type CancelSignal } from 'turnbuckle/host';
import type { Identity } from '../identity/identity.js';
import { onIdentityEnd, requireActiveToken } from '../identity/identity-end.js';
import type { RequestUsage } from './limits/in-flight-requests.js';

export interface RequestContextParts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The path as sent, without the query. */
  readonly path: string;
  /** The values of the path parameters. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly identity: Identity;
  /** The largest body that may be read. */
  readonly maxBodyBytes: number;
  /** Aborts when the server starts to close: endless streams then end themselves. */
  readonly closing: CancelSignal;
  /** What the request holds of shared limits. */
  readonly usage: RequestUsage;
}

/** `query` and the signals, which most routes do not need, are created on first use. */
export class RequestContext implements RequestContextParts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly identity: Identity;
  readonly caller: Caller;
  readonly maxBodyBytes: number;
  readonly closing: CancelSignal;
  readonly usage: RequestUsage;
  #query: URLSearchParams | undefined;
  #signal: CancelSignal | undefined;
  #streamSignal: CancelSignal | undefined;

  constructor(parts: RequestContextParts) {
    this.request = parts.request;
    this.response = parts.response;
    this.path = parts.path;
    this.parameters = parts.parameters;
    this.identity = parts.identity;
    this.caller = parts.identity.caller;
    this.maxBodyBytes = parts.maxBodyBytes;
    this.closing = parts.closing;
    this.usage = parts.usage;
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams((this.request.url ?? '').slice(this.path.length));
    return this.#query;
  }

  /** TOKEN_REQUIRED if the token has ended: call it after each await, right before a change. */
  requireActiveToken(): void {
    requireActiveToken(this.identity);
  }

  /** Aborts when the client disconnects before it has the whole response, or when its identity ends. */
  get signal(): CancelSignal {
    this.#signal ??= createRequestSignal(this.response, this.identity.ended);
    return this.#signal;
  }

  /** For an endless response: also aborts when the token of this request expires. */
  get streamSignal(): CancelSignal {
    this.#streamSignal ??= createStreamSignal(this.response, this.identity);
    return this.#streamSignal;
  }
}

function createRequestSignal(response: ServerResponse, ended: CancelSignal | undefined): CancelSignal {
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

function createStreamSignal(response: ServerResponse, identity: Identity): CancelSignal {
  const gone = new Cancellation();
  const stop = onIdentityEnd(identity, () => gone.cancel());
  const look = (): void => {
    stop();
    if (!response.writableFinished) gone.cancel();
  };
  if (response.closed || response.destroyed) look();
  else response.once('close', look);
  return gone;
}
