/** Starts the parts of the daemon one after the other, and ends them in the opposite order. */
import { join } from 'node:path';
import type { ApiRoute } from '../http/api-route.js';
import { internalError } from '../incidents/watch-runtime.js';
import type { DaemonPart, PartContext, RunningPart } from './part.js';
import { PartEventFeed } from './part-events.js';

export type PartSurroundings = Omit<PartContext, 'publish' | 'onConfigChanged' | 'workFile'>;

export class RunningParts {
  readonly events = new PartEventFeed();
  readonly #surroundings: PartSurroundings;
  readonly #running: RunningPart[] = [];
  readonly #listeners = new Set<() => void>();

  constructor(surroundings: PartSurroundings) {
    this.#surroundings = surroundings;
  }

  /** A part that cannot start is reported, and the others start. */
  async start(parts: readonly DaemonPart[]): Promise<void> {
    for (const part of parts) {
      this.events.declare(part.events);
      try {
        this.#running.push(await part.start(this.#contextOf()));
      } catch (error) {
        this.#surroundings.report(internalError(error, `while the part "${part.name}" was starting`));
      }
    }
  }

  get routes(): readonly ApiRoute[] {
    return this.#running.flatMap(({ routes }) => routes);
  }

  /** The configuration has changed. */
  onConfigChanged(): void {
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        this.#surroundings.report(internalError(error, 'while the configuration was being applied'));
      }
    }
  }

  async close(): Promise<void> {
    for (const part of [...this.#running].reverse())
      await part.close().catch((error: unknown) => {
        this.#surroundings.report(internalError(error, 'while the daemon was stopping'));
      });
  }

  #contextOf(): PartContext {
    return {
      ...this.#surroundings,
      workFile: join(this.#surroundings.stateDir, 'work.db'),
      publish: (name, data) => this.events.publish(name, data),
      onConfigChanged: (listener) => {
        this.#listeners.add(listener);
        return () => void this.#listeners.delete(listener);
      },
    };
  }
}
