/**
 * Information about processes from /proc on Linux. On other platforms every query returns "unknown", and the process
 * table relies on process groups alone.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { errorCode } from '../../errors.js';
import { type ProcessStat, readProcessStat } from '../../files/process-identity.js';

export const canInspectProcesses: boolean = process.platform === 'linux';

export interface TaggedProcess {
  readonly pid: number;
  readonly value: string;
  readonly facts: ProcessStat;
}

/** Facts about a process, or undefined if it is gone or unreadable. */
export const inspectProcess = (pid: number): ProcessStat | undefined =>
  canInspectProcesses ? readProcessStat(pid) : undefined;

function processIds(): number[] {
  if (!canInspectProcesses) return [];
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

/** True while a process of the group runs; unreaped zombies do not count. */
export function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') return false;
  }
  if (!canInspectProcesses) return true;
  return processIds().some((pid) => {
    const facts = inspectProcess(pid);
    return facts !== undefined && facts.group === group && !facts.zombie;
  });
}

const STANDARD_STREAMS = [0, 1, 2];

/** A pipe, a socket or a terminal has another end; a file or /dev/null does not. */
const CONNECTED_STREAM = /^(pipe|socket|anon_inode):|^\/dev\/(pts\/|tty)/;

/** True if none of its standard streams leads to another process. */
export function hasDetachedStreams(pid: number): boolean {
  return STANDARD_STREAMS.every((descriptor) => {
    try {
      return !CONNECTED_STREAM.test(readlinkSync(`/proc/${pid}/fd/${descriptor}`));
    } catch (error) {
      return errorCode(error) === 'ENOENT'; // closed
    }
  });
}

/** Live processes whose environment contains the variable, with its value. */
export function findByEnvironment(variable: string): TaggedProcess[] {
  const prefix = `${variable}=`;
  return processIds().flatMap((pid) => {
    if (pid === process.pid) return [];
    try {
      const entry = readFileSync(`/proc/${pid}/environ`, 'utf8')
        .split('\0')
        .find((line) => line.startsWith(prefix));
      const facts = entry === undefined ? undefined : inspectProcess(pid);
      if (entry === undefined || facts === undefined || facts.zombie) return [];
      return [{ pid, facts, value: entry.slice(prefix.length) }];
    } catch {
      return []; // gone meanwhile, or owned by another user
    }
  });
}
