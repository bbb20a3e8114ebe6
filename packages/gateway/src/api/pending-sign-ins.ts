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
  async begin(server: string, asked: SignInParams, ended?: CancelSignal): Promise<SignInProgress> {
    const underway = this.#pending.get(server) ?? this.#start(server, asked, ended);
    return underway.page ?? underway.firstPage;
  }

  /** The address that the browser ended at, for a sign-in with `paste`; false if none is pending. */
  paste(server: string, address: string): boolean {
    const underway = this.#pending.get(server);
    underway?.paste(address);
    return underway !== undefined;
  }

  /** Cancels a pending sign-in; false if there is none. */
  cancel(server: string): boolean {
    const underway = this.#pending.get(server);
    underway?.abort.abort(signInCancelled(server));
    return underway !== undefined;
  }

  startedAt(server: string): number | undefined {
    return this.#pending.get(server)?.startedAt;
  }

  /** Why the last one failed. */
  failureOf(server: string): TurnbuckleError | undefined {
    return this.#failures.get(server);
  }

  #start(server: string, asked: SignInParams, ended: CancelSignal | undefined): PendingSignIn {
    const abort = new AbortController();
    const giveUp = (): void => abort.abort(signInCancelled(server));
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
    this.#failures.delete(server);
    this.#pending.set(server, underway);
    this.#runtime
      .signIn(server, { ...asked, prompts, signal: abort.signal })
      .then(
        () => this.#finish(server, underway, () => first.resolve({ state: 'done' })),
        (error: unknown) => {
          if (error instanceof TurnbuckleError) this.#failures.set(server, error);
          this.#finish(server, underway, () => first.reject(error));
        },
      )
      .finally(() => ended?.removeEventListener('abort', giveUp));
    return underway;
  }

  #finish(server: string, underway: PendingSignIn, settle: () => void): void {
    if (this.#pending.get(server) === underway) this.#pending.delete(server);
    settle();
  }
}

const signInCancelled = (server: string): TurnbuckleError =>
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
