/** Keeps the log's table of servers: what each is configured as, since when, and what its tools cost a model. */
import type { InvocationLog, ServerRecord } from '@turnbuckle/store';
import { inSlices, type Runtime, type Steps } from 'turnbuckle';
import { estimateTokens } from './tool-weight.js';

type Watched = Pick<Runtime, 'on' | 'redact' | 'catalog' | 'serverNames' | 'serverStatus'>;

/** Lists of tools come in pieces and often at once: they are weighed when it is quiet. */
const QUIET_MS = 250;

/** Records the servers there are and what becomes of them; returns the function that ends it. */
export function recordServers(
  runtime: Watched,
  log: Pick<InvocationLog, 'recordServer'>,
  now: () => number = Date.now,
): () => void {
  const servers = new ServerLog(runtime, log, now);
  for (const name of runtime.serverNames()) servers.record(name);
  const stops = [
    runtime.on('server.added', ({ server }) => servers.record(server)),
    runtime.on('server.toggled', ({ server }) => servers.record(server)),
    runtime.on('server.removed', ({ server }) => servers.remove(server)),
    runtime.on('catalog.changed', ({ server, kind }) => {
      if (kind === 'tools') servers.weighLater(server);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    servers.close();
  };
}

class ServerLog {
  readonly #runtime: Watched;
  readonly #log: Pick<InvocationLog, 'recordServer'>;
  readonly #now: () => number;
  readonly #last = new Map<string, ServerRecord>();
  readonly #unweighed = new Set<string>();
  #weighing: string | undefined;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(runtime: Watched, log: Pick<InvocationLog, 'recordServer'>, now: () => number) {
    this.#runtime = runtime;
    this.#log = log;
    this.#now = now;
  }

  /** Without its tools: they are known later, and weighing takes a moment. */
  record(name: string): void {
    const { config, status } = this.#runtime.serverStatus(name);
    this.#write({
      name,
      config: JSON.stringify(this.#runtime.redact(config ?? {})),
      enabled: status !== 'disabled',
      at: this.#now(),
      removed: false,
    });
    if (this.#runtime.catalog.listByServer(name).length > 0) this.weighLater(name);
  }

  remove(name: string): void {
    const last = this.#last.get(name);
    this.#unweighed.delete(name);
    if (last !== undefined) this.#write({ ...last, at: this.#now(), removed: true });
    this.#last.delete(name);
  }

  weighLater(name: string): void {
    this.#unweighed.add(name);
    this.#timer ??= setTimeout(() => this.#weighInSlices(), QUIET_MS).unref();
  }

  /** Weighs at once what is still to be weighed. */
  close(): void {
    clearTimeout(this.#timer);
    if (this.#weighing !== undefined) this.#unweighed.add(this.#weighing);
    const steps = this.#weigh();
    while (steps.next().done !== true);
    this.#isClosed = true;
  }

  async #weighInSlices(): Promise<void> {
    await inSlices(this.#weigh());
    this.#timer = undefined;
    // What changed while it was weighed.
    const [next] = this.#unweighed;
    if (next !== undefined && !this.#isClosed) this.weighLater(next);
  }

  *#weigh(): Steps<void> {
    for (const name of [...this.#unweighed]) {
      this.#unweighed.delete(name);
      this.#weighing = name;
      const tools = this.#runtime.catalog.listByServer(name);
      const toolTokens = yield* estimateTokens(tools);
      if (this.#isClosed) return;
      this.#weighing = undefined;
      const last = this.#last.get(name);
      if (last !== undefined) this.#write({ ...last, tools: tools.length, toolTokens });
    }
  }

  #write(record: ServerRecord): void {
    this.#last.set(record.name, record);
    this.#log.recordServer(record);
  }
}
