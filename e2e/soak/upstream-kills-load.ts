/** A constant load of calls to servers of a daemon; collects the failed calls. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SoakDaemon } from './attacks-daemon.js';

/** The duration of each call, so that a killed server always has calls in flight. */
const CALL_MS = 25;
const PAUSE_MS = 3;

export interface Loss {
  readonly server: string;
  readonly caller: number | string;
  readonly code: unknown;
  readonly error: unknown;
}

export class Load {
  answered = 0;
  readonly #daemon: SoakDaemon;
  readonly #callers: readonly Promise<void>[];
  #losses: Loss[] = [];
  #isOver = false;

  /** Starts `callersEach` callers for each server; each makes one call at a time, without a pause. */
  constructor(daemon: SoakDaemon, servers: readonly string[], callersEach: number) {
    this.#daemon = daemon;
    this.#callers = servers.flatMap((server) =>
      Array.from({ length: callersEach }, (_, caller) => this.#call(server, caller)),
    );
  }

  /** The failed calls since the last time this was called. */
  takeLosses(): readonly Loss[] {
    const losses = this.#losses;
    this.#losses = [];
    return losses;
  }

  /** Resolves when the last call has ended. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#callers);
  }

  async #call(server: string, caller: number): Promise<void> {
    const body = { server, tool_name: 'sleep', arguments: { ms: CALL_MS, everyMs: CALL_MS } };
    while (!this.#isOver) {
      const { json } = await this.#daemon.ask('/mcp/call', { body });
      if (json.success === true) {
        this.answered += 1;
        continue;
      }
      this.#losses.push({ server, caller, code: json.code, error: json.error });
      await delay(PAUSE_MS);
    }
  }
}
