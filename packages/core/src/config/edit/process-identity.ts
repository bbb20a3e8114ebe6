/**
 * Which process left a file behind, and whether that process is gone. A pid alone does not tell: pids are
 * used again, and another container counts its own.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from boot to the start of the process; '0' where the platform does not tell. */
  readonly start: string;
  /** Names the space in which the pid is valid: one boot of one machine or container. */
  readonly space: string;
}

/** What a process of another machine or container left is judged by age alone: nobody here can see it. */
const FOREIGN_LIFETIME_MS = 60_000;

let own: ProcessIdentity | undefined;

/** The identity of this process. */
export function ownIdentity(): ProcessIdentity {
  own ??= { pid: process.pid, start: processStat(process.pid)?.start ?? '0', space: ownSpace() };
  return own;
}

/** True when the process that left something `ageMs` ago cannot come back for it. */
export function isGone({ pid, start, space }: ProcessIdentity, ageMs: number): boolean {
  if (space !== ownIdentity().space) return ageMs > FOREIGN_LIFETIME_MS;
  if (isAbsent(pid)) return true;
  const stat = processStat(pid);
  if (stat === undefined || start === '0') return false;
  return stat.zombie || stat.start !== start;
}

/** True when no process here has this pid; false for what is no pid. */
export function isAbsent(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errorCode(error) === 'ESRCH';
  }
}

/** Milliseconds since the modification; absolute, so that a clock that was set back makes nothing immortal. */
export function ageOf(stat: { readonly mtimeMs: number }): number {
  return Math.abs(Date.now() - stat.mtimeMs);
}

/** The `code` of a system error, if it is one. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function processStat(pid: number): { start: string; zombie: boolean } | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The command name may hold spaces and brackets: the fields start after the last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { start: fields[19] ?? '0', zombie: fields[0] === 'Z' || fields[0] === 'X' };
}

function ownSpace(): string {
  const parts = [readText('/proc/sys/kernel/random/boot_id') ?? hostname()];
  try {
    parts.push(readlinkSync('/proc/self/ns/pid'));
  } catch {
    // Not Linux: the machine's name has to do.
  }
  return createHash('sha256').update(parts.join(' ')).digest('hex').slice(0, 8);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
