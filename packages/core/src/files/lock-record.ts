/**
 * One lock file: its owner, how it is created and how it is taken from an owner that died. Everything is synchronous,
 * so that no other code of this process runs between a check and the action that relies on it.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  type Stats,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../errors.js';
import { isRecord } from '../json/is-record.js';
import { ageOf, isPidUnused, isProcessGone, ownIdentity, type ProcessIdentity } from './process-identity.js';

/** Who holds a lock. */
export interface LockRecord extends ProcessIdentity {
  readonly since: string;
  readonly token: string;
}

export interface ClaimOptions {
  /** How long a holder elsewhere, in another container for example, counts as alive without a refresh. */
  readonly remoteLifetimeMs?: number | undefined;
}

/** Without hard links an owner writes its record right after it created the file; at this age, it died in between. */
const UNREADABLE_LIFETIME_MS = 2_000;
/** Each level needs one more process that died while it removed the leftovers of a dead one. */
const MAX_MARKER_DEPTH = 4;
const MAX_CLAIMS = 100;
const CLAIM_POLL_MS = 50;
const TOKEN = /^[0-9a-f]{16}$/;
const MARKER_NAME = /^(\.([0-9a-f]{16}|x\d+-\d+))+$/;
/** A draft record about to become a lock: the pid of its writer is in the name. */
const DRAFT_NAME = /^(?:\.[0-9a-fx-]+)*\.(\d+)-[0-9a-f]{16}\.new$/;
const NO_HARD_LINK_CODES: ReadonlySet<string> = new Set([
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
  'EXDEV',
]);

/** Held until `release`, or until the process ends. */
export class HeldLock {
  readonly record: LockRecord;
  readonly #path: string;

  constructor(path: string, record: LockRecord) {
    this.#path = path;
    this.record = record;
  }

  /** Refreshes the lock, for processes that cannot see the owner's process; false if the lock is no longer its own. */
  refresh(): boolean {
    if (!this.#isHeld()) return false;
    const now = new Date();
    utimesSync(this.#path, now, now);
    return true;
  }

  /** Removes the lock if it is still its own. */
  release(): void {
    try {
      if (this.#isHeld()) removeFile(this.#path);
    } catch {
      // What the lock guarded is done; a lock that cannot be removed is free when this process ends.
    }
  }

  #isHeld(): boolean {
    return inspect(this.#path)?.token === this.record.token;
  }
}

/**
 * The lock, or who has it. Takes the lock of a holder that is gone. Blocks while another process removes a dead
 * holder's lock, and while a lock has no readable record but is young enough for its writer to be alive. Throws what
 * the file system throws.
 */
export function claimLock(path: string, options: ClaimOptions = {}): HeldLock | LockRecord {
  for (let claims = 0; claims < MAX_CLAIMS; claims += 1) {
    const lock = createLock(path);
    if (lock !== undefined) {
      removeAbandonedMarkers(path);
      return lock;
    }
    const seen = inspect(path, options);
    if (seen?.record !== undefined && !seen.gone) return seen.record;
    if (!clearStaleLock(path, options)) blockFor(CLAIM_POLL_MS);
  }
  throw new Error(`Cannot acquire the lock ${path} because other processes keep changing the lock file.`);
}

const blockFor = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Creates the lock file; undefined while there is one. */
export function createLock(path: string): HeldLock | undefined {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return undefined;
  const token = randomBytes(8).toString('hex');
  const record = { ...ownIdentity(), since: new Date().toISOString(), token };
  const isCreated = createAtomically(path, JSON.stringify(record), token);
  return isCreated && inspect(path)?.token === token ? new HeldLock(path, record) : undefined;
}

/**
 * Creates the file with its record in one step. The owner of a lock without a record may be dead or only slow, which
 * cannot be determined. False if the file exists.
 */
function createAtomically(path: string, record: string, token: string): boolean {
  const draft = `${path}.${process.pid}-${token}.new`;
  try {
    writeFileSync(draft, record, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    // A full disk leaves an empty file.
    tryRemoveFile(draft);
    throw error;
  }
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    const code = errorCode(error) ?? '';
    // ENOENT: this process was so slow that its draft was removed as a leftover.
    if (code === 'EEXIST' || code === 'ENOENT') return false;
    if (NO_HARD_LINK_CODES.has(code)) return createWithoutLinks(path, record);
    throw error;
  } finally {
    tryRemoveFile(draft);
  }
}

/** For file systems without hard links. */
function createWithoutLinks(path: string, record: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(file, record);
    return true;
  } catch (error) {
    removeFile(path);
    throw error;
  } finally {
    closeSync(file);
  }
}

/** The token of the lock's owner; undefined if it is free. */
export function lockToken(path: string): string | undefined {
  return inspect(path)?.token;
}

/** The pid of the owner, for messages. */
export function lockOwnerPid(path: string): number | undefined {
  try {
    return inspect(path)?.record?.pid;
  } catch {
    return undefined;
  }
}

/**
 * Removes a lock whose owner is dead; true if it is worth trying to lock again immediately. Of several processes that
 * see the same dead owner, only the one that creates the marker named after its token may remove the lock, and only
 * if the lock is still that owner's. So no process removes a lock that another one took meanwhile.
 */
export function clearStaleLock(path: string, options: ClaimOptions = {}, depth = 0): boolean {
  const seen = inspect(path, options);
  if (seen === undefined) return true;
  if (!seen.gone || depth === MAX_MARKER_DEPTH) return false;
  const marker = `${path}.${seen.token}`;
  const lock = createLock(marker);
  if (lock === undefined) return clearStaleLock(marker, options, depth + 1);
  try {
    const now = inspect(path, options);
    if (now?.gone && now.token === seen.token) removeFile(path);
    return true;
  } finally {
    lock.release();
  }
}

/**
 * For the owner of the lock: removes markers and drafts of dead processes. Each marker names an earlier owner, so
 * none of them is still needed; a process that loses a draft creates another.
 */
export function removeAbandonedMarkers(path: string): void {
  const directory = dirname(path);
  const name = basename(path);
  try {
    for (const entry of readdirSync(directory)) {
      if (!entry.startsWith(name)) continue;
      const [, writer] = DRAFT_NAME.exec(entry.slice(name.length)) ?? [];
      if (writer === undefined && !MARKER_NAME.test(entry.slice(name.length))) continue;
      const marker = join(directory, entry);
      if (isPidUnused(Number(writer)) || inspect(marker)?.gone) removeFile(marker);
    }
  } catch {
    // Cleanup only: a directory that cannot be listed is no reason to refuse the lock.
  }
}

interface LockState {
  /** Undefined when it cannot be read. */
  readonly record?: LockRecord;
  readonly token: string;
  readonly gone: boolean;
}

function inspect(path: string, { remoteLifetimeMs }: ClaimOptions = {}): LockState | undefined {
  try {
    const stat = statSync(path);
    const record = parseRecord(readFileSync(path, 'utf8'), stat);
    if (record !== undefined)
      return { record, token: record.token, gone: isProcessGone(record, ageOf(stat), remoteLifetimeMs) };
    const token = `x${stat.ino}-${Math.trunc(stat.mtimeMs)}`;
    return { token, gone: ageOf(stat) > UNREADABLE_LIFETIME_MS };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function parseRecord(text: string, { mtime }: Stats): LockRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { pid, start, space, since, token } = value;
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return undefined;
  if (typeof start !== 'string' || typeof space !== 'string') return undefined;
  // The token becomes part of a file's name.
  if (typeof token !== 'string' || !TOKEN.test(token)) return undefined;
  return { pid, start, space, since: typeof since === 'string' ? since : mtime.toISOString(), token };
}

/** Cleanup only: an error here must not hide the original one. */
function tryRemoveFile(path: string): void {
  try {
    removeFile(path);
  } catch {
    // Read-only, for example.
  }
}

function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
