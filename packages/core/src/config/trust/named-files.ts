/**
 * The project files in a server's command: their content decides what runs, as much as the command. Files that they
 * load are not covered.
 */
import { createHash, type Hash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { extname, isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCode } from '../../errors.js';
import { homeDirectory } from '../../files/home-directory.js';
import { errorWithCode, openFile, withTimeout } from '../../files/read-file.js';
import { MalformedPlaceholder, splitPlaceholders } from '../../text/placeholders.js';
import { addProgramFiles, PathSet } from './program-files.js';

export interface CommandEntry {
  /** The project's directory. */
  readonly directory: string;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Compared by content up to this total size; beyond it by size and times. */
const MAX_HASHED_BYTES = 128 * 1_024 * 1_024;
const HASH_TIMEOUT_MS = 30_000;
/** For all arguments together. Linux does not start a program with more. */
const MAX_ARGUMENT_CHARACTERS = 128 * 1_024;
/** Each candidate is looked up. */
const MAX_PATHS = 20_000;
/** For all files together: an unavailable drive blocks every access. */
const LOOKUP_TIMEOUT_MS = 20_000;
const MAX_CACHED_HASHES = 1_000;

/** Written by servers at run time: a change does not make it another program. */
const DATA_EXTENSIONS = new Set(['.db', '.duckdb', '.log', '.pid', '.sock', '.sqlite', '.sqlite3']);

/**
 * The path of each file, relative to the project, and a hash of its content. Missing files are omitted. Rejects with
 * a `code`: E2BIG if there is too much to check, ETIMEDOUT if it takes too long.
 */
export async function namedFiles(naming: CommandEntry): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = Object.create(null);
  let leftBytes = MAX_HASHED_BYTES;
  for (const file of await withTimeout(naming.directory, () => existingFiles(naming), LOOKUP_TIMEOUT_MS)) {
    const { size } = file.stats;
    const isHashed = size <= leftBytes;
    if (isHashed) leftBytes -= Number(size);
    found[file.name] = isHashed ? await contentHash(file) : `large ${stampOf(file.stats)}`;
  }
  return found;
}

/** Each under one name. */
async function existingFiles(naming: CommandEntry): Promise<Iterable<NamedFile>> {
  const { directory, entry } = naming;
  const root = await realpath(directory).catch(() => directory);
  const cwd = resolve(directory, typeof entry.cwd === 'string' ? fill(entry.cwd, naming) : '.');
  const found = new Map<string, NamedFile>();
  for (const path of await candidates(naming, cwd)) {
    const file = await inspect(path, { directory, root });
    if (file !== undefined && !found.has(file.name)) found.set(file.name, file);
  }
  return found.values();
}

/** Every path that the command, its arguments or a part of them could refer to. */
async function candidates(naming: CommandEntry, cwd: string): Promise<ReadonlySet<string>> {
  const { command } = naming.entry;
  const words = argumentsOf(naming);
  const program = typeof command === 'string' ? fill(command, naming) : '';
  const found = new PathSet(MAX_PATHS);
  if (program !== '') found.add(resolve(cwd, program));
  for (const word of words)
    for (const part of partsOf(word))
      if (!DATA_EXTENSIONS.has(extname(part).toLowerCase())) found.add(resolve(cwd, part));
  // Whatever an interpreter runs is a program, whatever its name.
  await addProgramFiles(found, [program, ...words], cwd);
  for (const word of new Set(words)) await addProgramFiles(found, word.split(SHELL_SEPARATORS), cwd);
  return found.paths;
}

/** All of them: an omitted one could be the program. */
function argumentsOf(naming: CommandEntry): string[] {
  const { args } = naming.entry;
  let left = MAX_ARGUMENT_CHARACTERS;
  const take = (length: number): void => {
    left -= length;
    if (left < 0) throw errorWithCode('E2BIG');
  };
  return (Array.isArray(args) ? args : []).flatMap((word: unknown) => {
    if (typeof word !== 'string') return [];
    take(word.length);
    const filled = fill(word, naming);
    take(filled.length - word.length);
    return [filled];
  });
}

/** The separators between words of a shell line. */
const SHELL_SEPARATORS = /[\s"'`;|&()<>{}[\]$,]+/;

/** A word as a whole, the part after its equals sign, and for a shell line each of its words. */
function partsOf(word: string): string[] {
  const pieces = [word, ...word.split(SHELL_SEPARATORS)];
  const values = pieces.flatMap((piece) => {
    const cut = piece.indexOf('=');
    return cut === -1 ? [piece] : [piece, piece.slice(cut + 1)];
  });
  // An option with its value attached: -r./hook.cjs
  const joined = values.flatMap((value) => (/^-\w[^-]/.test(value) ? [value, value.slice(2)] : [value]));
  return joined.flatMap(toPath).filter((part) => part !== '' && part.length <= 4_096 && !part.includes('\0'));
}

function toPath(text: string): string[] {
  if (!/^file:/i.test(text)) return [text];
  try {
    return [fileURLToPath(text)];
  } catch {
    return [];
  }
}

/** Placeholders whose values are known without prompting. */
function fill(text: string, naming: CommandEntry): string {
  if (!text.includes('${')) return text;
  const pieces = splitPlaceholders(text);
  if (pieces instanceof MalformedPlaceholder) return text;
  const { directory, environment } = naming;
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      if (piece.name === 'workspaceFolder') return directory;
      if (piece.name === 'userHome') return homeDirectory(environment);
      const variable = piece.name.replace(/^env:/, '');
      const value = Object.hasOwn(environment, variable) ? environment[variable] : undefined;
      return value || fill(piece.fallback ?? '', naming);
    })
    .join('');
}

interface NamedFile {
  readonly name: string;
  /** The real path, with all links resolved. */
  readonly real: string;
  readonly stats: BigIntStats;
}

async function inspect(
  path: string,
  { directory, root }: { readonly directory: string; readonly root: string },
): Promise<NamedFile | undefined> {
  try {
    const stats = await stat(path, { bigint: true });
    if (!stats.isFile()) return undefined;
    const real = await realpath(path);
    const name = relativeInside(directory, path) ?? relativeInside(root, real);
    return name === undefined ? undefined : { name, real, stats };
  } catch {
    return undefined;
  }
}

function relativeInside(directory: string, path: string): string | undefined {
  const way = relative(directory, path);
  return way === '' || way === '..' || /^\.\.[\\/]/.test(way) || isAbsolute(way) ? undefined : way;
}

/** Cached hashes, by file identity and times. */
const hashCache = new Map<string, string>();

async function contentHash({ real, stats }: NamedFile): Promise<string> {
  const key = `${real}\0${stampOf(stats)}`;
  const before = hashCache.get(key);
  if (before !== undefined) return before;
  const hash = createHash('sha256');
  // The real path is part of it: relative imports of the same text refer to other files there.
  hash.update(`${real}\0`);
  try {
    await withTimeout(real, () => addContent(hash, real), HASH_TIMEOUT_MS);
  } catch (error) {
    return `unreadable ${errorCode(error) ?? ''}`;
  }
  const content = hash.digest('hex');
  if (hashCache.size >= MAX_CACHED_HASHES) hashCache.clear();
  hashCache.set(key, content);
  return content;
}

async function addContent(hash: Hash, path: string): Promise<void> {
  const handle = await openFile(path);
  // Whatever size it reports.
  const content = handle.createReadStream({ end: MAX_HASHED_BYTES });
  for await (const chunk of content) hash.update(chunk as Buffer);
}

const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join('-');
