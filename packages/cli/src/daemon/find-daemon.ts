/**
 * The daemon of a state directory, if one runs on this machine. Reads the two files that it keeps there, and little
 * more: a call through the daemon must not take longer to find it than to be made.
 */
import { readFileSync, statSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';

export interface RunningDaemon {
  readonly pid: number;
  readonly url: string;
  /** The address that it listens at, where that is another one: all addresses of the machine. */
  readonly listensAt?: string | undefined;
  /** When, in ISO 8601. */
  readonly started: string;
  readonly version: string;
}

/**
 * Undefined when there is none, it died, or it runs on another machine or in another container: its pid means nothing
 * here, nor does an address that is its own only.
 */
export function findDaemon(stateDir: string): RunningDaemon | undefined {
  const file = join(stateDir, 'daemon.json');
  const written = read(file);
  if (written === undefined || !isOwn(file)) return undefined;
  try {
    const { pid, url, started, version, process: identity } = JSON.parse(written);
    if (!Number.isInteger(pid) || typeof url !== 'string' || !/^http:\/\//.test(url)) return undefined;
    if (!isSameProcess(pid, String(identity?.start ?? ''), started)) return undefined;
    const listensAt = reachable(url) === url ? undefined : url;
    return { pid, url: reachable(url), listensAt, started, version };
  } catch {
    return undefined;
  }
}

/** All addresses of a machine are none that could be called; one of them is its own. */
export const reachable = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');

/** The token of whoever owns the directory; undefined when it cannot be read. */
export const readToken = (stateDir: string): string | undefined =>
  read(join(stateDir, 'daemon-token'))?.trim() || undefined;

/** Whether there is a process of that pid that has not ended. */
export const isLive = (pid: number): boolean => hasProcess(pid) && statOf(pid)?.isDead !== true;

/** The process that wrote it, and not another one that has its pid by now: it would get the token. */
function isSameProcess(pid: number, start: string, since: string): boolean {
  if (!isLive(pid)) return false;
  const stat = statOf(pid);
  if (stat === undefined) return Date.parse(since) >= Date.now() - uptime() * 1_000;
  return start === '' || stat.start === start;
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Linux only. The name of the program may hold anything, so fields are counted from its closing bracket. */
function statOf(pid: number): { readonly start: string | undefined; readonly isDead: boolean } | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { start: rest[18], isDead: state === 'Z' || state === 'X' };
}

/** What somebody else wrote there is not followed. */
function isOwn(path: string): boolean {
  const own = process.getuid?.();
  return own === undefined || statSync(path, { throwIfNoEntry: false })?.uid === own;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
