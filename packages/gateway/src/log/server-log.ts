/** Keeps the log's table of servers: what each is configured as, since when, and what its tools cost a model. */
import type { CallLog, ServerRecord } from '@turnbuckle/store';
import type { Runtime } from 'turnbuckle';
import { inSlices, type Steps } from 'turnbuckle/host';
import { estimateTokens } from './estimate-tokens.js';

type Watched = Pick<Runtime, 'on' | 'redact' | 'catalog' | 'serverNames' | 'serverStatus'>;

/** Lists of tools come in pieces and often at once: they are weighed when it is quiet. */
const ESTIMATE_DELAY_MS = 250;

/** Records the servers there are and what becomes of them; returns the function that ends it. */
export function recordServers(
  runtime: Watched,
  log: Pick<CallLog, 'recordServer'>,
  now: () => number = Date.now,
): () => void {
  const servers = new ServerLog(runtime, log, now);
  for (const name of runtime.serverNames()) servers.record(name);
  const stops = [
    runtime.on('server.added', ({ server }) => servers.record(server)),
    runtime.on('server.toggled', ({ server }) => servers.record(server)),
    runtime.on('server.removed', ({ server }) => servers.remove(server)),
    runtime.on('catalog.changed', ({ server, kind }) => {
      if (kind === 'tools') servers.estimateLater(server);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    servers.close();
  };
}

class ServerLog {
  readonly #runtime: Watched;
  readonly #log: Pick<CallLog, 'recordServer'>;
  readonly #now: () => number;
  readonly #last = new Map<string, ServerRecord>();
  readonly #pendingEstimates = new Set<string>();
  #estimating: string | undefined;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(runtime: Watched, log: Pick<CallLog, 'recordServer'>, now: () => number) {
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
    if (this.#runtime.catalog.listByServer(name).length > 0) this.estimateLater(name);
  }

  remove(name: string): void {
    const last = this.#last.get(name);
    this.#pendingEstimates.delete(name);
    if (last !== undefined) this.#write({ ...last, at: this.#now(), removed: true });
    this.#last.delete(name);
  }

  estimateLater(name: string): void {
    this.#pendingEstimates.add(name);
    this.#timer ??= setTimeout(() => this.#estimateInSlices(), ESTIMATE_DELAY_MS).unref();
  }

  /** Weighs at once what is still to be weighed. */
  close(): void {
    clearTimeout(this.#timer);
    if (this.#estimating !== undefined) this.#pendingEstimates.add(this.#estimating);
    const steps = this.#estimate();
    while (steps.next().done !== true);
    this.#isClosed = true;
  }

  async #estimateInSlices(): Promise<void> {
    await inSlices(this.#estimate());
    this.#timer = undefined;
    // What changed while it was weighed.
    const [next] = this.#pendingEstimates;
    if (next !== undefined && !this.#isClosed) this.estimateLater(next);
  }

  *#estimate(): Steps<void> {
    for (const name of [...this.#pendingEstimates]) {
      this.#pendingEstimates.delete(name);
      this.#estimating = name;
      const tools = this.#runtime.catalog.listByServer(name);
      const toolTokens = yield* estimateTokens(tools);
      if (this.#isClosed) return;
      this.#estimating = undefined;
      const last = this.#last.get(name);
      if (last !== undefined) this.#write({ ...last, tools: tools.length, toolTokens });
    }
  }

  #write(record: ServerRecord): void {
    this.#last.set(record.name, record);
    this.#log.recordServer(record);
  }
}
