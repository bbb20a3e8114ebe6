/**
 * Remembers on disk which servers use the older protocol, and since when, so that they are not probed at every start.
 * A verdict only saves time: a wrong one is discarded and probed again.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSerialQueue } from '../../async/serial-queue.js';
import type { ServerConfig } from '../../config/schema/schema.js';
import { makeDirectory } from '../../files/make-directory.js';

export type Era = 'legacy' | 'modern';

interface Verdict {
  readonly era: Era;
  readonly foundAt: number;
}

const VERDICT_TTL_MS = 7 * 24 * 3_600_000;
const MAX_VERDICTS = 2_000;

export class EraVerdicts {
  readonly #directory: string;
  readonly #now: () => number;
  #loaded: Promise<Map<string, Verdict>> | undefined;
  readonly #enqueue = createSerialQueue();
  #dirty = false;

  constructor(stateDir: string, now: () => number) {
    this.#directory = stateDir;
    this.#now = now;
  }

  async get(config: ServerConfig): Promise<Era | undefined> {
    const verdict = (await this.#load()).get(keyOf(config));
    return verdict !== undefined && this.#now() - verdict.foundAt < VERDICT_TTL_MS ? verdict.era : undefined;
  }

  async set(config: ServerConfig, era: Era): Promise<void> {
    const all = await this.#load();
    const key = keyOf(config);
    const known = all.get(key);
    // A confirmed verdict is renewed, but written only occasionally.
    if (known?.era === era && this.#now() - known.foundAt < VERDICT_TTL_MS / 2) return;
    all.set(key, { era, foundAt: this.#now() });
    this.#save(all);
  }

  async forget(config: ServerConfig): Promise<void> {
    const all = await this.#load();
    if (all.delete(keyOf(config))) this.#save(all);
  }

  /** Resolves when everything is on disk. */
  flush(): Promise<void> {
    return this.#enqueue(() => {});
  }

  #load(): Promise<Map<string, Verdict>> {
    this.#loaded ??= readFile(this.#file(), 'utf8').then(parseVerdicts, () => new Map());
    return this.#loaded;
  }

  #file(): string {
    return join(this.#directory, 'era-verdicts.json');
  }

  /** Changes at the same time become one write; if it fails, only the verdicts are lost. */
  #save(all: Map<string, Verdict>): void {
    if (this.#dirty) return;
    this.#dirty = true;
    void this.#enqueue(async () => {
      this.#dirty = false;
      const newest = [...all].sort(([, a], [, b]) => b.foundAt - a.foundAt).slice(0, MAX_VERDICTS);
      const temporary = `${this.#file()}.${process.pid}.tmp`;
      try {
        makeDirectory(this.#directory);
        await writeFile(temporary, JSON.stringify(Object.fromEntries(newest)), { mode: 0o600 });
        await rename(temporary, this.#file());
      } catch {
        // A read-only home is no reason to fail: the server is probed again next time.
      }
    });
  }
}

function parseVerdicts(text: string): Map<string, Verdict> {
  const verdicts = new Map<string, Verdict>();
  try {
    for (const [key, value] of Object.entries<Partial<Verdict> | null>(JSON.parse(text))) {
      const { era, foundAt } = value ?? {};
      if ((era === 'legacy' || era === 'modern') && typeof foundAt === 'number')
        verdicts.set(key, { era, foundAt });
    }
  } catch {
    // An unreadable file counts as empty.
  }
  return verdicts;
}

/** What determines which program responds: never a secret, so the hash may be on disk. */
function keyOf(config: ServerConfig): string {
  const identity =
    config.type === 'stdio'
      ? [config.command, config.args, config.cwd]
      : 'url' in config
        ? [config.type, new URL(config.url).origin + new URL(config.url).pathname]
        : 'baseUrl' in config
          ? [config.baseUrl, config.id]
          : ['in-process'];
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 32);
}
