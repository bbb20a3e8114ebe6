/**
 * The tools of a dedicated connection, by their original names. They are in no list, but calls on this connection are
 * validated against them.
 */
import type { Link } from '../connection/link.js';
import type { RuntimeEvents } from '../events.js';
import { RelistScheduler } from './relist-scheduler.js';
import type { CatalogTool } from './tool.js';

type ReadReason = RuntimeEvents['catalog.read']['reason'];

export interface ToolsRead {
  readonly tools: ReadonlyMap<string, CatalogTool>;
  /** Whether reading them took long enough to affect others. */
  readonly isExpensive: boolean;
}

export interface DedicatedToolsOptions {
  /** From a monotonic clock. */
  readonly now: () => number;
  readonly read: (link: Link, reason: ReadReason) => Promise<ToolsRead>;
  /** The open link, if there is one. */
  readonly link: () => Link | undefined;
  /** Called when they could not be read again: they are unknown now. */
  readonly onFailed: (link: Link, error: unknown) => void;
}

export class DedicatedTools {
  readonly #options: DedicatedToolsOptions;
  readonly #relistScheduler: RelistScheduler;
  #tools: ReadonlyMap<string, CatalogTool> | undefined;
  #pendingRead: { readonly link: Link; done: Promise<void> } | undefined;

  constructor(options: DedicatedToolsOptions) {
    this.#options = options;
    this.#relistScheduler = new RelistScheduler({ now: options.now, running: () => this.#pendingRead?.done });
  }

  /** Undefined until they have been read. */
  get tools(): ReadonlyMap<string, CatalogTool> | undefined {
    return this.#tools;
  }

  /** Reads them now; if two links are read, the reading that started last counts. */
  read(link: Link, reason: ReadReason): Promise<void> {
    if (this.#pendingRead?.link === link) return this.#pendingRead.done;
    const own = { link, done: Promise.resolve() };
    this.#pendingRead = own;
    const isCurrent = (): boolean => this.#pendingRead === own;
    own.done = this.#options
      .read(link, reason)
      .then(({ tools, isExpensive }) => {
        if (reason === 'changed') this.#relistScheduler.recordRead(isExpensive);
        if (isCurrent()) this.#tools = tools;
      })
      .finally(() => {
        if (isCurrent()) this.#pendingRead = undefined;
      });
    return own.done;
  }

  onListChanged(): void {
    this.#relistScheduler.schedule(async () => {
      const link = this.#options.link();
      if (link === undefined) return;
      await this.read(link, 'changed').catch((error: unknown) => {
        this.#relistScheduler.recordRead(true);
        this.#options.onFailed(link, error);
      });
    });
  }
}
