/**
 * The files of the journal, by their names: `<time>-<process>-<space>-<random>` with a suffix that says whether it is
 * still open. Sorting by name sorts by time.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, isProcessAlive, ownIdentity } from 'turnbuckle/light';

/** While it is open. */
export const OPEN_SUFFIX = '.open';
export const CLOSED_SUFFIX = '.ndjson';

const HOUR_MS = 3_600_000;
/** A process elsewhere cannot be checked: after this long without a write it counts as dead. */
const ABANDONED_AFTER_MS = 24 * HOUR_MS;
/** A writer that was idle for this long opens a new segment: the old one may be considered abandoned. */
export const MAX_SEGMENT_IDLE_MS = HOUR_MS;

const pidSpace = (): string => ownIdentity().space.slice(0, 8);

export function createSegmentName(now: number): string {
  const stamp = String(Math.trunc(now)).padStart(15, '0');
  return `${stamp}-${process.pid}-${pidSpace()}-${randomBytes(4).toString('hex')}`;
}

/** The files of a journal, oldest first. None if there is no journal. */
export function listSegments(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((file) => file.endsWith(OPEN_SUFFIX) || file.endsWith(CLOSED_SUFFIX))
      .sort();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The name without the suffix: it stays when the suffix changes. */
export const segmentName = (file: string): string => file.slice(0, file.lastIndexOf('.'));

/** Whether no process will write to it any more. */
export function isSegmentFinished(directory: string, file: string, now: number): boolean {
  if (file.endsWith(CLOSED_SUFFIX)) return true;
  const [, pid, where] = file.split('-');
  if (where === pidSpace()) return !isProcessAlive(Number(pid));
  return now - (statIfPresent(join(directory, file))?.mtimeMs ?? now) > ABANDONED_AFTER_MS;
}

/** Whether this process has written it. */
export function isOwnSegment(file: string): boolean {
  const [, pid, where] = file.split('-');
  return where === pidSpace() && Number(pid) === process.pid;
}

/** The size of the journal. */
export const journalBytes = (directory: string): number =>
  listSegments(directory).reduce((sum, file) => sum + (statIfPresent(join(directory, file))?.size ?? 0), 0);

function statIfPresent(path: string): { readonly size: number; readonly mtimeMs: number } | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
