/**
 * The daemon of a state directory, if one runs on this machine. Reads the two files that it keeps there, and little
 * more: a call through the daemon must not take longer to find it than to be made.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isSameProcess } from 'turnbuckle/light';

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
  const written = tryReadFile(file);
  if (written === undefined || !isOwnedByUser(file)) return undefined;
  try {
    const { pid, url, started, version, process: identity } = JSON.parse(written);
    if (!Number.isInteger(pid) || typeof url !== 'string' || !/^http:\/\//.test(url)) return undefined;
    // Another process that has the pid by now would get the token.
    if (!isSameProcess({ pid, start: String(identity?.start ?? ''), since: started })) return undefined;
    const listensAt = toReachableUrl(url) === url ? undefined : url;
    return { pid, url: toReachableUrl(url), listensAt, started, version };
  } catch {
    return undefined;
  }
}

/** All addresses of a machine are none that could be called; one of them is its own. */
export const toReachableUrl = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');

/** The owner's token; undefined when it cannot be read. */
export const readOwnerToken = (stateDir: string): string | undefined =>
  tryReadFile(join(stateDir, 'daemon-token'))?.trim() || undefined;

/** Files of other users are ignored. */
function isOwnedByUser(path: string): boolean {
  const own = process.getuid?.();
  return own === undefined || statSync(path, { throwIfNoEntry: false })?.uid === own;
}

function tryReadFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
