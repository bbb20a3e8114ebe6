/**
 * Servers that are given in a request instead of the configuration: connected when first named, kept while
 * they are used, ended when they are not. A runtime of their own keeps them out of everybody's catalog.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import {
  type Caller,
  createRuntime,
  type Runtime,
  type RuntimeOptions,
  type ServerInput,
  TurnbuckleError,
} from 'turnbuckle';
import { OWNER } from '../tokens/token-store.js';

export interface InlineEndpoint {
  readonly url?: string | undefined;
  readonly transport?: string | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface InlineRules {
  /** Commands, word for word. */
  readonly commands: ReadonlyArray<readonly string[]>;
  /** Addresses that every caller may name. */
  readonly urls: readonly string[];
}

const IDLE_MS = 60_000;
const MOST_SERVERS = 50;

export class InlineServers {
  readonly #options: RuntimeOptions;
  readonly #rules: () => InlineRules;
  readonly #onOpened: (runtime: Runtime) => void;
  readonly #servers = new Map<string, ServerInput>();
  #runtime: Promise<Runtime> | undefined;
  #setting: Promise<unknown> = Promise.resolve();

  /** `onOpened` is told of the runtime when there is one, before it is used. */
  constructor(options: RuntimeOptions, rules: () => InlineRules, onOpened: (runtime: Runtime) => void) {
    this.#options = options;
    this.#rules = rules;
    this.#onOpened = onOpened;
  }

  /** The runtime that has it, and its name there. Throws ACCESS_DENIED or ARGUMENTS_INVALID. */
  async open(
    endpoint: InlineEndpoint,
    caller: Caller,
  ): Promise<{ readonly runtime: Runtime; readonly server: string }> {
    const config = this.#toConfig(endpoint, caller);
    const server = nameOf(endpoint, config);
    const runtime = await this.#open();
    const isNew = !this.#servers.delete(server);
    this.#servers.set(server, config);
    if (isNew) {
      // The one that was named longest ago makes room.
      const [oldest] = this.#servers.keys();
      if (this.#servers.size > MOST_SERVERS && oldest !== undefined) this.#servers.delete(oldest);
      const all = Object.fromEntries(this.#servers);
      const setting = this.#setting.then(() => runtime.setServers(all));
      // One that fails is told to who waits for it, not to all who come later.
      this.#setting = setting.catch(() => void this.#servers.delete(server));
      await setting;
    }
    await this.#setting;
    return { runtime, server };
  }

  async close(): Promise<void> {
    await (await this.#runtime)?.close();
  }

  #open(): Promise<Runtime> {
    this.#runtime ??= this.#createRuntime().catch((error: unknown) => {
      this.#runtime = undefined;
      throw error;
    });
    return this.#runtime;
  }

  async #createRuntime(): Promise<Runtime> {
    const limits = { ...this.#options.limits, maxServers: MOST_SERVERS };
    const runtime = await createRuntime({ ...this.#options, limits });
    this.#onOpened(runtime);
    return runtime;
  }

  #toConfig({ url, transport, command, args = [], headers }: InlineEndpoint, caller: Caller): ServerInput {
    const shared = { start: 'lazy', idleMs: IDLE_MS } as const;
    if (command !== undefined) {
      const words = [command, ...args];
      const isAllowed = this.#rules().commands.some((allowed) => isSame(allowed, words));
      if (!isAllowed) throw commandRefused(command);
      return { ...shared, type: 'stdio', command, args: [...args] };
    }
    if (url === undefined) throw noEndpoint();
    if (caller.id !== OWNER && !this.#rules().urls.includes(url)) throw addressRefused(url);
    const type = transport === undefined || transport === 'stdio' ? 'http' : transport;
    return { ...shared, type, url, ...(headers !== undefined && { headers }) };
  }
}

/** Says where it leads, and is another one for another endpoint. */
function nameOf({ url = '', command }: InlineEndpoint, config: ServerInput): string {
  const where = command === undefined ? (URL.canParse(url) ? new URL(url).host : '') : basename(command);
  const hash = createHash('sha256').update(JSON.stringify(config)).digest('hex').slice(0, 16);
  return `inline-${where.replaceAll(/[^\w.-]+/g, '-').slice(0, 64)}-${hash}`;
}

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((word, index) => word === right[index]);

const commandRefused = (command: string): TurnbuckleError =>
  new TurnbuckleError('ACCESS_DENIED', `The command "${command}" may not be started by a request.`, {
    hint: 'Allow it, word for word, in daemon.bridge.commands of your configuration, or add it as a server.',
  });

const addressRefused = (url: string): TurnbuckleError =>
  new TurnbuckleError(
    'ACCESS_DENIED',
    `This token may not name the address ${JSON.stringify(url.slice(0, 200))}.`,
    {
      hint: 'Name it in daemon.bridge.urls of your configuration, or add it as a server.',
    },
  );

const noEndpoint = (): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', 'The endpoint has neither a url nor a command.', {
    hint: 'Give one of them, or name a configured server: {"server": "name", "tool_name": …}.',
  });
