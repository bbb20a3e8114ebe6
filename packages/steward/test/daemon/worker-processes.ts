/** The worker processes of daemons, and what they have started. Linux only. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { descendants } from '@turnbuckle/testing';

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** Whether it has a file below this directory open. */
function usesDirectory(pid: number, directory: string): boolean {
  try {
    const files = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    return files.some((file) => file.startsWith(`${directory}/`));
  } catch {
    return false;
  }
}

/** Of all daemons of this process and its children, or only of the one with its files in this directory. */
export const workerPids = (home?: string): number[] =>
  descendants(process.pid)
    .filter((pid) => /workers\/worker\.js/.test(commandOf(pid)))
    .filter((pid) => home === undefined || usesDirectory(pid, home));

/** Commands of processes that the workers of the daemon with its files in this directory have started. */
export const workerChildren = (home: string): string[] =>
  workerPids(home).flatMap((pid) => descendants(pid).map(commandOf));
