/**
 * The tools of a connection of one agent or session, by their names there. They are in no list: who calls over it is held
 * to them.
 */
import type { Link } from '../connection/link.js';
import type { RuntimeEvents } from '../events.js';
import { Relisting } from './relisting.js';
import type { CatalogTool } from './tool.js';

type ReadReason = RuntimeEvents['catalog.read']['reason'];

export interface ToolsRead {
  readonly tools: ReadonlyMap<string, CatalogTool>;
  /** Others noticed that they were read. */
  readonly isDear: boolean;
}

export interface ToolsApartOptions {
  readonly now: () => number;
  readonly read: (link: Link, reason: ReadReason) => Promise<ToolsRead>;
  /** The live link, if there is one now. */
  readonly link: () => Link | undefined;
  /** They could not be read again: what they are is not known any more. */
  readonly onFailed: (link: Link, error: unknown) => void;
}

export class ToolsApart {
  readonly #options: ToolsApartOptions;
  readonly #relisting: Relisting;
  #tools: ReadonlyMap<string, CatalogTool> | undefined;
  #running: { readonly link: Link; done: Promise<void> } | undefined;

  constructor(options: ToolsApartOptions) {
    this.#options = options;
    this.#relisting = new Relisting({ now: options.now, running: () => this.#running?.done });
  }

  /** Undefined until they have been read. */
  get tools(): ReadonlyMap<string, CatalogTool> | undefined {
    return this.#tools;
  }

  /** Reads them now; of readings from two links, that counts which began last. */
  read(link: Link, reason: ReadReason): Promise<void> {
    if (this.#running?.link === link) return this.#running.done;
    const own = { link, done: Promise.resolve() };
    this.#running = own;
    const isCurrent = (): boolean => this.#running === own;
    own.done = this.#options
      .read(link, reason)
      .then(({ tools, isDear }) => {
        if (reason === 'changed') this.#relisting.noteReading(isDear);
        if (isCurrent()) this.#tools = tools;
      })
      .finally(() => {
        if (isCurrent()) this.#running = undefined;
      });
    return own.done;
  }

  noteChange(): void {
    this.#relisting.noteChange(async () => {
      const link = this.#options.link();
      if (link === undefined) return;
      await this.read(link, 'changed').catch((error: unknown) => {
        this.#relisting.noteReading(true);
        this.#options.onFailed(link, error);
      });
    });
  }
}
