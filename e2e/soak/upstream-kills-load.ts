/** Calls that are always on their way to some servers of a daemon, and what became of those that failed. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SoakDaemon } from './attacks-daemon.js';

/** How long each call stays on its way, so that whoever dies takes some along. */
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

  /** So many callers for each server; each has one call on its way, and the next one as soon as that has ended. */
  constructor(daemon: SoakDaemon, servers: readonly string[], callersEach: number) {
    this.#daemon = daemon;
    this.#callers = servers.flatMap((server) =>
      Array.from({ length: callersEach }, (_, caller) => this.#call(server, caller)),
    );
  }

  /** What failed since it was last asked. */
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
