/** One daemon for each state directory: it owns the tokens, the log and the connections there. */
import { TurnbuckleError } from 'turnbuckle';
import { claimLock, HeldLock, type LockRecord, makeDirectory } from 'turnbuckle/host';
import { errorCode } from 'turnbuckle/light';
import {
  findRunningDaemon,
  lockPath,
  REMOTE_DAEMON_LIFETIME_MS,
  removeRecord,
  writeRecord,
} from './daemon-record.js';
import { isDiskFull, reasonText } from './file-system-error.js';

export interface InstanceOptions {
  readonly stateDir: string;
  readonly version: string;
  /** Stored in the record unchanged. */
  readonly startedWith?: object | undefined;
  /** Another process took the lock while this one was suspended: this one should exit. */
  readonly onLost?: (() => void) | undefined;
}

/** Well within the time after which a process in another container takes over the lock. */
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

  /** Call it when the daemon is ready: from now on commands find it. */
  announce(url: string): void {
    const { stateDir, version, startedWith } = this.#options;
    const { pid, since } = this.#lock.record;
    writeRecord(stateDir, { pid, url, started: since, version, startedWith }, this.#lock.record);
  }

  /** Another daemon may start. Happens automatically when the process exits normally. */
  readonly release = (): void => {
    clearInterval(this.#timer);
    process.off('exit', this.release);
    try {
      if (!this.#holdsLock()) return;
      removeRecord(this.#options.stateDir);
      this.#lock.release();
    } catch {
      // On a disk that cannot be written they stay; the next daemon sees that their process is gone.
    }
  };

  #refresh(): void {
    if (this.#holdsLock()) return;
    clearInterval(this.#timer);
    this.#options.onLost?.();
  }

  #holdsLock(): boolean {
    try {
      return this.#lock.refresh();
    } catch {
      // A disk that does not respond for a moment is no reason to give up the lock.
      return true;
    }
  }
}

/** DAEMON_RUNNING, with its process and address, if there is one already; CONFIG_INVALID if the directory is unusable. */
export function claimInstance(options: InstanceOptions): Instance {
  const { stateDir } = options;
  let claimed: HeldLock | LockRecord;
  try {
    makeDirectory(stateDir);
    claimed = claimLock(lockPath(stateDir), { remoteLifetimeMs: REMOTE_DAEMON_LIFETIME_MS });
  } catch (cause) {
    throw stateUnusable(stateDir, cause);
  }
  if (claimed instanceof HeldLock) return new Instance(options, claimed);
  throw alreadyRunning(stateDir, claimed);
}

/** A file system error in the state directory, as CONFIG_INVALID. */
export function stateUnusable(stateDir: string, cause: unknown): TurnbuckleError {
  const reason = errorCode(cause) ?? 'unknown error';
  return new TurnbuckleError(
    'CONFIG_INVALID',
    `Cannot use the state directory ${stateDir}: ${reasonText(reason)}.`,
    {
      hint: isDiskFull(reason)
        ? 'Free disk space, or choose another directory with TURNBUCKLE_STATE_DIR.'
        : 'The state directory must be a writable directory.',
      cause,
      data: { stateDir, reason },
    },
  );
}

function alreadyRunning(stateDir: string, { pid, since }: LockRecord): TurnbuckleError {
  const daemon = findRunningDaemon(stateDir);
  const url = daemon?.pid === pid ? daemon.url : undefined;
  const place = url === undefined ? 'not ready yet' : `at ${url}`;
  return new TurnbuckleError(
    'DAEMON_RUNNING',
    `A daemon already uses the state directory ${stateDir} (process ${pid}, ${place}, running since ${since}).`,
    {
      hint: 'To run a second daemon, set TURNBUCKLE_STATE_DIR to another directory. Otherwise, use the running daemon, or stop it: turnbuckle serve stop',
      data: { stateDir, pid, url, since },
    },
  );
}
