/** Polls the steward in each cycle: its news, its energy, and whether its own requests may go on. Never blocks the loop. */
import { cut, MAX_OUTPUT_CHARACTERS } from '../conversations/message.js';
import type { LoopParts } from './loop-parts.js';
import { NEWS_TYPES, type StewardLink, type StewardNews, type StewardReport } from './steward-link.js';
import { decideSteward, type StewardAction } from './steward-rule.js';

/** A steward that does not respond by then is polled again in a later cycle. */
const MAX_WAIT_MS = 250;
/** Cancelling takes a moment. */
const CANCEL_AGAIN_MS = 10_000;
const PAUSED_FACT = 'steward-paused';
/** What was used until then is deducted after a crash: it was the last moment of the agent before this one. */
const MARGIN_MS = 60_000;
const NO_WORK = { hasWork: false, hasOwnWork: false };

interface Past {
  /** Energy before this time cannot be told from what was recorded already. */
  readonly knownSince: number;
  /** When the agent last ran before it was started. */
  readonly ranUntil: number;
  readonly startedAt: number;
}

const NO_PAST: Past = { knownSince: 0, ranUntil: 0, startedAt: 0 };

export class StewardWatch {
  readonly #parts: LoopParts;
  readonly #steward: StewardLink | undefined;
  #isPaused: boolean | undefined;
  #work: Pick<StewardReport, 'hasWork' | 'hasOwnWork'> = NO_WORK;
  #past: Past | undefined;
  #readTo = 0;
  #polling: Promise<void> | undefined;
  #acting: Promise<void> | undefined;
  #cancelledAt: number | undefined;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#steward = parts.steward;
  }

  /** As it was at the last poll. */
  get hasWork(): boolean {
    return this.#work.hasWork;
  }

  get isPaused(): boolean {
    return this.#isPaused ?? false;
  }

  get isPresent(): boolean {
    return this.#steward !== undefined;
  }

  /** News and energy go to the store. */
  async poll(): Promise<void> {
    const steward = this.#steward;
    if (steward === undefined) return;
    this.#polling ??= this.#poll(steward)
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#polling = undefined;
      });
    await orSoon(this.#polling);
  }

  /** Applies the rule for low energy, to what the agent has asked for itself. */
  async regulate(level: number): Promise<void> {
    const steward = this.#steward;
    if (steward === undefined || this.#acting !== undefined) return;
    this.#isPaused ??= (await this.#parts.store.run('fact', PAUSED_FACT)) === 'yes';
    const { regulator, lowEnergy: way } = this.#parts.config();
    const { isPaused } = this;
    const { hasOwnWork: hasWork } = this.#work;
    const action = decideSteward({ level, floor: regulator.floor, hasWork, isPaused, way });
    if (action === 'continue' || (action === 'cancel' && this.#wasJustCancelled())) return;
    this.#acting = this.#act(steward, action)
      .then(() => this.#parts.publish('agent.steward', { action, level }))
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#acting = undefined;
      });
    await orSoon(this.#acting);
  }

  /** Until all news are read. */
  async #poll(steward: StewardLink): Promise<void> {
    const { config } = this.#parts;
    this.#past ??= await this.#readPast();
    for (let isDone = false; !isDone; ) {
      const { caller } = config();
      const report = await steward.poll({ caller, types: NEWS_TYPES, after: this.#readTo });
      const { news, energy, readTo } = report;
      this.#work = report;
      await this.#record(steward, energy);
      await this.#note(news, readTo);
      this.#readTo = readTo;
      isDone = news.length === 0;
    }
  }

  /** Asked for at once, before this cycle deducts anything. */
  async #readPast(): Promise<Past> {
    const { store, clock } = this.#parts;
    const startedAt = clock.now();
    const [readTo, knownSince, state] = await Promise.all([
      store.run('newsReadTo'),
      store.run('energyKnownSince'),
      store.run('energyState'),
    ]);
    this.#readTo = readTo;
    const ranUntil = state === undefined ? 0 : state.at + MARGIN_MS;
    return { knownSince, ranUntil, startedAt };
  }

  /** Not what the steward used while there was no agent: it would have been replenished since. */
  #isCharged(at: number): boolean {
    const { knownSince, ranUntil, startedAt } = this.#past ?? NO_PAST;
    return at >= knownSince && (at <= ranUntil || at >= startedAt);
  }

  async #record(steward: StewardLink, energy: StewardReport['energy']): Promise<void> {
    const { store, clock } = this.#parts;
    const at = clock.now();
    if (energy.length === 0) return;
    const rows = energy
      .filter((row) => this.#isCharged(row.at))
      .map(
        ({ ref, thousandths }) => ({ ref: `steward:${ref}`, thousandths, source: 'steward', at }) as const,
      );
    if (rows.length > 0) await store.run('recordEnergy', rows);
    await steward.confirmEnergy(energy.map(({ ref }) => ref));
  }

  async #note(news: readonly StewardNews[], readTo: number): Promise<void> {
    const { store, clock, publish } = this.#parts;
    if (news.length === 0) return;
    const notes = news.map((one) => ({ requestId: one.requestId, text: this.#noteOf(one) }));
    for (const conversation of await store.run('addNews', notes, readTo, clock.now()))
      publish('agent.conversation', { conversation });
  }

  #noteOf({ type, requestId, data }: StewardNews): string {
    const text = cut(JSON.stringify(data) ?? '', MAX_OUTPUT_CHARACTERS);
    const redacted = String(this.#parts.runtime.redact(text));
    return cut(`Request ${requestId}: ${type}. ${redacted}`, MAX_OUTPUT_CHARACTERS);
  }

  /** That it was paused is stored first: a process that dies must not leave it paused forever. */
  async #act(steward: StewardLink, action: StewardAction): Promise<void> {
    const { caller } = this.#parts.config();
    if (action === 'resume') {
      await steward.resume();
      await this.#setPaused(false);
    } else if (action === 'pause') {
      await this.#setPaused(true);
      await steward.pause(caller);
    } else {
      this.#cancelledAt = this.#parts.clock.now();
      await steward.cancelAllOf(caller, 'the agent has too little energy');
    }
  }

  #wasJustCancelled(): boolean {
    const { clock } = this.#parts;
    return this.#cancelledAt !== undefined && clock.now() - this.#cancelledAt < CANCEL_AGAIN_MS;
  }

  async #setPaused(isPaused: boolean): Promise<void> {
    await this.#parts.store.run('setFact', PAUSED_FACT, isPaused ? 'yes' : 'no');
    this.#isPaused = isPaused;
  }

  #failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#parts.publish('agent.failed', { code: 'INTERNAL', message: `The steward failed: ${message}` });
  }
}

/** A guard against waiting, so it is a timer of the system and not of the loop's clock. */
async function orSoon(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const soon = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, MAX_WAIT_MS);
  });
  await Promise.race([work, soon]);
  clearTimeout(timer);
}
