/**
 * The files of the journal, by their names: `<time>-<process>-<space>-<random>` with an ending that says whether
 * it is still written to. Sorted by name is sorted by time.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** While it is written to. */
export const OPEN = '.open';
export const CLOSED = '.ndjson';

const HOUR_MS = 3_600_000;
/** Whether a process of elsewhere lives cannot be asked: one that is silent for so long is taken for dead. */
const SILENT_MS = 24 * HOUR_MS;
/** A writer that was silent for so long begins another segment: the old one may be taken for left behind one day. */
export const LONGEST_PAUSE_MS = HOUR_MS;

/**
 * Within which a pid means something: one boot of one machine, and there one PID namespace. A container can have the
 * name of its host and count its processes anew, so that a living writer outside looks dead from within.
 */
const space = createHash('sha256')
  .update(textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')) || hostname())
  .update(textOf(() => readlinkSync('/proc/self/ns/pid')))
  .digest('hex')
  .slice(0, 8);

export function createSegmentName(now: number): string {
  const stamp = String(Math.trunc(now)).padStart(15, '0');
  return `${stamp}-${process.pid}-${space}-${randomBytes(4).toString('hex')}`;
}

/** The files of a journal, the oldest first. None when there is no journal. */
export function listSegments(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((file) => file.endsWith(OPEN) || file.endsWith(CLOSED))
      .sort();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** The name without the ending: it stays when the ending changes. */
export const segmentName = (file: string): string => file.slice(0, file.lastIndexOf('.'));

/** Whether nobody will write to it any more. */
export function isOver(directory: string, file: string, now: number): boolean {
  if (file.endsWith(CLOSED)) return true;
  const [, pid, where] = file.split('-');
  if (where === space) return !isAlive(Number(pid));
  return now - (sizeAndTime(join(directory, file))?.mtimeMs ?? now) > SILENT_MS;
}

/** How much lies in the journal. */
export const journalBytes = (directory: string): number =>
  listSegments(directory).reduce((sum, file) => sum + (sizeAndTime(join(directory, file))?.size ?? 0), 0);

export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    // Only Linux tells.
    return '';
  }
}

function sizeAndTime(path: string): { readonly size: number; readonly mtimeMs: number } | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}
