/**
 * Work that is done one after the other for everybody but the owner, whose own does not wait for it. Each identity has
 * its turn, whatever others have waiting, and no more waiting than its share.
 */
import { identityOf, TurnbuckleError } from 'turnbuckle';
import { mayTake } from './shares.js';
import { Turns } from './turns.js';
import type { Visitor } from './visitor.js';

export interface SharedTurnsOptions {
  /** What there would be too much of, for the error: "searches". */
  readonly what: string;
  /** So much may be under way and waiting, of all together. */
  readonly max: number;
  /** Of the owner's, so much is done at once. */
  readonly ownAtOnce: number;
}

export class SharedTurns {
  readonly #options: SharedTurnsOptions;
  readonly #own: Turns;
  /** Those who wait, by identity; whoever had a turn goes to the end. */
  readonly #waiting = new Map<string, Array<() => void>>();
  /** What each identity has waiting and under way. */
  readonly #counts = new Map<string, number>();
  #taken = 0;
  #isBusy = false;

  constructor(options: SharedTurnsOptions) {
    this.#options = options;
    this.#own = new Turns(options.ownAtOnce);
  }

  /** OVERLOADED when this identity, or all together, have too much waiting. */
  async take<T>({ caller, isOwner = false }: Visitor, work: () => Promise<T>): Promise<T> {
    if (isOwner) return this.#own.take(work);
    const identity = identityOf(caller);
    const own = this.#counts.get(identity) ?? 0;
    if (!mayTake({ own, taken: this.#taken, max: this.#options.max, isOwner })) throw this.#tooMany();
    this.#count(identity, 1);
    try {
      if (this.#isBusy) await new Promise<void>((resolve) => this.#wait(identity, resolve));
      this.#isBusy = true;
      return await work();
    } finally {
      this.#count(identity, -1);
      this.#next();
    }
  }

  #wait(identity: string, resolve: () => void): void {
    const line = this.#waiting.get(identity);
    if (line === undefined) this.#waiting.set(identity, [resolve]);
    else line.push(resolve);
  }

  /** Whoever is next takes over: it stays busy meanwhile. */
  #next(): void {
    const [first] = this.#waiting;
    this.#isBusy = first !== undefined;
    if (first === undefined) return;
    const [identity, line] = first;
    const next = line.shift();
    this.#waiting.delete(identity);
    if (line.length > 0) this.#waiting.set(identity, line);
    next?.();
  }

  #count(identity: string, more: 1 | -1): void {
    const count = (this.#counts.get(identity) ?? 0) + more;
    this.#taken += more;
    if (count === 0) this.#counts.delete(identity);
    else this.#counts.set(identity, count);
  }

  #tooMany(): TurnbuckleError {
    return new TurnbuckleError(
      'OVERLOADED',
      `Too many ${this.#options.what} wait already, of this token or of all.`,
      { hint: 'Wait for the answers to those, then try again.' },
    );
  }
}
