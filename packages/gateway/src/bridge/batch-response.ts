/**
 * The response to several calls. Each result becomes text as it arrives and is sent as soon as those before it are sent,
 * so that only a few are held in memory, however many and large they are.
 */
import { once } from 'node:events';
import { writeJson } from 'turnbuckle/host';
import type { RequestContext } from '../http/request-context.js';
import { sendText, writeResponseHead } from '../http/response.js';

/** Up to this many characters the response is sent as a whole, when it is complete. */
const MAX_UNSTREAMED_CHARACTERS = 1_024 * 1_024;
/** While more than this waits to be sent, no further call starts. */
const MAX_BUFFERED_CHARACTERS = 4 * 1_024 * 1_024;
/** How long a client may read nothing while calls wait for it. */
const STALLED_MS = 60_000;

const DROPPED_RESULT = writeJson({
  success: false,
  error:
    'The call was made, but its result was dropped because this token or the daemon reached the memory limit for results.',
  code: 'OVERLOADED',
  hint: 'Request smaller results (a page, a range), or make fewer calls in one request.',
});

export class BatchResponse {
  readonly #context: RequestContext;
  /** Results that wait for one before them. */
  readonly #ready = new Map<number, string>();
  #next = 0;
  #held = 0;
  #hasStarted = false;
  #resolveFlushed: () => void = () => {};
  #flushed = this.#createFlushed();
  #draining: Promise<void> | undefined;

  constructor(context: RequestContext) {
    this.#context = context;
  }

  /** Resolves when the call at this index may start. */
  async waitForCapacity(index: number): Promise<void> {
    const { response } = this.#context;
    // The result that all others wait for waits only for its client.
    while (index !== this.#next && this.#held > MAX_BUFFERED_CHARACTERS && !response.destroyed)
      await this.#flushed;
    if (response.writableLength <= MAX_BUFFERED_CHARACTERS) return;
    // One listener for all calls that wait.
    this.#draining ??= this.#drained().finally(() => {
      this.#draining = undefined;
    });
    await this.#draining;
  }

  setResult(index: number, text: string): void {
    const { response, usage } = this.#context;
    if (response.destroyed) this.#ready.set(index, '');
    else if (usage.reserve(text.length)) {
      this.#held += text.length;
      this.#ready.set(index, text);
    } else this.#ready.set(index, DROPPED_RESULT);
    if (this.#hasStarted || this.#held > MAX_UNSTREAMED_CHARACTERS) this.#flush();
  }

  end(): void {
    const { response } = this.#context;
    if (response.destroyed) return;
    if (!this.#hasStarted) {
      const texts = Array.from(this.#ready.keys(), (_, index) => this.#ready.get(index) ?? DROPPED_RESULT);
      return sendText(response, 200, `{"results":[${texts.join(',')}]}`);
    }
    this.#flush();
    response.end(']}');
  }

  #flush(): void {
    const { response, usage } = this.#context;
    for (let text = this.#ready.get(this.#next); text !== undefined; text = this.#ready.get(this.#next)) {
      if (!response.destroyed) this.#write(text);
      this.#ready.delete(this.#next);
      if (text !== DROPPED_RESULT) {
        usage.release(text.length);
        this.#held -= text.length;
      }
      this.#next += 1;
    }
    const moved = this.#resolveFlushed;
    this.#flushed = this.#createFlushed();
    moved();
  }

  #write(text: string): void {
    const { response } = this.#context;
    if (!this.#hasStarted) writeResponseHead(response, 200, { 'content-type': 'application/json' });
    response.write(`${this.#hasStarted ? ',' : '{"results":['}${text}`);
    this.#hasStarted = true;
  }

  #createFlushed(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolveFlushed = resolve;
    });
  }

  async #drained(): Promise<void> {
    const { response } = this.#context;
    const over = new AbortController();
    const timer = setTimeout(() => response.destroy(), STALLED_MS);
    const either = [once(response, 'drain', over), once(response, 'close', over)];
    await Promise.race(either).catch(() => {});
    clearTimeout(timer);
    for (const one of either) one.catch(() => {});
    over.abort();
  }
}
