/**
 * One lock file: who holds it, how it comes into being and how it is taken from an owner that died. All of
 * it is synchronous, so that nothing of this process comes between a look and the act that relies on it.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isRecord } from '../../is-record.js';
import { ageOf, errorCode, isAbsent, isGone, ownIdentity, type ProcessIdentity } from './process-identity.js';

/** Without hard links an owner writes its record right after it created the file; one that old died between. */
const UNREADABLE_LIFETIME_MS = 2_000;
/** Each level needs one more process that died while it removed what a dead one had left. */
const MAX_DEPTH = 4;
const TOKEN = /^[0-9a-f]{16}$/;
const MARKERS = /^(\.([0-9a-f]{16}|x\d+-\d+))+$/;
/** A record on its way to become a lock: the pid of its writer is in the name. */
const DRAFTS = /^(?:\.[0-9a-fx-]+)*\.(\d+)-[0-9a-f]{16}\.new$/;
const WITHOUT_LINKS: ReadonlySet<string> = new Set([
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
  'EXDEV',
]);

/** Creates the lock file and answers the owner's token; undefined while somebody has it. */
export function createLock(path: string): string | undefined {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return undefined;
  const token = randomBytes(8).toString('hex');
  const record = JSON.stringify({ ...ownIdentity(), token });
  return createWhole(path, record, token) && holds(path, token) ? token : undefined;
}

/**
 * Creates the file with its record in one step. A lock without a record is one whose owner may be dead or only
 * slow, which nobody can tell; false when the file exists.
 */
function createWhole(path: string, record: string, token: string): boolean {
  const draft = `${path}.${process.pid}-${token}.new`;
  try {
    writeFileSync(draft, record, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    // A full disk leaves an empty one.
    dropFile(draft);
    throw error;
  }
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    const code = errorCode(error) ?? '';
    // ENOENT: so slow that our draft was taken for one that somebody left behind.
    if (code === 'EEXIST' || code === 'ENOENT') return false;
    if (WITHOUT_LINKS.has(code)) return createInSteps(path, record);
    throw error;
  } finally {
    dropFile(draft);
  }
}

/** For file systems without hard links. */
function createInSteps(path: string, record: string): boolean {
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

/** A sign of life, for those who cannot see the owner's process; what fails is tried again by the next one. */
export function touchLock(path: string, token: string): void {
  try {
    const now = new Date();
    if (holds(path, token)) utimesSync(path, now, now);
  } catch {
    // Whoever sees the process does not need it.
  }
}

/** Who has the lock, as long as nobody else does; undefined when it is free. */
export function lockHolder(path: string): string | undefined {
  return inspect(path)?.token;
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
 * For the owner of the lock: removes markers and drafts that dead processes left. Each marker names an owner
 * before this one, so none of them can be of use to anybody; who loses a draft makes another.
 */
export function removeAbandonedMarkers(path: string): void {
  const directory = dirname(path);
  const name = basename(path);
  try {
    for (const entry of readdirSync(directory)) {
      if (!entry.startsWith(name)) continue;
      const [, writer] = DRAFTS.exec(entry.slice(name.length)) ?? [];
      if (writer === undefined && !MARKERS.test(entry.slice(name.length))) continue;
      const marker = join(directory, entry);
      if (isAbsent(Number(writer)) || inspect(marker)?.gone) removeFile(marker);
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

/** Tidiness only: what the file system says to it must not hide why there was something to tidy. */
function dropFile(path: string): void {
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
