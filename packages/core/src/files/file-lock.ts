/**
 * One writer at a time for a file, in this process and across processes: a lock file beside it says who
 * writes. What died while it held the lock keeps nobody out.
 */
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TurnbuckleError } from '../../errors.js';
import {
  clearStaleLock,
  createLock,
  lockHolder,
  lockOwner,
  releaseLock,
  removeAbandonedMarkers,
  touchLock,
} from './lock-record.js';
import { errorCode } from './process-identity.js';

export interface FileLockOptions {
  /** Longest wait for the lock; 10 seconds unless told otherwise. */
  readonly timeoutMs?: number | undefined;
  /**
   * Asked while others have the lock, once for each of them: true when they did the work, and nobody has to wait
   * for a turn to find that out.
   */
  readonly isDone?: (() => Promise<boolean>) | undefined;
}

const DONE = Symbol('done');
/** Well below the age at which those who cannot see the owner take it for gone. */
const SIGN_OF_LIFE_MS = 10_000;
const POLL_MS = 5;
const POLL_JITTER_MS = 20;

/** The last in the queue for each lock file: all writers of this process must share one. */
const queues = new Map<string, Promise<void>>();

/**
 * Runs `work` while `<path>.lock` is held and answers its result. Do not lock the same file again inside
 * `work`. OVERLOADED when others kept the lock for too long; CONFIG_INVALID when no lock can be created.
 */
export function withFileLock<T>(
  path: string,
  work: () => T | Promise<T>,
  options?: Omit<FileLockOptions, 'isDone'>,
): Promise<T>;
/** The same; undefined when `isDone` said so. */
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
  const { turn, leave } = queueUp(lock);
  try {
    if (!(await inTime(turn, timeoutMs))) throw tooLong(file, timeoutMs);
    const token = await acquire(lock, deadline, isDone);
    if (token === DONE) return undefined;
    if (token === undefined) throw tooLong(file, timeoutMs);
    const sign = setInterval(touchLock, SIGN_OF_LIFE_MS, lock, token).unref();
    try {
      return await work();
    } finally {
      clearInterval(sign);
      releaseLock(lock, token);
    }
  } finally {
    leave();
  }
}

interface Place {
  /** Resolves when everybody before has left. */
  readonly turn: Promise<void>;
  readonly leave: () => void;
}

function queueUp(lock: string): Place {
  const turn = queues.get(lock) ?? Promise.resolve();
  let leave = (): void => undefined;
  const left = new Promise<void>((done) => {
    leave = done;
  });
  // Who leaves early, because it waited for too long, does not let the next one past those before it.
  const last = turn
    .then(() => left)
    .then(() => {
      if (queues.get(lock) === last) queues.delete(lock);
    });
  queues.set(lock, last);
  return { turn, leave };
}

async function inTime(turn: Promise<void>, timeoutMs: number): Promise<boolean> {
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
): Promise<string | typeof DONE | undefined> {
  let holder: string | undefined;
  for (;;) {
    const { token, again, held } = tryOnce(lock);
    if (token !== undefined) return token;
    if (isDone !== undefined && held !== undefined && held !== holder) {
      holder = held;
      if (await isDone()) return DONE;
    }
    if (performance.now() >= deadline) return undefined;
    await sleep(again ? 0 : POLL_MS + Math.random() * POLL_JITTER_MS);
  }
}

interface Try {
  readonly token?: string | undefined;
  /** Who has it instead. */
  readonly held?: string | undefined;
  readonly again?: boolean;
}

function tryOnce(lock: string): Try {
  try {
    const token = createLock(lock);
    if (token !== undefined) {
      removeAbandonedMarkers(lock);
      return { token };
    }
    return { again: clearStaleLock(lock), held: lockHolder(lock) };
  } catch (error) {
    throw impossible(lock.slice(0, -'.lock'.length), error);
  }
}

function tooLong(file: string, timeoutMs: number): TurnbuckleError {
  const pid = lockOwner(`${file}.lock`);
  const owner = pid === undefined ? 'another writer' : `process ${pid}`;
  return new TurnbuckleError(
    'OVERLOADED',
    `The file ${file} was not free within ${timeoutMs} ms: ${owner} is writing it.`,
    { hint: `Try again; the lock is ${file}.lock.`, data: { file, pid, timeoutMs } },
  );
}

function impossible(file: string, error: unknown): TurnbuckleError {
  const code = errorCode(error) ?? 'unknown error';
  return new TurnbuckleError('CONFIG_INVALID', `The file ${file} cannot be locked (${code}).`, {
    hint: 'The directory of the file must exist and be writable.',
    cause: error,
    data: { file, reason: code },
  });
}
