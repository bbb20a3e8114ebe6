/**
 * What a server that asks by `input_required` wants to have back with the answers. A client knows its target by a name
 * that may stand for another server's by then: so what it gets is sealed for whom, for what and on which way it was, and
 * nothing of it goes anywhere else. A state is given also where the server gave none: the answers are for its asker only, too.
 */
import { type Caller, identityOf, keepSpelling, TurnbuckleError } from 'turnbuckle';
import { CODES, type Params, RpcError } from './protocol.js';
import { keyFor, Seal } from './seal.js';
import { TASK_METHODS } from './task-methods.js';

/** What a request is about: only a request about the same goes on with a state. */
export interface StateTarget {
  readonly server: string;
  /** The tool, prompt or resource at its server. */
  readonly item: string;
}

export interface OpenState extends StateTarget {
  readonly kind: string;
  /** The server's own; undefined if it gave none. */
  readonly state: unknown;
}

/** Of a server's own: sealing takes a moment for each of them. */
const MAX_STATE = 1_048_576;
/** Every character can take three bytes, and each three bytes four characters; with room for what it is about. */
const MAX_SEALED = 8 * MAX_STATE;

export class RequestStates {
  readonly #seal: Seal;

  constructor(key: Buffer) {
    this.#seal = new Seal(keyFor('request-state', key), MAX_SEALED);
  }

  /** The same result with the state as its client gets it. */
  seal(result: Params, { server, item }: StateTarget, by: Requester): Params {
    if (result.resultType !== 'input_required') return result;
    const state = result.requestState ?? undefined;
    if (state !== undefined && (typeof state !== 'string' || state.length > MAX_STATE)) throw noState(server);
    const text = JSON.stringify([
      kindOf(by.method),
      by.view,
      server,
      item,
      ...(state === undefined ? [] : [state]),
    ]);
    return keepSpelling(result, { ...result, requestState: this.#seal.close(text, identityOf(by.caller)) });
  }

  /** Throws for what was not sealed here, for somebody else, for another view, or for another kind of request. */
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

/** What one request about a task is asked, another one answers. */
const kindOf = (method: string): string => (TASK_METHODS.has(method) ? 'tasks' : method);

/** Throws where a request has a state that is not for what it is about. */
export function checkState(state: OpenState | undefined, { server, item }: StateTarget): void {
  if (state !== undefined && (state.server !== server || state.item !== item)) throw unknownState();
}

/** The same words whatever it is that does not fit. */
export const unknownState = (): RpcError =>
  new RpcError(
    CODES.invalidParams,
    'The requestState is not one that was given for this request. Nothing was sent: make the request again without it',
  );

const noState = (server: string): TurnbuckleError =>
  new TurnbuckleError(
    'PROTOCOL_VIOLATION',
    `Server "${server}" asks with a requestState that is not a text of at most ${MAX_STATE} characters.`,
    { server },
  );
