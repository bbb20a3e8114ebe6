/**
 * One writer at a time for a file, in this process and across processes: a lock file next to it names the writer. A
 * process that died while holding the lock does not block others.
 */
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode, TurnbuckleError } from '../errors.js';
import {
  clearStaleLock,
  createLock,
  type HeldLock,
  lockOwnerPid,
  lockToken,
  removeAbandonedMarkers,
} from './lock-record.js';

export interface FileLockOptions {
  /** Maximum wait for the lock; 10 seconds by default. */
  readonly timeoutMs?: number | undefined;
  /**
   * Called while others hold the lock, once for each of them: true if they already did the work, so that there is no
   * need to wait.
   */
  readonly isDone?: (() => Promise<boolean>) | undefined;
}

const DONE = Symbol('done');
/** Well below the age at which processes that cannot see the owner consider it dead. */
const HEARTBEAT_MS = 10_000;
const POLL_MS = 5;
const POLL_JITTER_MS = 20;

/** The end of the queue for each lock file: all writers of this process must share one. */
const queues = new Map<string, Promise<void>>();

/**
 * Runs `work` while holding `<path>.lock` and returns its result. Do not lock the same file again inside `work`.
 * OVERLOADED if others hold the lock for too long; CONFIG_INVALID if no lock can be created.
 */
export function withFileLock<T>(
  path: string,
  work: () => T | Promise<T>,
  options?: Omit<FileLockOptions, 'isDone'>,
): Promise<T>;
/** The same; undefined if `isDone` returned true. */
export function withFileLock<T>(
  path: string,
  work: () => T | Promise<T>,
  options: FileLockOptions,
): Promise<T | undefined>;
export async function withFileLock<T>(
  path: string,
  work: () => T | Promise<T>,
  { timeoutMs = 10_000, isDone }: FileLockOptions = {},
): Promise<T | undefined> {
  const file = resolve(path);
  const lock = `${file}.lock`;
  const deadline = performance.now() + timeoutMs;
  const { turn, leave } = enqueue(lock);
  try {
    if (!(await waitForTurn(turn, timeoutMs))) throw lockTimeout(file, timeoutMs);
    const held = await acquire(lock, deadline, isDone);
    if (held === DONE) return undefined;
    if (held === undefined) throw lockTimeout(file, timeoutMs);
    const heartbeat = setInterval(refresh, HEARTBEAT_MS, held).unref();
    try {
      return await work();
    } finally {
      clearInterval(heartbeat);
      held.release();
    }
  } finally {
    leave();
  }
}

function refresh(lock: HeldLock): void {
  try {
    lock.refresh();
  } catch {
    // The next heartbeat tries again.
  }
}

interface QueueSlot {
  /** Resolves when everyone before has left. */
  readonly turn: Promise<void>;
  readonly leave: () => void;
}

function enqueue(lock: string): QueueSlot {
  const turn = queues.get(lock) ?? Promise.resolve();
  let leave = (): void => undefined;
  const left = new Promise<void>((done) => {
    leave = done;
  });
  // A waiter that gives up early must not let the next one overtake those before it.
  const last = turn
    .then(() => left)
    .then(() => {
      if (queues.get(lock) === last) queues.delete(lock);
    });
  queues.set(lock, last);
  return { turn, leave };
}

async function waitForTurn(turn: Promise<void>, timeoutMs: number): Promise<boolean> {
  const late = new AbortController();
  const waited = sleep(timeoutMs, false, { signal: late.signal }).catch(() => false);
  const came = await Promise.race([turn.then(() => true), waited]);
  late.abort();
  return came;
}

async function acquire(
  lock: string,
  deadline: number,
  isDone: FileLockOptions['isDone'],
): Promise<HeldLock | typeof DONE | undefined> {
  let holder: string | undefined;
  for (;;) {
    const { held, again, heldBy } = tryLock(lock);
    if (held !== undefined) return held;
    if (isDone !== undefined && heldBy !== undefined && heldBy !== holder) {
      holder = heldBy;
      if (await isDone()) return DONE;
    }
    if (performance.now() >= deadline) return undefined;
    await sleep(again ? 0 : POLL_MS + Math.random() * POLL_JITTER_MS);
  }
}

interface LockAttempt {
  readonly held?: HeldLock;
  /** The token of another holder. */
  readonly heldBy?: string | undefined;
  readonly again?: boolean;
}

function tryLock(lock: string): LockAttempt {
  try {
    const held = createLock(lock);
    if (held !== undefined) {
      removeAbandonedMarkers(lock);
      return { held };
    }
    return { again: clearStaleLock(lock), heldBy: lockToken(lock) };
  } catch (error) {
    throw cannotLock(lock.slice(0, -'.lock'.length), error);
  }
}

function lockTimeout(file: string, timeoutMs: number): TurnbuckleError {
  const pid = lockOwnerPid(`${file}.lock`);
  const owner = pid === undefined ? 'another process' : `process ${pid}`;
  return new TurnbuckleError(
    'OVERLOADED',
    `Cannot lock the file ${file} because ${owner} is writing to it (waited ${timeoutMs} ms).`,
    { hint: `Try again. The lock file is ${file}.lock.`, data: { file, pid, timeoutMs } },
  );
}

function cannotLock(file: string, error: unknown): TurnbuckleError {
  const code = errorCode(error) ?? 'unknown error';
  return new TurnbuckleError('CONFIG_INVALID', `Cannot lock the file ${file} (${code}).`, {
    hint: "Make sure that the file's directory exists and is writable.",
    cause: error,
    data: { file, reason: code },
  });
}
