/** Tells when one of some files changed, came or went; a burst of changes is one. */
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Changes that come this close together are one. */
const COALESCE_MS = 50;

/** Watches until the returned function is called. Work that is under way delays the next round, never overlaps it. */
export async function watchFiles(
  files: readonly string[],
  onChange: () => Promise<void>,
): Promise<() => Promise<void>> {
  const { watch } = await import('chokidar');
  const wanted = new Set([...files, ...(await Promise.all(files.map(behindLinks)))]);
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const round = (): void => {
    timer = undefined;
    running = running.then(onChange).catch(() => {});
  };
  // The directories: a file that is replaced by a rename, or does not exist yet, has no watch of its own.
  const watcher = watch([...new Set([...wanted].map((file) => dirname(file)))], {
    depth: 0,
    ignored: (path, facts) => facts?.isFile() === true && !wanted.has(path),
    ignoreInitial: true,
    ignorePermissionErrors: true,
  });
  watcher.on('all', (_event, path) => {
    if (!wanted.has(path)) return;
    clearTimeout(timer);
    timer = setTimeout(round, COALESCE_MS);
  });
  await new Promise<void>((resolve) => watcher.once('ready', resolve));
  return async () => {
    clearTimeout(timer);
    await watcher.close();
    await running;
  };
}

/** Whoever saves a file that is reached by a link changes what is behind it, not the link. */
const behindLinks = (file: string): Promise<string> => realpath(file).catch(() => file);
