/** Counts what a server says in vain, so that it can be seen: each kind at once when it begins, then at most every second. */

/**
 * noise: no JSON-RPC, such as a log line on stdout; malformed: JSON-RPC that breaks its own rules; too-deep: nested
 * beyond the limit; unasked: an answer that nobody waits for, a second one among them, or a large message that
 * nobody asked for; too-large: over the size limit, and no answer to anything.
 */
export type IgnoredReason = 'noise' | 'malformed' | 'too-deep' | 'unasked' | 'too-large';

export type IgnoredCounts = Readonly<Record<IgnoredReason, number>>;

const TELL_MS = 1_000;

export class IgnoredMessages {
  readonly #counts: Record<IgnoredReason, number> = {
    noise: 0,
    malformed: 0,
    'too-deep': 0,
    unasked: 0,
    'too-large': 0,
  };
  readonly #untold = new Map<IgnoredReason, number>();
  readonly #tell: (reason: IgnoredReason, count: number) => void;

  constructor(tell: (reason: IgnoredReason, count: number) => void) {
    this.#tell = tell;
  }

  get counts(): IgnoredCounts {
    return { ...this.#counts };
  }

  note(reason: IgnoredReason): void {
    this.#counts[reason] += 1;
    const untold = this.#untold.get(reason);
    if (untold !== undefined) return void this.#untold.set(reason, untold + 1);
    this.#untold.set(reason, 0);
    this.#tell(reason, 1);
    setTimeout(() => this.#turn(reason), TELL_MS).unref();
  }

  #turn(reason: IgnoredReason): void {
    const untold = this.#untold.get(reason) ?? 0;
    this.#untold.delete(reason);
    if (untold === 0) return;
    this.#untold.set(reason, 0);
    this.#tell(reason, untold);
    setTimeout(() => this.#turn(reason), TELL_MS).unref();
  }
}
