/**
 * What Linux tells about processes under /proc. Elsewhere every question answers "cannot tell", and the
 * process table then relies on process groups alone.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export const canInspectProcesses: boolean = process.platform === 'linux';

interface ProcessFacts {
  readonly group: number;
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
      group: Number(fields[2]),
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

/** Live processes whose environment carries the variable, with its value. */
export function findByEnvironment(variable: string): Array<{ readonly pid: number; readonly value: string }> {
  const prefix = `${variable}=`;
  return processIds().flatMap((pid) => {
    if (pid === process.pid) return [];
    try {
      const entry = readFileSync(`/proc/${pid}/environ`, 'utf8')
        .split('\0')
        .find((line) => line.startsWith(prefix));
      if (entry === undefined || inspectProcess(pid)?.zombie !== false) return [];
      return [{ pid, value: entry.slice(prefix.length) }];
    } catch {
      return []; // gone meanwhile, or another user's
    }
  });
}
