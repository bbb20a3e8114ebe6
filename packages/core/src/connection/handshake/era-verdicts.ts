/**
 * Remembers on disk which servers speak the older protocol, with the date it was found out, so that they
 * are not asked again at every start. A verdict only saves time: a wrong one is forgotten and asked anew.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../config/edit/make-directory.js';
import type { ServerConfig } from '../config/schema.js';

export type Era = 'legacy' | 'modern';

interface Verdict {
  readonly era: Era;
  readonly foundAt: number;
}

const KEEP_MS = 7 * 24 * 3_600_000;
const MAX_VERDICTS = 2_000;

export class EraVerdicts {
  readonly #directory: string;
  readonly #now: () => number;
  #loaded: Promise<Map<string, Verdict>> | undefined;
  #writing: Promise<void> = Promise.resolve();
  #dirty = false;

  constructor(stateDir: string, now: () => number) {
    this.#directory = stateDir;
    this.#now = now;
  }

  async get(config: ServerConfig): Promise<Era | undefined> {
    const verdict = (await this.#all()).get(keyOf(config));
    return verdict !== undefined && this.#now() - verdict.foundAt < KEEP_MS ? verdict.era : undefined;
  }

  async set(config: ServerConfig, era: Era): Promise<void> {
    const all = await this.#all();
    const key = keyOf(config);
    const known = all.get(key);
    // Confirmed again, it counts anew; written only now and then.
    if (known?.era === era && this.#now() - known.foundAt < KEEP_MS / 2) return;
    all.set(key, { era, foundAt: this.#now() });
    this.#save(all);
  }

  async forget(config: ServerConfig): Promise<void> {
    const all = await this.#all();
    if (all.delete(keyOf(config))) this.#save(all);
  }

  /** Resolves when everything remembered is on disk. */
  flush(): Promise<void> {
    return this.#writing;
  }

  #all(): Promise<Map<string, Verdict>> {
    this.#loaded ??= readFile(this.#file(), 'utf8').then(parseVerdicts, () => new Map());
    return this.#loaded;
  }

  #file(): string {
    return join(this.#directory, 'era-verdicts.json');
  }

  /** Many changes of one moment become one write; a failed one costs only the memory of it. */
  #save(all: Map<string, Verdict>): void {
    if (this.#dirty) return;
    this.#dirty = true;
    this.#writing = this.#writing.then(async () => {
      this.#dirty = false;
      const newest = [...all].sort(([, a], [, b]) => b.foundAt - a.foundAt).slice(0, MAX_VERDICTS);
      const temporary = `${this.#file()}.${process.pid}.tmp`;
      try {
        makeDirectory(this.#directory);
        await writeFile(temporary, JSON.stringify(Object.fromEntries(newest)), { mode: 0o600 });
        await rename(temporary, this.#file());
      } catch {
        // A read-only home is no reason to fail: the server is asked again next time.
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
    // An unreadable file is an empty one.
  }
  return verdicts;
}

/** What decides which program answers: never a secret, so the hash may lie on disk. */
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
