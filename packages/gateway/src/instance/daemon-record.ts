/** What a daemon that is ready says about itself, for commands that want to talk to it. */
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readPrivateFile, replacePrivateFile } from './private-file.js';
import { fateOf, ProcessIdentity } from './process-identity.js';
import { ELSEWHERE_LIFETIME_MS } from './process-lock.js';

const Written = z.object({
  pid: z.int(),
  url: z.string(),
  started: z.iso.datetime(),
  version: z.string(),
  process: ProcessIdentity,
});

export interface DaemonRecord {
  readonly pid: number;
  readonly url: string;
  /** When, in ISO 8601. */
  readonly started: string;
  readonly version: string;
  /** What the program that started it wants to know when it starts it again. */
  readonly startedWith?: object | undefined;
}

export const lockPath = (stateDir: string): string => join(stateDir, 'daemon.lock');
const recordPath = (stateDir: string): string => join(stateDir, 'daemon.json');

/** The daemon that works with this state directory and is ready; undefined when none is, or it died. */
export function findDaemon(stateDir: string): DaemonRecord | undefined {
  const written = readRecord(stateDir);
  if (written === undefined) return undefined;
  const fate = fateOf(written.process);
  if (fate === 'gone' || (fate === 'elsewhere' && !isRefreshed(stateDir))) return undefined;
  const { pid, url, started, version } = written;
  return { pid, url, started, version };
}

export function writeRecord(stateDir: string, record: DaemonRecord, identity: ProcessIdentity): void {
  const written: z.infer<typeof Written> & DaemonRecord = { ...record, process: identity };
  replacePrivateFile(recordPath(stateDir), `${JSON.stringify(written, undefined, 2)}\n`);
}

export function removeRecord(stateDir: string): void {
  rmSync(recordPath(stateDir), { force: true });
}

function readRecord(stateDir: string): z.infer<typeof Written> | undefined {
  try {
    return z.safeParse(Written, JSON.parse(readPrivateFile(recordPath(stateDir))?.text ?? 'null')).data;
  } catch {
    // Somebody else's, or not readable: then there is no daemon of ours to be found.
    return undefined;
  }
}

function isRefreshed(stateDir: string): boolean {
  const facts = statSync(lockPath(stateDir), { throwIfNoEntry: false });
  return facts !== undefined && Math.abs(Date.now() - facts.mtimeMs) < ELSEWHERE_LIFETIME_MS;
}
