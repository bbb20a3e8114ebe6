/** Whether a live connection is really alive: proved by answers, asked for when none came for a while. */
import type { TurnbuckleError } from '../errors.js';
import { toTurnbuckleError } from '../errors.js';
import type { Link } from './link.js';

export interface HealthOptions {
  readonly pingMs: number;
  readonly now: () => number;
  /** Two pings in a row went unanswered. */
  readonly onDead: (error: TurnbuckleError) => void;
}

const PING_TIMEOUT_MS = 10_000;
const MAX_RECENT = 10;

export class Health {
  readonly #options: HealthOptions;
  #timer: NodeJS.Timeout | undefined;
  #link: Link | undefined;
  #lastAnswerAt: number | undefined;
  #lastPing: { readonly at: number; readonly ok: boolean; readonly ms: number } | undefined;
  #missed = 0;
  #asking: Promise<boolean> | undefined;
  #recent: Array<{ readonly at: number; readonly code: string; readonly message: string }> = [];

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  get lastPing(): { readonly at: number; readonly ok: boolean; readonly ms: number } | undefined {
    return this.#lastPing;
  }

  get lastAnswerAt(): number | undefined {
    return this.#lastAnswerAt;
  }

  get recentErrors(): ReadonlyArray<{
    readonly at: number;
    readonly code: string;
    readonly message: string;
  }> {
    return this.#recent;
  }

  answered(): void {
    this.#lastAnswerAt = this.#options.now();
    this.#missed = 0;
  }

  noteError({ code, message }: TurnbuckleError): void {
    this.#recent = [...this.#recent, { at: this.#options.now(), code, message }].slice(-MAX_RECENT);
  }

  watch(link: Link): void {
    this.stop();
    this.#link = link;
    this.answered();
    const { pingMs, now } = this.#options;
    if (pingMs === 0) return;
    this.#timer = setInterval(() => {
      if (now() - (this.#lastAnswerAt ?? 0) >= pingMs) void this.ping();
    }, pingMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#link = undefined;
  }

  /** Asks for a sign of life now; true when one came. One question at a time, shared by all who want to know. */
  ping(): Promise<boolean> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<boolean> {
    const link = this.#link;
    if (link === undefined) return false;
    // The newer revision has no ping: it is asked who it is.
    const method = link.era === 'modern' ? 'server/discover' : 'ping';
    const { pingMs, now } = this.#options;
    const at = now();
    const timeoutMs = pingMs === 0 ? PING_TIMEOUT_MS : Math.min(pingMs, PING_TIMEOUT_MS);
    try {
      await link.lane.request({ method, params: {}, timeoutMs, maxTotalMs: timeoutMs });
    } catch (thrown) {
      const error = toTurnbuckleError(thrown);
      // An error is an answer too: somebody is there.
      if (error.code !== 'SERVER_ERROR') return this.#miss(link, error, at);
    }
    this.#lastPing = { at, ok: true, ms: this.#options.now() - at };
    this.answered();
    return true;
  }

  #miss(link: Link, error: TurnbuckleError, at: number): boolean {
    this.#lastPing = { at, ok: false, ms: this.#options.now() - at };
    this.#missed += 1;
    this.noteError(error);
    if (this.#missed >= 2 && this.#link === link) this.#options.onDead(error);
    return false;
  }
}
