/**
 * One lock file: who holds it, how it comes into being and how it is taken from an owner that died. All of
 * it is synchronous, so that nothing of this process comes between a look and the act that relies on it.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isRecord } from '../../is-record.js';
import { ageOf, errorCode, isGone, ownIdentity, type ProcessIdentity } from './process-identity.js';

/** An owner writes its record right after it created the file; one without a record that old died between. */
const UNREADABLE_LIFETIME_MS = 2_000;
/** Each level needs one more process that died while it removed what a dead one had left. */
const MAX_DEPTH = 4;
const TOKEN = /^[0-9a-f]{16}$/;
const MARKERS = /^(\.([0-9a-f]{16}|x\d+-\d+))+$/;

/** Creates the lock file and answers the owner's token; undefined while somebody has it. */
export function createLock(path: string): string | undefined {
  const token = randomBytes(8).toString('hex');
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return undefined;
    throw error;
  }
  try {
    writeSync(file, JSON.stringify({ ...ownIdentity(), token }));
  } catch (error) {
    removeFile(path);
    throw error;
  } finally {
    closeSync(file);
  }
  return holds(path, token) ? token : undefined;
}

/** Removes the lock if it is still the one with this token. */
export function releaseLock(path: string, token: string): void {
  try {
    if (holds(path, token)) removeFile(path);
  } catch {
    // What the lock guarded is done; a lock that cannot be removed is free when this process ends.
  }
}

/** The pid of the owner, for messages. */
export function lockOwner(path: string): number | undefined {
  try {
    return inspect(path)?.pid;
  } catch {
    return undefined;
  }
}

/**
 * Removes a lock whose owner is gone; true when it is worth trying to lock again at once. Of several that
 * see the same dead owner only the one that creates the marker named after its token may remove the lock,
 * and only if the lock is still that owner's; so nobody removes a lock that somebody else took meanwhile.
 */
export function clearStaleLock(path: string, depth = 0): boolean {
  const seen = inspect(path);
  if (seen === undefined) return true;
  if (!seen.gone || depth === MAX_DEPTH) return false;
  const marker = `${path}.${seen.token}`;
  const token = createLock(marker);
  if (token === undefined) return clearStaleLock(marker, depth + 1);
  try {
    const now = inspect(path);
    if (now?.gone && now.token === seen.token) removeFile(path);
    return true;
  } finally {
    releaseLock(marker, token);
  }
}

/**
 * For the owner of the lock: removes markers that dead processes left. Each names an owner before this one,
 * so none of them can be of use to anybody.
 */
export function removeAbandonedMarkers(path: string): void {
  const directory = dirname(path);
  const name = basename(path);
  try {
    for (const entry of readdirSync(directory)) {
      if (!entry.startsWith(name) || !MARKERS.test(entry.slice(name.length))) continue;
      const marker = join(directory, entry);
      if (inspect(marker)?.gone) removeFile(marker);
    }
  } catch {
    // Tidiness only: a directory that cannot be listed is no reason to refuse the lock.
  }
}

interface Seen {
  readonly pid?: number;
  readonly token: string;
  readonly gone: boolean;
}

function inspect(path: string): Seen | undefined {
  try {
    const stat = statSync(path);
    const record = parseRecord(readFileSync(path, 'utf8'));
    if (record !== undefined) return { ...record, gone: isGone(record, ageOf(stat)) };
    const token = `x${stat.ino}-${Math.trunc(stat.mtimeMs)}`;
    return { token, gone: ageOf(stat) > UNREADABLE_LIFETIME_MS };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function parseRecord(text: string): (ProcessIdentity & { token: string }) | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { pid, start, space, token } = value;
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return undefined;
  if (typeof start !== 'string' || typeof space !== 'string') return undefined;
  // The token becomes part of a file's name.
  return typeof token === 'string' && TOKEN.test(token) ? { pid, start, space, token } : undefined;
}

const holds = (path: string, token: string): boolean => inspect(path)?.token === token;

function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
