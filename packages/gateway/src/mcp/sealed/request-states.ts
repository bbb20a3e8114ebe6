/**
 * The `requestState` of a server that responds with `input_required`. A client refers to its target by a name that may
 * belong to another server by then. So the state is sealed for the caller, the item and the view, and goes nowhere else.
 * A state is issued even if the server sent none: the inputs too are only for the server that requested them.
 */
import { type Caller, TurnbuckleError } from 'turnbuckle';
import { copyRawNumbers, identityOf, SERVER_BUG_HINT } from 'turnbuckle/host';
import { CODES, type Params, RpcError } from '../protocol/protocol.js';
import { deriveKey, Sealer } from './sealer.js';
import { TASK_METHODS } from './task-methods.js';

/** What a request is about: a state is accepted only by a request about the same item. */
export interface StateTarget {
  readonly server: string;
  /** The tool, prompt or resource at its server. */
  readonly item: string;
}

export interface OpenState extends StateTarget {
  readonly kind: string;
  /** The server's own state; undefined if it sent none. */
  readonly state: unknown;
}

/** The limit for a server's own state: sealing costs time. */
const MAX_STATE_CHARACTERS = 1_048_576;
/** A character can take three bytes, and three bytes take four characters; plus room for what it is about. */
const MAX_SEALED_CHARACTERS = 8 * MAX_STATE_CHARACTERS;

export class RequestStates {
  readonly #seal: Sealer;

  constructor(key: Buffer) {
    this.#seal = new Sealer(deriveKey('request-state', key), MAX_SEALED_CHARACTERS);
  }

  /** The result with the sealed state for its client. */
  seal(result: Params, { server, item }: StateTarget, by: Requester): Params {
    if (result.resultType !== 'input_required') return result;
    const state = result.requestState ?? undefined;
    if (state !== undefined && (typeof state !== 'string' || state.length > MAX_STATE_CHARACTERS))
      throw invalidServerState(server);
    const text = JSON.stringify([
      kindOf(by.method),
      by.view,
      server,
      item,
      ...(state === undefined ? [] : [state]),
    ]);
    return copyRawNumbers(result, { ...result, requestState: this.#seal.seal(text, identityOf(by.caller)) });
  }

  /** Throws for a state that was not sealed here, or for another caller, another view or another kind of request. */
  open(sealed: unknown, { method, view, caller }: Requester): OpenState {
    const text = this.#seal.open(sealed, identityOf(caller));
    if (text === undefined) throw unknownState();
    const [kind, at, server, item, state] = JSON.parse(text);
    if (kind !== kindOf(method) || at !== view) throw unknownState();
    return { kind, server, item, state };
  }
}

interface Requester {
  readonly method: string;
  readonly caller: Caller;
  /** The name of the view that it came to. */
  readonly view: string;
}

/** Input that one request about a task asks for may be sent with another one. */
const kindOf = (method: string): string => (TASK_METHODS.has(method) ? 'tasks' : method);

/** Throws if a request has a state that was issued for another item. */
export function checkState(state: OpenState | undefined, { server, item }: StateTarget): void {
  if (state !== undefined && (state.server !== server || state.item !== item)) throw unknownState();
}

/** The same message for every mismatch. */
export const unknownState = (): RpcError =>
  new RpcError(
    CODES.invalidParams,
    'Invalid requestState for this request. Nothing was sent. Send the request again without requestState',
  );

const invalidServerState = (server: string): TurnbuckleError =>
  new TurnbuckleError(
    'PROTOCOL_VIOLATION',
    `Server "${server}" sent an invalid requestState: expected a string of at most ${MAX_STATE_CHARACTERS} characters.`,
    { server, hint: SERVER_BUG_HINT },
  );
