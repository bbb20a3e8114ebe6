/** Checks whether an open connection is alive: by its responses, or by a ping if none came for a while. */
import type { TurnbuckleError } from '../errors.js';
import { toTurnbuckleError } from '../errors.js';
import type { Link } from './link.js';

export interface HealthOptions {
  readonly pingMs: number;
  /** For timestamps. */
  readonly now: () => number;
  /** For durations. */
  readonly monotonicNow: () => number;
  /** Two pings in a row got no response. */
  readonly onDead: (error: TurnbuckleError) => void;
}

const PING_TIMEOUT_MS = 10_000;
const MAX_RECENT_ERRORS = 10;

export class Health {
  readonly #options: HealthOptions;
  #timer: NodeJS.Timeout | undefined;
  #link: Link | undefined;
  #lastAnswerAt: number | undefined;
  /** The same by the monotonic clock. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  #lastPing: { readonly at: number; readonly ok: boolean; readonly ms: number } | undefined;
  #missedPings = 0;
  #pendingPing: Promise<boolean> | undefined;
  #recentErrors: Array<{ readonly at: number; readonly code: string; readonly message: string }> = [];

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
    return this.#recentErrors;
  }

  answered(): void {
    const { now, monotonicNow } = this.#options;
    this.#lastAnswerAt = now();
    this.#answeredAt = monotonicNow();
    this.#missedPings = 0;
  }

  noteError({ code, message }: TurnbuckleError): void {
    this.#recentErrors = [...this.#recentErrors, { at: this.#options.now(), code, message }].slice(
      -MAX_RECENT_ERRORS,
    );
  }

  watch(link: Link): void {
    this.stop();
    this.#link = link;
    this.answered();
    const { pingMs, monotonicNow } = this.#options;
    if (pingMs === 0) return;
    this.#timer = setInterval(() => {
      if (monotonicNow() - this.#answeredAt >= pingMs) void this.ping();
    }, pingMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#link = undefined;
  }

  /** Pings now; true if a response came. Concurrent callers share one ping. */
  ping(): Promise<boolean> {
    this.#pendingPing ??= this.#sendPing().finally(() => {
      this.#pendingPing = undefined;
    });
    return this.#pendingPing;
  }

  async #sendPing(): Promise<boolean> {
    const link = this.#link;
    if (link === undefined) return false;
    // The newer revision has no ping: discover is sent instead.
    const method = link.era === 'modern' ? 'server/discover' : 'ping';
    const { pingMs, now, monotonicNow } = this.#options;
    const at = now();
    const started = monotonicNow();
    const timeoutMs = pingMs === 0 ? PING_TIMEOUT_MS : Math.min(pingMs, PING_TIMEOUT_MS);
    try {
      await link.lane.request({ method, params: {}, timeoutMs, maxTotalMs: timeoutMs });
    } catch (thrown) {
      const error = toTurnbuckleError(thrown);
      // An error is a response too.
      if (error.code !== 'SERVER_ERROR') {
        this.#lastPing = { at, ok: false, ms: monotonicNow() - started };
        return this.#onMissedPing(link, error);
      }
    }
    this.#lastPing = { at, ok: true, ms: monotonicNow() - started };
    this.answered();
    return true;
  }

  #onMissedPing(link: Link, error: TurnbuckleError): boolean {
    this.#missedPings += 1;
    this.noteError(error);
    if (this.#missedPings >= 2 && this.#link === link) this.#options.onDead(error);
    return false;
  }
}
