/** One daemon for each state directory: it owns the tokens, the log and the connections there. */
import { makeDirectory, TurnbuckleError } from 'turnbuckle';
import { findDaemon, lockPath, removeRecord, writeRecord } from './daemon-record.js';
import { isFull, reasonText } from './disk-fault.js';
import { errorCode } from './process-identity.js';
import { claimLock, HeldLock, type LockRecord } from './process-lock.js';

export interface InstanceOptions {
  readonly stateDir: string;
  readonly version: string;
  /** Kept in the record, as it is. */
  readonly startedWith?: object | undefined;
  /** The lock was taken from this process while it slept: it is not the only one any more and should end. */
  readonly onLost?: (() => void) | undefined;
}

/** Well within the time after which somebody in another container takes the lock over. */
const REFRESH_MS = 5_000;

/** From `claimInstance` to `release`, or to the end of the process. */
export class Instance {
  readonly #options: InstanceOptions;
  readonly #lock: HeldLock;
  readonly #timer: NodeJS.Timeout;

  constructor(options: InstanceOptions, lock: HeldLock) {
    this.#options = options;
    this.#lock = lock;
    this.#timer = setInterval(() => this.#refresh(), REFRESH_MS).unref();
    process.once('exit', this.release);
  }

  /** To be called when the daemon is ready: from now on commands find it. */
  announce(url: string): void {
    const { stateDir, version, startedWith } = this.#options;
    const { pid, since } = this.#lock.record;
    writeRecord(stateDir, { pid, url, started: since, version, startedWith }, this.#lock.record);
  }

  /** Another one may start. Happens by itself when the process ends in order. */
  readonly release = (): void => {
    clearInterval(this.#timer);
    process.off('exit', this.release);
    try {
      if (!this.#isOwn()) return;
      removeRecord(this.#options.stateDir);
      this.#lock.release();
    } catch {
      // On a disk that takes no more writes they stay; who starts next sees that their process is gone.
    }
  };

  #refresh(): void {
    if (this.#isOwn()) return;
    clearInterval(this.#timer);
    this.#options.onLost?.();
  }

  #isOwn(): boolean {
    try {
      return this.#lock.refresh();
    } catch {
      // A disk that does not answer for a moment takes nothing from us.
      return true;
    }
  }
}

/** DAEMON_RUNNING, with who it is, when there is one already; CONFIG_INVALID when the directory cannot be used. */
export function claimInstance(options: InstanceOptions): Instance {
  const { stateDir } = options;
  let claimed: HeldLock | LockRecord;
  try {
    makeDirectory(stateDir);
    claimed = claimLock(lockPath(stateDir));
  } catch (cause) {
    throw stateUnusable(stateDir, cause);
  }
  if (claimed instanceof HeldLock) return new Instance(options, claimed);
  throw alreadyRunning(stateDir, claimed);
}

/** What the file system refused while the state was written, as CONFIG_INVALID. */
export function stateUnusable(stateDir: string, cause: unknown): TurnbuckleError {
  const reason = errorCode(cause) ?? 'unknown error';
  return new TurnbuckleError(
    'CONFIG_INVALID',
    `The state directory ${stateDir} cannot be used (${reasonText(reason)}).`,
    {
      hint: isFull(reason)
        ? 'Make room on the disk, or name another directory by XDG_STATE_HOME.'
        : 'It must be a directory that you can write to.',
      cause,
      data: { stateDir, reason },
    },
  );
}

function alreadyRunning(stateDir: string, { pid, since }: LockRecord): TurnbuckleError {
  const daemon = findDaemon(stateDir);
  const url = daemon?.pid === pid ? daemon.url : undefined;
  const place = url === undefined ? 'not ready yet' : `at ${url}`;
  return new TurnbuckleError(
    'DAEMON_RUNNING',
    `A daemon runs with the state directory ${stateDir} already: process ${pid}, ${place}, since ${since}.`,
    {
      hint: 'Use that one, or end it: turnbuckle serve stop. A second one needs a state directory of its own: TURNBUCKLE_STATE_DIR.',
      data: { stateDir, pid, url, since },
    },
  );
}
