/**
 * Counts ignored messages of a server, so that they are visible: the first of each kind is reported immediately, then
 * at most once per second.
 */

/**
 * noise: not JSON-RPC, such as a log line on stdout; malformed: invalid JSON-RPC; too-deep: nested beyond the limit;
 * unasked: an unexpected or duplicate response, or a large unrequested message; too-large: over the size limit, and
 * not a response.
 */
export type IgnoredReason = 'noise' | 'malformed' | 'too-deep' | 'unasked' | 'too-large';

export type IgnoredCounts = Readonly<Record<IgnoredReason, number>>;

const REPORT_INTERVAL_MS = 1_000;

export class IgnoredMessages {
  readonly #counts: Record<IgnoredReason, number> = {
    noise: 0,
    malformed: 0,
    'too-deep': 0,
    unasked: 0,
    'too-large': 0,
  };
  readonly #unreported = new Map<IgnoredReason, number>();
  readonly #report: (reason: IgnoredReason, count: number) => void;

  constructor(tell: (reason: IgnoredReason, count: number) => void) {
    this.#report = tell;
  }

  get counts(): IgnoredCounts {
    return { ...this.#counts };
  }

  note(reason: IgnoredReason): void {
    this.#counts[reason] += 1;
    const untold = this.#unreported.get(reason);
    if (untold !== undefined) return void this.#unreported.set(reason, untold + 1);
    this.#unreported.set(reason, 0);
    this.#report(reason, 1);
    setTimeout(() => this.#reportPending(reason), REPORT_INTERVAL_MS).unref();
  }

  #reportPending(reason: IgnoredReason): void {
    const untold = this.#unreported.get(reason) ?? 0;
    this.#unreported.delete(reason);
    if (untold === 0) return;
    this.#unreported.set(reason, 0);
    this.#report(reason, untold);
    setTimeout(() => this.#reportPending(reason), REPORT_INTERVAL_MS).unref();
  }
}
