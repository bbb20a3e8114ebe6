/** Reports when any of some files changed, appeared or disappeared; a burst of changes is reported once. */
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../errors.js';
import { pathsBehindLinks } from './link-paths.js';
import { probePath, statOrUndefined, withTimeout } from './read-file.js';

/** Changes that come this close together are reported as one. */
const COALESCE_MS = 50;
/** However long a burst is, it is reported at least this often. */
const MAX_DELAY_MS = 500;
/** Not every change causes an event: network drives, no watches left, a parent directory that is moved. */
const POLL_INTERVAL_MS = 5_000;

export interface WatchOptions {
  /** Called again before each round: a change may add other files. */
  readonly files: () => readonly string[] | Promise<readonly string[]>;
  /** Running work delays the next round and never overlaps it. */
  readonly onChange: () => Promise<void>;
  readonly pollMs?: number;
}

/** Starts watching when it resolves. The returned function stops it, and waits for running work. */
export async function watchFiles({
  files,
  onChange,
  pollMs = POLL_INTERVAL_MS,
}: WatchOptions): Promise<() => Promise<void>> {
  let timer: NodeJS.Timeout | undefined;
  let since: number | undefined;
  let isWaiting = false;
  let running: Promise<void> = Promise.resolve();
  const round = (): void => {
    since = undefined;
    if (isWaiting) return;
    isWaiting = true;
    running = running
      .then(async () => {
        isWaiting = false;
        // Watch first, then check: later changes cause events.
        await directories.update(await files());
        return onChange();
      })
      .catch(() => {});
  };
  const notice = (): void => {
    const now = performance.now();
    since ??= now;
    clearTimeout(timer);
    timer = setTimeout(round, Math.min(COALESCE_MS, Math.max(since + MAX_DELAY_MS - now, 0)));
  };
  const directories = new WatchedDirectories(notice);
  await directories.update(await files());
  const stopLooking = pollFiles(files, notice, pollMs);
  return async () => {
    stopLooking();
    directories.close();
    clearTimeout(timer);
    await running;
  };
}

/** Polls the files themselves. */
function pollFiles(files: WatchOptions['files'], onDifference: () => void, lookMs: number): () => void {
  let seen: string | undefined;
  let isLooking = false;
  const compare = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const facts = JSON.stringify(await Promise.all((await files()).map(statSnapshot)));
    isLooking = false;
    if (seen !== undefined && seen !== facts && !stopped) onDifference();
    seen = facts;
  };
  let stopped = false;
  void compare();
  const timer = setInterval(() => void compare(), lookMs).unref();
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}

const statSnapshot = (file: string): Promise<unknown> =>
  probePath(dirname(file))
    .then(() => withTimeout(file, () => stat(file)))
    .then(
      ({ ino, size, mtimeMs, ctimeMs }) => [file, ino, size, mtimeMs, ctimeMs],
      (error: unknown) => [file, errorCode(error)],
    );

interface WatchedDirectory {
  readonly watcher: FSWatcher;
  readonly inode: number;
}

/**
 * Watches the directories of the files, not the files: a file that is replaced by a rename, or does not exist yet,
 * has no watch. If a directory is missing, its nearest existing parent is watched.
 */
class WatchedDirectories {
  /** Files, and links on the way to them. */
  #paths: ReadonlySet<string> = new Set();
  /** Each step of the paths: when one appears or disappears, other directories have to be watched. */
  #ancestors: ReadonlySet<string> = new Set();
  readonly #onChange: () => void;
  readonly #watched = new Map<string, WatchedDirectory>();
  #closed = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  async update(files: readonly string[]): Promise<void> {
    if (this.#closed) return;
    const wanted = (await Promise.all(files.map(pathsBehindLinks))).flat();
    const directories = [...new Set(wanted.map((file) => dirname(file)))];
    const found = new Map((await Promise.all(directories.map(nearestDirectory))).flat());
    if (this.#closed) return;
    this.#paths = new Set(wanted);
    this.#ancestors = new Set([...this.#paths].flatMap(ancestorsOf));
    for (const [directory, { inode }] of this.#watched)
      if (found.get(directory) !== inode) this.#drop(directory);
    const fresh = [...found].filter(([directory]) => !this.#watched.has(directory));
    const added = fresh.filter(([directory, inode]) => this.#add(directory, inode));
    // Changes between the check and the watch would cause no event.
    if (added.length > 0) await this.update(files);
  }

  close(): void {
    this.#closed = true;
    for (const directory of this.#watched.keys()) this.#drop(directory);
  }

  #add(directory: string, inode: number): boolean {
    try {
      const watcher = watch(directory, (event, name) => this.#onEvent(directory, event, name));
      watcher.on('error', () => this.#drop(directory));
      this.#watched.set(directory, { watcher, inode });
      return true;
    } catch {
      // Not readable, or no watches left: polling has to do.
      return false;
    }
  }

  #drop(directory: string): void {
    this.#watched.get(directory)?.watcher.close();
    this.#watched.delete(directory);
  }

  #onEvent(directory: string, event: string, name: string | null): void {
    const isRename = event === 'rename';
    // A deleted directory is reported under its own name. The next one may get its inode.
    if (isRename && name === basename(directory)) this.#drop(directory);
    const path = name === null ? undefined : join(directory, name);
    const isStep = path === undefined || name === basename(directory) || this.#ancestors.has(path);
    if ((path !== undefined && this.#paths.has(path)) || (isRename && isStep)) this.#onChange();
  }
}

function ancestorsOf(file: string): string[] {
  const above = dirname(file);
  return above === dirname(above) ? [] : [above, ...ancestorsOf(above)];
}

/** The nearest one that exists and responds: an unavailable drive sends no events. */
async function nearestDirectory(directory: string): Promise<Array<[directory: string, inode: number]>> {
  const facts = await statOrUndefined(directory);
  if (facts?.isDirectory() === true) return [[directory, facts.ino]];
  return directory === dirname(directory) ? [] : nearestDirectory(dirname(directory));
}
