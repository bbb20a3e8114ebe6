/**
 * Which process left a file behind, and whether it still runs. A pid alone is not enough: pids are reused, and
 * another container has its own.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { errorCode } from '../errors.js';

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from boot to the start of the process; empty where the platform does not report it. */
  readonly start: string;
  /** The namespace in which the pid is valid: one boot of one machine, and within it one PID namespace. */
  readonly space: string;
  /** When this was written, in ISO 8601. */
  readonly since?: string | undefined;
}

/** `elsewhere`: on another machine or in another container, which this process cannot see. */
export type ProcessState = 'alive' | 'gone' | 'elsewhere';

export interface ProcessStat {
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly start: string;
  readonly zombie: boolean;
}

/** How long a file of a process elsewhere counts as in use without a refresh. */
const REMOTE_LIFETIME_MS = 60_000;

let cachedIdentity: ProcessIdentity | undefined;

/** The identity of this process. */
export function ownIdentity(): ProcessIdentity {
  cachedIdentity ??= {
    pid: process.pid,
    start: readProcessStat(process.pid)?.start ?? '',
    space: ownSpace(),
  };
  return cachedIdentity;
}

export function processState({ space, ...identity }: ProcessIdentity): ProcessState {
  if (space !== ownIdentity().space) return 'elsewhere';
  return isSameProcess(identity) ? 'alive' : 'gone';
}

/**
 * Whether the process that left a file `ageMs` ago is certainly gone. A process elsewhere is judged by that age
 * alone.
 */
export function isProcessGone(
  identity: ProcessIdentity,
  ageMs: number,
  remoteLifetimeMs = REMOTE_LIFETIME_MS,
): boolean {
  const state = processState(identity);
  return state === 'elsewhere' ? ageMs > remoteLifetimeMs : state === 'gone';
}

/** Whether the process runs, and its pid was not reused. For pids of this machine and namespace. */
export function isSameProcess({ pid, start, since }: Omit<ProcessIdentity, 'space'>): boolean {
  if (!isProcessAlive(pid)) return false;
  const stat = readProcessStat(pid);
  if (stat !== undefined) return start === '' || stat.start === start;
  // Without start times: what was written before the machine booted is another process's.
  return since === undefined || !(Date.parse(since) < Date.now() - uptime() * 1_000);
}

/** Whether a process with this pid runs here; a zombie does not. */
export function isProcessAlive(pid: number): boolean {
  return isPid(pid) && !isPidUnused(pid) && readProcessStat(pid)?.zombie !== true;
}

/** True if no process here has this pid; false for an invalid pid. */
export function isPidUnused(pid: number): boolean {
  if (!isPid(pid)) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // Anything else, such as EPERM, means that there is one.
    return errorCode(error) === 'ESRCH';
  }
}

const isPid = (pid: number): boolean => Number.isInteger(pid) && pid > 0;

/** Milliseconds since the modification; absolute, so that setting the clock back does not make a file immortal. */
export function ageOf(stat: { readonly mtimeMs: number }): number {
  return Math.abs(Date.now() - stat.mtimeMs);
}

/** What Linux reports about a process; undefined elsewhere, and for one that is gone or unreadable. */
export function readProcessStat(pid: number): ProcessStat | undefined {
  const stat = readOrEmpty(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  if (stat === '') return undefined;
  // The command name may contain spaces and brackets: the fields start after the last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    start: fields[19] ?? '',
    zombie: fields[0] === 'Z' || fields[0] === 'X',
  };
}

/** The PID namespace of this process, as Linux names it; empty elsewhere. A container has its own. */
export const pidNamespace = (): string => readOrEmpty(() => readlinkSync('/proc/self/ns/pid'));

/** A container can have the name of its host: only the namespace tells that its pids are others. */
const ownSpace = (): string =>
  createHash('sha256')
    .update(readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')) || hostname())
    .update(pidNamespace())
    .digest('hex')
    .slice(0, 16);

function readOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
