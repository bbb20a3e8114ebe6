/** Failures of the model in a row: when to try again, and when to tell the user. */
import type { ChatModel } from '@turnbuckle/model';
import type { TurnbuckleError } from 'turnbuckle';

export type ModelFailure = Pick<TurnbuckleError, 'code' | 'message' | 'hint' | 'retryable'>;

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** From then on a user is told, and the agent waits for the next message. */
const TELL_AFTER = 3;

export class ModelFailures {
  #count = 0;
  #until = 0;
  #last: ModelFailure | undefined;
  #model: ChatModel | undefined;

  /** Until the model answers, or is replaced. */
  get last(): ModelFailure | undefined {
    return this.#last;
  }

  /** Another model, such as after a change of its settings, has not failed yet. */
  follow(model: ChatModel): void {
    if (model !== this.#model) this.reset();
    this.#model = model;
  }

  /** What is left of the pause. A clock that was set back does not make it longer. */
  pauseMs(now: number): number {
    const left = this.#until - now;
    return left > MAX_PAUSE_MS ? 0 : Math.max(left, 0);
  }

  /** True if the user is to be told: it cannot heal by itself, or it happened several times. */
  add(now: number, failure: ModelFailure): boolean {
    this.#last = failure;
    this.#count += 1;
    this.#until = now + Math.min(FIRST_PAUSE_MS * 2 ** (this.#count - 1), MAX_PAUSE_MS);
    return !failure.retryable || this.#count >= TELL_AFTER;
  }

  reset(): void {
    this.#last = undefined;
    this.#count = 0;
    this.#until = 0;
  }
}
