/** Reports refused tokens: the first one at once, those that follow as a count. Never the token itself. */
import type { RefusedToken } from '../identity/identity.js';
import { OWNER } from '../identity/owner.js';
import type { Incident, Report } from './incident.js';
import { toShellWord } from './next-step.js';

export interface RefusedTokensOptions {
  readonly report: Report;
  /** Runs the work later, without keeping the process alive; returns a function that cancels it. */
  readonly schedule?: ((work: () => void, ms: number) => () => void) | undefined;
}

interface Counted {
  readonly refused: RefusedToken;
  readonly cancel: () => void;
  count: number;
}

const COUNT_MS = 5 * 60_000;
/** With more names of tokens than this at a time, the others are not reported. */
const MAX_COUNTED = 200;

export class RefusedTokens {
  readonly #report: Report;
  readonly #schedule: NonNullable<RefusedTokensOptions['schedule']>;
  readonly #counted = new Map<string, Counted>();

  constructor({ report, schedule = scheduleUnref }: RefusedTokensOptions) {
    this.#report = report;
    this.#schedule = schedule;
  }

  /** A request with an invalid token came from this address. */
  readonly add = (refused: RefusedToken, from: string): void => {
    const key = `${refused.reason} ${refused.name ?? ''}`;
    const known = this.#counted.get(key);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    if (this.#counted.size >= MAX_COUNTED) return;
    this.#report(toIncident(refused, (what) => `A request from ${from} with ${what} was refused.`));
    this.#count(key, refused);
  };

  /** Reports what was counted. */
  close(): void {
    for (const [key, { cancel }] of this.#counted) {
      cancel();
      this.#reportCount(key);
    }
  }

  #count(key: string, refused: RefusedToken): void {
    const cancel = this.#schedule(() => {
      // As long as there are more, they are only counted.
      if (this.#reportCount(key)) this.#count(key, refused);
    }, COUNT_MS);
    this.#counted.set(key, { refused, cancel, count: 0 });
  }

  /** True if there was something to report. */
  #reportCount(key: string): boolean {
    const counted = this.#counted.get(key);
    this.#counted.delete(key);
    if (counted === undefined || counted.count === 0) return false;
    const { refused, count } = counted;
    const tell = (what: string): string =>
      count === 1
        ? `1 more request with ${what} was refused.`
        : `${count} more requests with ${what} were refused.`;
    this.#report(toIncident(refused, tell));
    return true;
  }
}

function toIncident(refused: RefusedToken, tell: (what: string) => string): Incident {
  const { what, next } = explain(refused);
  return { level: 'warn', kind: 'token-refused', code: 'TOKEN_REQUIRED', text: tell(what), next };
}

function explain({ reason, name = '' }: RefusedToken): { readonly what: string; readonly next: string } {
  if (reason === 'unknown')
    return { what: 'an unknown token', next: 'List the tokens: turnbuckle token list' };
  if (name === OWNER)
    return {
      what: 'an old owner token',
      next: 'Restart the program that uses it. List the tokens: turnbuckle token list',
    };
  const word = toShellWord(name);
  return {
    what: `the ${reason} token "${name}"`,
    next:
      reason === 'expired'
        ? `Revoke the token (turnbuckle token revoke ${word}), then create a new one: turnbuckle token create ${word}`
        : `If its client is still in use, create a new token: turnbuckle token create ${word}`,
  };
}

function scheduleUnref(work: () => void, ms: number): () => void {
  const timer = setTimeout(work, ms).unref();
  return () => clearTimeout(timer);
}
