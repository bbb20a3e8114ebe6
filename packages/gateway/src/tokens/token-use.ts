/** When each token was last used. It has a file of its own, so that using a token does not touch the tokens. */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readPrivateFile, replacePrivateFile } from '../instance/private-file.js';

const Content = z.record(z.string(), z.int());
const WRITE_MS = 60_000;

export class TokenUse {
  readonly #path: string;
  readonly #now: () => number;
  readonly #lastUsed = new Map<string, number>();
  #writtenAt = Number.NEGATIVE_INFINITY;
  #dirty = false;

  constructor(stateDir: string, now: () => number) {
    this.#path = join(stateDir, 'token-use.json');
    this.#now = now;
    this.#read();
  }

  /** Kept in memory, and on disk at most once a minute. */
  mark(hash: string, now: number): void {
    this.#lastUsed.set(hash, now);
    this.#dirty = true;
    if (now - this.#writtenAt >= WRITE_MS) this.write();
  }

  /** In milliseconds; of another process as it was when this one began. */
  lastUsed(hash: string): number | undefined {
    return this.#lastUsed.get(hash);
  }

  /** Tokens that are no more need not be remembered. */
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
      // A full disk must not keep anybody out; the next minute tries again.
    }
  }

  #read(): void {
    try {
      const content = z.parse(Content, JSON.parse(readPrivateFile(this.#path)?.text ?? '{}'));
      for (const [hash, at] of Object.entries(content)) this.#lastUsed.set(hash, at);
    } catch {
      // It only says when; what cannot be read counts as never.
    }
  }
}
