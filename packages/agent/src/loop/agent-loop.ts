/** The loop: cycle after cycle, until it is stopped. It waits when there is nothing to do, and any message wakes it. */

import type { LoopParts } from './loop-parts.js';
import { CycleRunner } from './run-cycle.js';
import { StewardWatch } from './steward-watch.js';
import { ToolCalls } from './tool-calls.js';

/** After an error of our own, such as a full disk. */
const RETRY_MS = 1_000;
const MAX_WAIT_MS = 3_600_000;

export class AgentLoop {
  readonly #parts: LoopParts;
  readonly #calls: ToolCalls;
  readonly #watch: StewardWatch;
  readonly #runner: CycleRunner;
  readonly #stopping = new AbortController();
  #wake = new AbortController();
  #running: Promise<void> | undefined;
  #cycles = 0;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#calls = new ToolCalls(parts, (conversation) => {
      parts.publish('agent.conversation', { conversation });
      this.wake();
    });
    this.#watch = new StewardWatch(parts);
    this.#runner = new CycleRunner({ ...parts, watch: this.#watch, calls: this.#calls });
  }

  get status() {
    return {
      level: this.#runner.level,
      failure: this.#runner.failure,
      cycles: this.#cycles,
      runningCalls: this.#calls.count,
      steward: { hasWork: this.#watch.hasWork, isPaused: this.#watch.isPaused },
    };
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** The conversation has ended: nobody has to answer for it. */
  cancelWaitingCalls(conversation: string): void {
    this.#calls.cancelWaiting(conversation);
  }

  /** Something happened: the next cycle begins now. */
  wake(): void {
    this.#wake.abort();
  }

  /** Ends the step in progress without an effect, and cancels the calls. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#running;
    await this.#calls.stop();
  }

  /** One cycle, for simulations: how long to wait before the next one; undefined: until something happens. */
  async cycle(): Promise<number | undefined> {
    this.#cycles += 1;
    return (await this.#runner.run(this.#stopping.signal)).waitMs;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      // Before the cycle looks: what happens from now on begins another one.
      this.#wake = new AbortController();
      const waitMs = await this.cycle().catch((error: unknown) => this.#failed(error));
      if (this.#stopping.signal.aborted || waitMs === 0) continue;
      await this.#parts.clock.wait(Math.min(waitMs ?? MAX_WAIT_MS, MAX_WAIT_MS), this.#wake.signal);
    }
  }

  #failed(error: unknown): number {
    const message = error instanceof Error ? error.message : String(error);
    if (!this.#stopping.signal.aborted) this.#parts.publish('agent.failed', { code: 'INTERNAL', message });
    return RETRY_MS;
  }
}
