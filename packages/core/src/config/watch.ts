/** Tells when one of some files changed, came or went; a burst of changes is one. */
import { type FSWatcher, statSync, watch } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Changes that come this close together are one. */
const COALESCE_MS = 50;

/** Watches until the returned function is called. Work that is under way delays the next round, never overlaps it. */
export async function watchFiles(
  files: readonly string[],
  onChange: () => Promise<void>,
): Promise<() => Promise<void>> {
  const wanted = new Set([...files, ...(await Promise.all(files.map(behindLinks)))]);
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const round = (): void => {
    running = running.then(onChange).catch(() => {});
  };
  const directories = new WatchedDirectories(wanted, () => {
    clearTimeout(timer);
    timer = setTimeout(round, COALESCE_MS);
  });
  directories.renew();
  return async () => {
    directories.close();
    clearTimeout(timer);
    await running;
  };
}

/** Whoever saves a file that is reached by a link changes what is behind it, not the link. */
const behindLinks = (file: string): Promise<string> => realpath(file).catch(() => file);

interface Watched {
  readonly watcher: FSWatcher;
  readonly inode: number;
}

/**
 * The directories of the files, not the files: one that is replaced by a rename, or does not exist yet, has no
 * watch of its own. For a directory that is missing, the nearest one above it stands in.
 */
class WatchedDirectories {
  readonly #wanted: ReadonlySet<string>;
  /** Each way down to a file: when a step of it comes or goes, other directories have to be watched. */
  readonly #steps = new Set<string>();
  readonly #onChange: () => void;
  readonly #watched = new Map<string, Watched>();
  #closed = false;

  constructor(wanted: ReadonlySet<string>, onChange: () => void) {
    this.#wanted = wanted;
    this.#onChange = onChange;
    for (const file of wanted)
      for (let step = dirname(file); step !== dirname(step); step = dirname(step)) this.#steps.add(step);
  }

  renew(): void {
    if (this.#closed) return;
    const found = new Map([...this.#wanted].flatMap((file) => nearestDirectory(dirname(file))));
    for (const [directory, { watcher, inode }] of this.#watched) {
      if (found.get(directory) === inode) continue;
      watcher.close();
      this.#watched.delete(directory);
    }
    const fresh = [...found].filter(([directory]) => !this.#watched.has(directory));
    const added = fresh.filter(([directory, inode]) => this.#add(directory, inode));
    // What came between the look and the watch would not be heard of.
    if (added.length > 0) this.renew();
  }

  close(): void {
    this.#closed = true;
    for (const { watcher } of this.#watched.values()) watcher.close();
  }

  #add(directory: string, inode: number): boolean {
    try {
      const watcher = watch(directory, (event, name) => this.#notice(directory, event, name));
      watcher.on('error', () => this.#watched.delete(directory));
      this.#watched.set(directory, { watcher, inode });
      return true;
    } catch {
      // Not ours to read, or the system has no watch left: reload() still works.
      return false;
    }
  }

  #notice(directory: string, event: string, name: string | null): void {
    if (name !== null && this.#wanted.has(join(directory, name))) return this.#onChange();
    // A directory that goes away says so under its own name.
    const isStep = name === null || name === basename(directory) || this.#steps.has(join(directory, name));
    if (event !== 'rename' || !isStep) return;
    this.renew();
    // The files may have come or gone with it.
    this.#onChange();
  }
}

function nearestDirectory(directory: string): Array<[directory: string, inode: number]> {
  const inode = inodeOf(directory);
  if (inode !== undefined) return [[directory, inode]];
  return directory === dirname(directory) ? [] : nearestDirectory(dirname(directory));
}

function inodeOf(directory: string): number | undefined {
  try {
    const facts = statSync(directory);
    return facts.isDirectory() ? facts.ino : undefined;
  } catch {
    return undefined;
  }
}
