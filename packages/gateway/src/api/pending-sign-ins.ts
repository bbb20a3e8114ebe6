/**
 * Sign-ins that a person makes in a browser elsewhere: begun by a request, finished behind it. The page is told to
 * who began it; nothing is opened on this machine.
 */
import {
  type CancelSignal,
  type Runtime,
  type SignInPage,
  type SignInPrompts,
  type SignInRequest,
  TurnbuckleError,
} from 'turnbuckle';

export interface Begun {
  readonly state: 'waiting' | 'done';
  /** Where the person signs in. */
  readonly url?: string | undefined;
  /** What is typed in there. */
  readonly code?: string | undefined;
}

interface Underway {
  readonly startedAt: number;
  readonly abort: AbortController;
  /** The page that is waited for now; there may be a second one. */
  page: Begun | undefined;
  /** Resolves with the first page, or with the end when there was none. */
  readonly begun: Promise<Begun>;
  readonly paste: (address: string) => void;
}

type Asked = Pick<SignInRequest, 'method' | 'scopes' | 'force'>;

export class SignInDesk {
  readonly #runtime: Pick<Runtime, 'signIn'>;
  readonly #now: () => number;
  readonly #underway = new Map<string, Underway>();
  readonly #failures = new Map<string, TurnbuckleError>();

  constructor(runtime: Pick<Runtime, 'signIn'>, now: () => number = Date.now) {
    this.#runtime = runtime;
    this.#now = now;
  }

  /**
   * Begins a sign-in, or tells of the one under way. Rejects when it fails before there is a page. One that is not finished
   * when the token of who began it ends is given up: else its holder could still put an account of its own there.
   */
  async begin(server: string, asked: Asked, ended?: CancelSignal): Promise<Begun> {
    const underway = this.#underway.get(server) ?? this.#start(server, asked, ended);
    return underway.page ?? underway.begun;
  }

  /** The address that the browser ended at, for a sign-in by `paste`; false when none waits. */
  paste(server: string, address: string): boolean {
    const underway = this.#underway.get(server);
    underway?.paste(address);
    return underway !== undefined;
  }

  /** Ends a sign-in under way; false when there is none. */
  cancel(server: string): boolean {
    const underway = this.#underway.get(server);
    underway?.abort.abort(givenUp(server));
    return underway !== undefined;
  }

  startedAt(server: string): number | undefined {
    return this.#underway.get(server)?.startedAt;
  }

  /** Why the last one did not come to its end. */
  failureOf(server: string): TurnbuckleError | undefined {
    return this.#failures.get(server);
  }

  #start(server: string, asked: Asked, ended: CancelSignal | undefined): Underway {
    const abort = new AbortController();
    const giveUp = (): void => abort.abort(givenUp(server));
    ended?.addEventListener('abort', giveUp);
    const first = createDeferred<Begun>();
    const pasted = createDeferred<string>();
    abort.signal.addEventListener('abort', () => pasted.reject(abort.signal.reason));
    const underway: Underway = {
      startedAt: this.#now(),
      abort,
      page: undefined,
      begun: first.promise,
      paste: pasted.resolve,
    };
    const show = ({ url, code }: SignInPage & { readonly code?: string }): void => {
      underway.page = { state: 'waiting', url, code };
      first.resolve(underway.page);
    };
    const prompts: SignInPrompts = { open: show, showCode: show, paste: () => pasted.promise };
    this.#failures.delete(server);
    this.#underway.set(server, underway);
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

  #finish(server: string, underway: Underway, settle: () => void): void {
    if (this.#underway.get(server) === underway) this.#underway.delete(server);
    settle();
  }
}

const givenUp = (server: string): TurnbuckleError =>
  new TurnbuckleError('CALL_CANCELLED', `The sign-in at server "${server}" was given up.`, { server });

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

/** Nobody has to wait for it: a rejection without a listener is no defect. */
function createDeferred<Value>(): Deferred<Value> {
  let settle: Omit<Deferred<Value>, 'promise'> = { resolve: () => {}, reject: () => {} };
  const promise = new Promise<Value>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => {});
  return { promise, ...settle };
}
