/**
 * A lock file that one living process holds. It comes into being with its whole content by a link, which only
 * one of many can make. The lock of a dead holder is inherited the same way: heirs link a file named after
 * its token, one of them succeeds and moves that file over the lock. So nobody ever removes a lock that might
 * be somebody else's by now, and a process that dies at any point leaves a chain that the next one follows.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import { errorCode, fateOf, ownIdentity, ProcessIdentity } from './process-identity.js';

const LockRecord = z.extend(ProcessIdentity, { token: z.string().check(z.regex(/^[0-9a-f]{16}$/)) });

/** Who holds a lock. */
export type LockRecord = z.infer<typeof LockRecord>;

/** A holder elsewhere, in another container for example, counts as alive while it says so at least this often. */
export const ELSEWHERE_LIFETIME_MS = 20_000;
const ROUNDS = 100;
const DRAFT_LIFETIME_MS = 60_000;

/** Held from `claimLock` to `release`, or to the end of the process. */
export class HeldLock {
  readonly record: LockRecord;
  readonly #path: string;

  constructor(path: string, record: LockRecord) {
    this.#path = path;
    this.record = record;
  }

  /** Says that its holder lives; false when the lock is not its own any more. */
  refresh(): boolean {
    if (look(this.#path)?.token !== this.record.token) return false;
    const now = new Date();
    utimesSync(this.#path, now, now);
    return true;
  }

  release(): void {
    if (look(this.#path)?.token === this.record.token) rmSync(this.#path, { force: true });
  }
}

/** The lock, or who has it. Throws what the file system throws. */
export function claimLock(path: string): HeldLock | LockRecord {
  const record = { ...ownIdentity(), token: randomBytes(8).toString('hex') };
  const draft = `${path}.${record.token}.tmp`;
  try {
    writeFileSync(draft, JSON.stringify(record), { flag: 'wx', mode: 0o600 });
    for (let round = 0; round < ROUNDS; round += 1) {
      const outcome = attempt(path, draft, record);
      if (outcome !== undefined) return outcome;
    }
    throw new Error(`The lock ${path} does not come to rest.`);
  } finally {
    drop(draft);
  }
}

/** Tidiness only: a disk that is read-only must not hide why there was something to tidy. */
function drop(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // It is removed with the next lock.
  }
}

/** Runs `work` while the lock is held; undefined when somebody else held it for all the time. */
export async function withLock<T>(
  path: string,
  timeoutMs: number,
  work: () => T,
): Promise<{ readonly result: T } | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const claimed = claimLock(path);
    if (claimed instanceof HeldLock) {
      try {
        return { result: work() };
      } finally {
        claimed.release();
      }
    }
    if (performance.now() > deadline) return undefined;
    await sleep(5 + Math.random() * 20);
  }
}

/** Undefined: something changed meanwhile, so look again. */
function attempt(path: string, draft: string, record: LockRecord): HeldLock | LockRecord | undefined {
  if (linked(draft, path)) return new HeldLock(path, record);
  const first = look(path);
  let place = path;
  for (let last = first; ; last = look(place)) {
    if (last === undefined) return undefined;
    if (last.holder !== undefined) return last.holder;
    place = `${path}.${last.token}`;
    if (linked(draft, place)) break;
  }
  // An heir that came before may have moved its file over the lock and died, after we looked there.
  if (look(path)?.token !== first?.token) {
    rmSync(place, { force: true });
    return undefined;
  }
  renameSync(place, path);
  removeLeftovers(path, record.token);
  return new HeldLock(path, record);
}

function linked(draft: string, place: string): boolean {
  try {
    linkSync(draft, place);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

interface Seen {
  readonly token: string;
  /** Absent when it does not live. */
  readonly holder?: LockRecord;
}

function look(path: string): Seen | undefined {
  try {
    const { mtimeMs } = statSync(path);
    const text = readFileSync(path, 'utf8');
    const { success, data } = z.safeParse(LockRecord, parsed(text));
    // No process of ours wrote that, so none can want it back.
    if (!success) return { token: createHash('sha256').update(text).digest('hex').slice(0, 16) };
    return isHeld(data, mtimeMs) ? { token: data.token, holder: data } : { token: data.token };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function isHeld(record: LockRecord, refreshedAt: number): boolean {
  const fate = fateOf(record);
  // Either way of being off, so that a clock that was set back makes no lock immortal.
  return fate === 'elsewhere' ? Math.abs(Date.now() - refreshedAt) < ELSEWHERE_LIFETIME_MS : fate === 'alive';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** For the holder: files named after holders before it are of no use to anybody, nor are old drafts. */
function removeLeftovers(path: string, token: string): void {
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    const [, of, draft] =
      (name.startsWith(prefix) && /^([0-9a-f]{16})(\.tmp)?$/.exec(name.slice(prefix.length))) || [];
    if (of === undefined || of === token) continue;
    const file = join(dirname(path), name);
    const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (draft === undefined || age > DRAFT_LIFETIME_MS) rmSync(file, { force: true });
  }
}
