/** Which files of which clients are on this machine. Reads nothing but names and sizes. */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import { type Candidate, createPathBuilder, type Machine } from './client-paths.js';
import { CLIENTS } from './clients.js';
import type { Scope } from './entries/imported-server.js';
import { MAX_FILE_BYTES } from './formats/parse-text.js';

export interface DiscoveredFile {
  readonly client: string;
  readonly scope: Scope;
  readonly path: string;
  /** Other clients that read the same file. */
  readonly alsoFor: readonly string[];
  /** Why the file is there and yet is not to be read. */
  readonly problem?: string;
}

/** The part of a file system that is needed; `node:fs` unless a test gives another. */
export interface FileSystemView {
  size(path: string): number | undefined;
  /** The path with every link followed. */
  real(path: string): string;
  names(folder: string): readonly string[];
}

export interface DiscoverOptions extends Machine {
  readonly files?: FileSystemView;
}

const MAX_DIRECTORY_ENTRIES = 200;

/** Every file that exists, in the order of the table of clients; never throws. */
export function discover({ files = NODE_FILES, ...place }: DiscoverOptions): DiscoveredFile[] {
  const at = createPathBuilder(place);
  const found = new Map<string, DiscoveredFile>();
  for (const { id, candidates } of CLIENTS) {
    const looked = candidates(at).flatMap((each) => expandCandidate(each, files, at.join));
    for (const candidate of withoutDuplicates(looked, files)) {
      const known = found.get(candidate.path);
      if (known !== undefined) {
        if (known.client !== id && !known.alsoFor.includes(id))
          found.set(candidate.path, { ...known, alsoFor: [...known.alsoFor, id] });
        continue;
      }
      const size = files.size(candidate.path);
      if (size === undefined) continue;
      const problem = problemOf(candidate, size, { files, platform: place.platform });
      const { scope, path } = candidate;
      found.set(path, {
        client: id,
        scope,
        path,
        alsoFor: [],
        ...(problem === undefined ? {} : { problem }),
      });
    }
  }
  return [...found.values()];
}

/** In the home directory, or where a link leads there, a file of the user's is in the place of a project's too. */
function withoutDuplicates(candidates: readonly Candidate[], files: FileSystemView): Candidate[] {
  const ofUser = new Set(
    candidates.filter(({ scope }) => scope === 'user').map(({ path }) => files.real(path)),
  );
  return candidates.filter(
    ({ scope, path }) => !['project', 'local'].includes(scope) || !ofUser.has(files.real(path)),
  );
}

function expandCandidate(
  candidate: Candidate,
  files: FileSystemView,
  join: (...parts: string[]) => string,
): Candidate[] {
  const { each, path } = candidate;
  if (each === undefined) return [candidate];
  const names = [...files.names(path)].sort().slice(0, MAX_DIRECTORY_ENTRIES);
  const chosen =
    'ending' in each
      ? names.filter((name) => name.endsWith(each.ending))
      : names.map((name) => join(name, each.file));
  return chosen.map((name) => ({ ...candidate, path: join(path, name) }));
}

function problemOf(
  { path, within }: Candidate,
  size: number,
  { files, platform }: { files: FileSystemView; platform: NodeJS.Platform },
): string | undefined {
  if (size > MAX_FILE_BYTES) return 'the file is larger than 5 MB';
  const { relative, isAbsolute } = platform === 'win32' ? win32 : posix;
  const inside = relative(files.real(within), files.real(path));
  return inside.startsWith('..') || isAbsolute(inside) ? `the file is outside ${within}` : undefined;
}

const NODE_FILES: FileSystemView = {
  size: (path) =>
    orUndefined(() => {
      const found = statSync(path);
      return found.isFile() ? found.size : undefined;
    }),
  real: (path) => orUndefined(() => realpathSync(path)) ?? path,
  names: (folder) => orUndefined(() => readdirSync(folder)) ?? [],
};

/** A file that may not be looked at counts as absent. */
function orUndefined<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
