/**
 * Sign-ins that a person completes in a browser elsewhere: started by a request, finished in the background. The page is
 * returned to the client that started it; nothing is opened on this machine.
 */
import { type Runtime, type SignInPrompts, TurnbuckleError } from 'turnbuckle';
import type { CancelSignal, SignInPage, SignInRequest } from 'turnbuckle/host';

export interface SignInProgress {
  readonly state: 'waiting' | 'done';
  /** Where the person signs in. */
  readonly url?: string | undefined;
  /** The code to enter there. */
  readonly code?: string | undefined;
}

interface PendingSignIn {
  readonly startedAt: number;
  readonly abort: AbortController;
  /** The page it currently waits for; there may be a second one. */
  page: SignInProgress | undefined;
  /** Resolves with the first page, or with the end if there was none. */
  readonly firstPage: Promise<SignInProgress>;
  readonly paste: (address: string) => void;
}

type SignInParams = Pick<SignInRequest, 'method' | 'scopes' | 'force'>;

/** Whose sign-in: that of a server, or of one agent there. */
export interface SignInTarget {
  readonly server: string;
  readonly agent?: string | undefined;
}

const MAX_FAILURES = 1_000;

export class PendingSignIns {
  readonly #runtime: Pick<Runtime, 'signIn'>;
  readonly #now: () => number;
  readonly #pending = new Map<string, PendingSignIn>();
  readonly #failures = new Map<string, TurnbuckleError>();

  constructor(runtime: Pick<Runtime, 'signIn'>, now: () => number = Date.now) {
    this.#runtime = runtime;
    this.#now = now;
  }

  /**
   * Starts a sign-in, or returns the pending one. Rejects if it fails before there is a page. If the token that started it
   * ends first, it is cancelled: otherwise the holder of that token could still connect an account.
   */
  async begin(target: SignInTarget, asked: SignInParams, ended?: CancelSignal): Promise<SignInProgress> {
    const underway = this.#pending.get(keyOf(target)) ?? this.#start(target, asked, ended);
    return underway.page ?? underway.firstPage;
  }

  /** The address that the browser ended at, for a sign-in with `paste`; false if none is pending. */
  paste(target: SignInTarget, address: string): boolean {
    const underway = this.#pending.get(keyOf(target));
    underway?.paste(address);
    return underway !== undefined;
  }

  /** Cancels a pending sign-in; false if there is none. */
  cancel(target: SignInTarget): boolean {
    const underway = this.#pending.get(keyOf(target));
    underway?.abort.abort(signInCancelled(target));
    return underway !== undefined;
  }

  startedAt(target: SignInTarget): number | undefined {
    return this.#pending.get(keyOf(target))?.startedAt;
  }

  /** Why the last one failed. */
  failureOf(target: SignInTarget): TurnbuckleError | undefined {
    return this.#failures.get(keyOf(target));
  }

  #start(target: SignInTarget, asked: SignInParams, ended: CancelSignal | undefined): PendingSignIn {
    const abort = new AbortController();
    const key = keyOf(target);
    const { server, agent } = target;
    const giveUp = (): void => abort.abort(signInCancelled(target));
    ended?.addEventListener('abort', giveUp);
    const first = createDeferred<SignInProgress>();
    const pasted = createDeferred<string>();
    abort.signal.addEventListener('abort', () => pasted.reject(abort.signal.reason));
    const underway: PendingSignIn = {
      startedAt: this.#now(),
      abort,
      page: undefined,
      firstPage: first.promise,
      paste: pasted.resolve,
    };
    const show = ({ url, code }: SignInPage & { readonly code?: string }): void => {
      underway.page = { state: 'waiting', url, code };
      first.resolve(underway.page);
    };
    const prompts: SignInPrompts = { open: show, showCode: show, paste: () => pasted.promise };
    this.#failures.delete(key);
    this.#pending.set(key, underway);
    this.#runtime
      .signIn(server, { ...asked, agent, prompts, signal: abort.signal })
      .then(
        () => this.#finish(key, underway, () => first.resolve({ state: 'done' })),
        (error: unknown) => {
          if (error instanceof TurnbuckleError) this.#rememberFailure(key, error);
          this.#finish(key, underway, () => first.reject(error));
        },
      )
      .finally(() => ended?.removeEventListener('abort', giveUp));
    return underway;
  }

  /** Of the last ones only: an agent that does not exist can have any name. */
  #rememberFailure(key: string, error: TurnbuckleError): void {
    const [oldest] = this.#failures.keys();
    if (this.#failures.size >= MAX_FAILURES && oldest !== undefined) this.#failures.delete(oldest);
    this.#failures.set(key, error);
  }

  #finish(key: string, underway: PendingSignIn, settle: () => void): void {
    if (this.#pending.get(key) === underway) this.#pending.delete(key);
    settle();
  }
}

const keyOf = ({ server, agent }: SignInTarget): string =>
  JSON.stringify(agent === undefined ? [server] : [server, agent]);

const signInCancelled = ({ server }: SignInTarget): TurnbuckleError =>
  new TurnbuckleError('CALL_CANCELLED', `Sign-in to server "${server}" was cancelled.`, { server });

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

/** It may be left without a listener: its rejection is not unhandled. */
function createDeferred<Value>(): Deferred<Value> {
  let settle: Omit<Deferred<Value>, 'promise'> = { resolve: () => {}, reject: () => {} };
  const promise = new Promise<Value>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => {});
  return { promise, ...settle };
}
