/** The record of a ready daemon, for commands that connect to it. */
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateFileSync, replacePrivateFile } from 'turnbuckle/host';
import { ageOf, isProcessGone, type ProcessIdentity } from 'turnbuckle/light';
import * as z from 'zod/mini';

/** A daemon elsewhere, in another container for example, counts as alive while it refreshes its lock this often. */
export const REMOTE_DAEMON_LIFETIME_MS = 20_000;

const WrittenRecord = z.object({
  pid: z.int(),
  url: z.string(),
  started: z.iso.datetime(),
  version: z.string(),
  process: z.object({
    pid: z.int().check(z.positive()),
    start: z.string(),
    space: z.string(),
    since: z.iso.datetime(),
  }),
});

export interface DaemonRecord {
  readonly pid: number;
  readonly url: string;
  /** In ISO 8601. */
  readonly started: string;
  readonly version: string;
  /** Options that the program that started it needs to restart it. */
  readonly startedWith?: object | undefined;
}

export const lockPath = (stateDir: string): string => join(stateDir, 'daemon.lock');
const recordPath = (stateDir: string): string => join(stateDir, 'daemon.json');

/** The ready daemon of this state directory; undefined if there is none or it has died. */
export function findRunningDaemon(stateDir: string): DaemonRecord | undefined {
  const written = readRecord(stateDir);
  if (written === undefined) return undefined;
  if (isProcessGone(written.process, lockAge(stateDir), REMOTE_DAEMON_LIFETIME_MS)) return undefined;
  const { pid, url, started, version } = written;
  return { pid, url, started, version };
}

export function writeRecord(stateDir: string, record: DaemonRecord, identity: ProcessIdentity): void {
  const written = { ...record, process: identity };
  replacePrivateFile(recordPath(stateDir), `${JSON.stringify(written, undefined, 2)}\n`);
}

export function removeRecord(stateDir: string): void {
  rmSync(recordPath(stateDir), { force: true });
}

function readRecord(stateDir: string): z.infer<typeof WrittenRecord> | undefined {
  try {
    return z.safeParse(WrittenRecord, JSON.parse(readPrivateFileSync(recordPath(stateDir))?.text ?? 'null'))
      .data;
  } catch {
    // Owned by another user, or not readable: there is no daemon of ours.
    return undefined;
  }
}

function lockAge(stateDir: string): number {
  const facts = statSync(lockPath(stateDir), { throwIfNoEntry: false });
  return facts === undefined ? Number.POSITIVE_INFINITY : ageOf(facts);
}
