/**
 * Agents whose calls to one server all timed out or ended the server, with no response to any of them in between. Such
 * an agent is rejected for a while, and only this one: its calls may be what blocks the server, if the server calls
 * back into this program, or what makes it crash.
 */
const CALLS_BEFORE_COOLDOWN = 5;
export const COOLDOWN_MS = 10_000;
const MAX_CALLERS = 1_000;

export class CallerCooldowns {
  readonly #callers = new Map<string, { count: number; until: number }>();

  isCoolingDown(who: string, now: number): boolean {
    return (this.#callers.get(who)?.until ?? 0) > now;
  }

  /** A call of it got no response. */
  recordSilence(who: string, now: number): void {
    const { count = 0, until = 0 } = this.#callers.get(who) ?? {};
    const [oldest] = this.#callers.keys();
    if (this.#callers.size >= MAX_CALLERS && oldest !== undefined) this.#callers.delete(oldest);
    this.#callers.set(who, {
      count: count + 1,
      until: count + 1 >= CALLS_BEFORE_COOLDOWN ? now + COOLDOWN_MS : until,
    });
  }

  recordAnswer(who: string): void {
    this.#callers.delete(who);
  }
}
