/** Tells when one of some files changed, came or went; a burst of changes is one. */
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pathsTo } from './paths-to.js';
import { factsOf, inTime, reach } from './read-file.js';

/** Changes that come this close together are one. */
const COALESCE_MS = 50;
/** However long a burst is, somebody looks this often. */
const LATEST_MS = 500;
/** Not every change is heard of: network drives, no watches left, a directory far above that is moved. */
const LOOK_MS = 5_000;

export interface WatchOptions {
  /** Asked anew before each round: a change may bring other files. */
  readonly files: () => readonly string[] | Promise<readonly string[]>;
  /** Work that is under way delays the next round, never overlaps it. */
  readonly onChange: () => Promise<void>;
  readonly lookMs?: number;
}

/** Watches, from when it resolves, until the function is called that it answers, which waits for the work under way. */
export async function watchFiles({
  files,
  onChange,
  lookMs = LOOK_MS,
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
        // First the watches, then the look: what comes after it is heard of.
        await directories.renew(await files());
        return onChange();
      })
      .catch(() => {});
  };
  const notice = (): void => {
    const now = performance.now();
    since ??= now;
    clearTimeout(timer);
    timer = setTimeout(round, Math.min(COALESCE_MS, Math.max(since + LATEST_MS - now, 0)));
  };
  const directories = new WatchedDirectories(notice);
  await directories.renew(await files());
  const stopLooking = look(files, notice, lookMs);
  return async () => {
    stopLooking();
    directories.close();
    clearTimeout(timer);
    await running;
  };
}

/** Looks at the files themselves from time to time. */
function look(files: WatchOptions['files'], onDifference: () => void, lookMs: number): () => void {
  let seen: string | undefined;
  let isLooking = false;
  const compare = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const facts = JSON.stringify(await Promise.all((await files()).map(marksOf)));
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

const marksOf = (file: string): Promise<unknown> =>
  reach(dirname(file))
    .then(() => inTime(file, () => stat(file)))
    .then(
      ({ ino, size, mtimeMs, ctimeMs }) => [file, ino, size, mtimeMs, ctimeMs],
      (error: unknown) => [file, error instanceof Error && 'code' in error ? error.code : ''],
    );

interface Watched {
  readonly watcher: FSWatcher;
  readonly inode: number;
}

/**
 * The directories of the files, not the files: one that is replaced by a rename, or does not exist yet, has no
 * watch of its own. For a directory that is missing, the nearest one above it stands in.
 */
class WatchedDirectories {
  /** Files, and links on the way to them. */
  #wanted: ReadonlySet<string> = new Set();
  /** Each way down to one: when a step of it comes or goes, other directories have to be watched. */
  #steps: ReadonlySet<string> = new Set();
  readonly #onChange: () => void;
  readonly #watched = new Map<string, Watched>();
  #closed = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  async renew(files: readonly string[]): Promise<void> {
    if (this.#closed) return;
    const wanted = (await Promise.all(files.map(pathsTo))).flat();
    const directories = [...new Set(wanted.map((file) => dirname(file)))];
    const found = new Map((await Promise.all(directories.map(nearestDirectory))).flat());
    if (this.#closed) return;
    this.#wanted = new Set(wanted);
    this.#steps = new Set([...this.#wanted].flatMap(stepsTo));
    for (const [directory, { inode }] of this.#watched)
      if (found.get(directory) !== inode) this.#drop(directory);
    const fresh = [...found].filter(([directory]) => !this.#watched.has(directory));
    const added = fresh.filter(([directory, inode]) => this.#add(directory, inode));
    // What came between the look and the watch would not be heard of.
    if (added.length > 0) await this.renew(files);
  }

  close(): void {
    this.#closed = true;
    for (const directory of this.#watched.keys()) this.#drop(directory);
  }

  #add(directory: string, inode: number): boolean {
    try {
      const watcher = watch(directory, (event, name) => this.#notice(directory, event, name));
      watcher.on('error', () => this.#drop(directory));
      this.#watched.set(directory, { watcher, inode });
      return true;
    } catch {
      // Not ours to read, or the system has no watch left: then the look from time to time has to do.
      return false;
    }
  }

  #drop(directory: string): void {
    this.#watched.get(directory)?.watcher.close();
    this.#watched.delete(directory);
  }

  #notice(directory: string, event: string, name: string | null): void {
    const isRename = event === 'rename';
    // A directory that goes away says so under its own name. The next one may get its inode.
    if (isRename && name === basename(directory)) this.#drop(directory);
    const path = name === null ? undefined : join(directory, name);
    const isStep = path === undefined || name === basename(directory) || this.#steps.has(path);
    if ((path !== undefined && this.#wanted.has(path)) || (isRename && isStep)) this.#onChange();
  }
}

function stepsTo(file: string): string[] {
  const above = dirname(file);
  return above === dirname(above) ? [] : [above, ...stepsTo(above)];
}

/** The nearest that is there and answers: of a drive that is away nothing is heard. */
async function nearestDirectory(directory: string): Promise<Array<[directory: string, inode: number]>> {
  const facts = await factsOf(directory);
  if (facts?.isDirectory() === true) return [[directory, facts.ino]];
  return directory === dirname(directory) ? [] : nearestDirectory(dirname(directory));
}
