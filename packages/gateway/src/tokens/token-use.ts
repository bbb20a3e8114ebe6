/** When each token was last used. In a separate file, so that using a token does not change the token file. */
import { join } from 'node:path';
import { readPrivateFileSync, replacePrivateFile } from 'turnbuckle/host';
import * as z from 'zod/mini';

const Content = z.record(z.string(), z.int());
const WRITE_MS = 60_000;

export class TokenUse {
  readonly #path: string;
  readonly #now: () => number;
  readonly #lastUsed = new Map<string, number>();
  #writtenAt = Number.NEGATIVE_INFINITY;
  #dirty = false;

  /** `now` from a monotonic clock. */
  constructor(stateDir: string, now: () => number) {
    this.#path = join(stateDir, 'token-use.json');
    this.#now = now;
    this.#read();
  }

  /** Used at this timestamp. Kept in memory, and written to disk at most once a minute. */
  mark(hash: string, at: number): void {
    this.#lastUsed.set(hash, at);
    this.#dirty = true;
    if (this.#now() - this.#writtenAt >= WRITE_MS) this.write();
  }

  /** In milliseconds; for other processes as of the start of this one. */
  lastUsed(hash: string): number | undefined {
    return this.#lastUsed.get(hash);
  }

  /** Forgets tokens that no longer exist. */
  forget(isKnown: (hash: string) => boolean): void {
    for (const hash of this.#lastUsed.keys()) if (!isKnown(hash)) this.#lastUsed.delete(hash);
  }

  write(): void {
    if (!this.#dirty) return;
    this.#writtenAt = this.#now();
    this.#dirty = false;
    try {
      replacePrivateFile(this.#path, JSON.stringify(Object.fromEntries(this.#lastUsed)));
    } catch {
      // A full disk must not lock out any client; the next minute tries again.
    }
  }

  #read(): void {
    try {
      const content = z.parse(Content, JSON.parse(readPrivateFileSync(this.#path)?.text ?? '{}'));
      for (const [hash, at] of Object.entries(content)) this.#lastUsed.set(hash, at);
    } catch {
      // Only informational: an unreadable file counts as never used.
    }
  }
}
