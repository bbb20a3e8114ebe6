/**
 * The answer to several calls. Each becomes text as it comes and leaves as soon as those before it have left, so that
 * what is held is never more than a few of them, however many and large they are.
 */
import { once } from 'node:events';
import { writeJson } from 'turnbuckle';
import { beginAnswer, sendText } from '../http/answer.js';
import type { Visit } from '../http/visit.js';

/** Up to so many characters it is sent as a whole, when it is complete. */
const SMALL = 1_024 * 1_024;
/** While more than that waits to leave, no further call begins. */
const MAX_READY = 4 * 1_024 * 1_024;
/** How long a client may read nothing while calls wait for it. */
const STALLED_MS = 60_000;

const NO_ROOM = writeJson({
  success: false,
  error: 'The call was made, and its answer was dropped: too much is in memory, of this token or in all.',
  code: 'OVERLOADED',
  hint: 'Ask for smaller answers (a page, a range), or for fewer at once.',
});

export class BatchAnswer {
  readonly #visit: Visit;
  /** Those that wait for one before them. */
  readonly #ready = new Map<number, string>();
  #next = 0;
  #held = 0;
  #isBegun = false;
  #moved: () => void = () => {};
  #moving = this.#newMove();

  constructor(visit: Visit) {
    this.#visit = visit;
  }

  /** Resolves when the call at this place may begin. */
  async room(index: number): Promise<void> {
    const { response } = this.#visit;
    // The one that all others wait for waits for its client only.
    while (index !== this.#next && this.#held > MAX_READY && !response.destroyed) await this.#moving;
    if (response.writableLength > MAX_READY) await this.#drained();
  }

  put(index: number, text: string): void {
    const { response, place } = this.#visit;
    if (response.destroyed) this.#ready.set(index, '');
    else if (place.hold(text.length)) {
      this.#held += text.length;
      this.#ready.set(index, text);
    } else this.#ready.set(index, NO_ROOM);
    if (this.#isBegun || this.#held > SMALL) this.#flush();
  }

  end(): void {
    const { response } = this.#visit;
    if (response.destroyed) return;
    if (!this.#isBegun) {
      const texts = Array.from(this.#ready.keys(), (_, index) => this.#ready.get(index) ?? NO_ROOM);
      return sendText(response, 200, `{"results":[${texts.join(',')}]}`);
    }
    this.#flush();
    response.end(']}');
  }

  #flush(): void {
    const { response, place } = this.#visit;
    for (let text = this.#ready.get(this.#next); text !== undefined; text = this.#ready.get(this.#next)) {
      if (!response.destroyed) this.#write(text);
      this.#ready.delete(this.#next);
      if (text !== NO_ROOM) {
        place.letGo(text.length);
        this.#held -= text.length;
      }
      this.#next += 1;
    }
    const moved = this.#moved;
    this.#moving = this.#newMove();
    moved();
  }

  #write(text: string): void {
    const { response } = this.#visit;
    if (!this.#isBegun) beginAnswer(response, 200, { 'content-type': 'application/json' });
    response.write(`${this.#isBegun ? ',' : '{"results":['}${text}`);
    this.#isBegun = true;
  }

  #newMove(): Promise<void> {
    return new Promise((resolve) => {
      this.#moved = resolve;
    });
  }

  async #drained(): Promise<void> {
    const { response } = this.#visit;
    const over = new AbortController();
    const timer = setTimeout(() => response.destroy(), STALLED_MS);
    const either = [once(response, 'drain', over), once(response, 'close', over)];
    await Promise.race(either).catch(() => {});
    clearTimeout(timer);
    for (const one of either) one.catch(() => {});
    over.abort();
  }
}
