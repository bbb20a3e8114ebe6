/** Polls the steward in each cycle: its news, its energy, and whether its work may go on. Never blocks the loop. */
import { toThousandths } from 'turnbuckle/light';
import { cut, MAX_OUTPUT_CHARACTERS } from '../conversations/message.js';
import type { Consumption } from '../energy/ledger.js';
import type { LoopParts } from './loop-parts.js';
import type { StewardLink, StewardNews } from './steward-link.js';
import { decideSteward, type StewardAction } from './steward-rule.js';

/** A steward that does not respond by then is polled again in a later cycle. */
const MAX_WAIT_MS = 250;
const MAX_NEWS = 100;
/** Cancelling takes a moment. */
const CANCEL_AGAIN_MS = 10_000;
const PAUSED_FACT = 'steward-paused';
/** What the agent should know at once; progress it can ask for. */
const NOTED = new Set(['completion', 'error', 'tool_available']);

export class StewardWatch {
  readonly #parts: LoopParts;
  readonly #steward: StewardLink | undefined;
  #isPaused: boolean | undefined;
  #polling: Promise<void> | undefined;
  #acting: Promise<void> | undefined;
  #cancelledAt: number | undefined;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#steward = parts.steward;
  }

  get hasWork(): boolean {
    return this.#steward?.hasActiveWork() ?? false;
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

  /** Applies the rule for low energy. */
  async regulate(level: number): Promise<void> {
    const steward = this.#steward;
    if (steward === undefined || this.#acting !== undefined) return;
    this.#isPaused ??= (await this.#parts.store.run('fact', PAUSED_FACT)) === 'yes';
    const { regulator, lowEnergy: way } = this.#parts.config();
    const facts = { level, floor: regulator.floor, hasWork: this.hasWork, isPaused: this.isPaused, way };
    const action = decideSteward(facts);
    if (action === 'continue' || (action === 'cancel' && this.#wasJustCancelled())) return;
    this.#acting = this.#act(steward, action)
      .then(() => this.#parts.publish('agent.steward', { action, level }))
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#acting = undefined;
      });
    await orSoon(this.#acting);
  }

  async #poll(steward: StewardLink): Promise<void> {
    const news = steward.pollMessages().slice(0, MAX_NEWS);
    for (const one of news) if (NOTED.has(one.type)) await this.#note(one);
    if (steward.unconfirmedEnergy !== undefined && steward.confirmEnergy !== undefined) {
      const rows = await steward.unconfirmedEnergy();
      await this.#record(rows.map(({ ref, thousandths }) => ({ ref: `steward:${ref}`, thousandths })));
      if (rows.length > 0) await steward.confirmEnergy(rows.map(({ ref }) => ref));
      return;
    }
    const thousandths = toThousandths(await steward.getSubAgentEnergyConsumption());
    if (thousandths > 0) await this.#record([{ ref: `steward:poll-${this.#parts.createId()}`, thousandths }]);
  }

  async #record(rows: readonly Pick<Consumption, 'ref' | 'thousandths'>[]): Promise<void> {
    const at = this.#parts.clock.now();
    if (rows.length === 0) return;
    await this.#parts.store.run(
      'recordEnergy',
      rows.map((row) => ({ ...row, source: 'steward', at })),
    );
  }

  async #note({ type, requestId, data }: StewardNews): Promise<void> {
    const { store, runtime, clock, publish } = this.#parts;
    const text = cut(JSON.stringify(data) ?? '', MAX_OUTPUT_CHARACTERS);
    const note = cut(`Request ${requestId}: ${type}. ${String(runtime.redact(text))}`, MAX_OUTPUT_CHARACTERS);
    const conversation = await store.run('addNote', requestId, note, clock.now());
    if (conversation !== undefined) publish('agent.conversation', { conversation });
  }

  /** That it was paused is stored first: a process that dies must not leave it paused forever. */
  async #act(steward: StewardLink, action: StewardAction): Promise<void> {
    if (action === 'resume') {
      await steward.resume();
      await this.#setPaused(false);
    } else if (action === 'pause') {
      await this.#setPaused(true);
      await steward.pause();
    } else await this.#cancel(steward);
  }

  #wasJustCancelled(): boolean {
    const { clock } = this.#parts;
    return this.#cancelledAt !== undefined && clock.now() - this.#cancelledAt < CANCEL_AGAIN_MS;
  }

  async #cancel(steward: StewardLink): Promise<void> {
    this.#cancelledAt = this.#parts.clock.now();
    if (steward.cancelAll !== undefined) return steward.cancelAll();
    const requests = await this.#parts.store.run('linkedRequests');
    for (const id of requests)
      await steward.cancelRequest(id, 'The agent has too little energy.').catch(() => {});
    // What the agent did not ask for cannot be cancelled one by one.
    if (!steward.hasActiveWork()) return;
    await this.#setPaused(true);
    await steward.pause();
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
