/**
 * What Linux tells about processes under /proc. Elsewhere every question answers "cannot tell", and the
 * process table then relies on process groups alone.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export const canInspectProcesses: boolean = process.platform === 'linux';

export interface Tagged {
  readonly pid: number;
  readonly value: string;
  readonly facts: ProcessFacts;
}

interface ProcessFacts {
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly startTicks: string;
  readonly zombie: boolean;
}

/** Facts about a process, or undefined when it is gone or unreadable. */
export function inspectProcess(pid: number): ProcessFacts | undefined {
  if (!canInspectProcesses) return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command name may hold spaces and brackets: the fields start after the last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return {
      parent: Number(fields[1]),
      group: Number(fields[2]),
      session: Number(fields[3]),
      startTicks: fields[19] ?? '',
      zombie: fields[0] === 'Z' || fields[0] === 'X',
    };
  } catch {
    return undefined;
  }
}

/** Names the space in which this process's ids are valid: a container has one of its own. */
export function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return '0';
  }
}

function processIds(): number[] {
  if (!canInspectProcesses) return [];
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

/** True while a process of the group runs; zombies that nobody reaped do not count. */
export function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  if (!canInspectProcesses) return true;
  return processIds().some((pid) => {
    const facts = inspectProcess(pid);
    return facts !== undefined && facts.group === group && !facts.zombie;
  });
}

const STANDARD_STREAMS = [0, 1, 2];

/** A pipe, a socket or a terminal: somebody is, or was, at the other end of it. A file or /dev/null is not that. */
const TO_SOMEBODY = /^(pipe|socket|anon_inode):|^\/dev\/(pts\/|tty)/;

/** True when nothing of its standard input, output and errors leads to another process. */
export function hasLetGoOfStreams(pid: number): boolean {
  return STANDARD_STREAMS.every((descriptor) => {
    try {
      return !TO_SOMEBODY.test(readlinkSync(`/proc/${pid}/fd/${descriptor}`));
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'ENOENT'; // closed
    }
  });
}

/** Live processes whose environment carries the variable, with its value. */
export function findByEnvironment(variable: string): Tagged[] {
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
      return []; // gone meanwhile, or another user's
    }
  });
}
