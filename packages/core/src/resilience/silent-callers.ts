/**
 * Agents whose calls to one server all ran out of time, with no answer to any of them in between. Such an agent is left
 * out for a while, and no other: its calls may be what keeps the server waiting, where that leads back to this program.
 */
const MANY = 5;
const REST_MS = 10_000;
const MAX_KNOWN = 1_000;

export class SilentCallers {
  readonly #known = new Map<string, { count: number; until: number }>();

  isResting(who: string, now: number): boolean {
    return (this.#known.get(who)?.until ?? 0) > now;
  }

  noteSilence(who: string, now: number): void {
    const { count = 0, until = 0 } = this.#known.get(who) ?? {};
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(who, { count: count + 1, until: count + 1 >= MANY ? now + REST_MS : until });
  }

  noteAnswer(who: string): void {
    this.#known.delete(who);
  }
}
