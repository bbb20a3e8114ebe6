/**
 * The files of a project that a server's command names: what is in them decides what runs, as much as the command.
 * What those files load in their turn is not looked at.
 */
import { createHash, type Hash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { extname, isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { homeDirectory } from './home-directory.js';
import { MalformedPlaceholder, splitPlaceholders } from './placeholders.js';
import { addProgramFiles, PathSet } from './program-files.js';
import { coded, codeOf, inTime, openFile } from './read-file.js';

export interface NamingEntry {
  /** The project's directory. */
  readonly directory: string;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** By content up to here, all files of a server together; what is beyond by size and times. */
const MAX_HASHED_BYTES = 128 * 1_024 * 1_024;
const HASH_MS = 30_000;
/** Of all arguments together. Linux starts nothing with a longer one. */
const MAX_CHARACTERS = 128 * 1_024;
/** Each of them is looked for. */
const MAX_PATHS = 20_000;
/** For all of them together: a drive that is away keeps whoever asks for one file of it waiting. */
const LOOK_MS = 20_000;
const MAX_KNOWN = 1_000;

/** What servers write into themselves: a change of it is no other program. */
const DATA = new Set(['.db', '.duckdb', '.log', '.pid', '.sock', '.sqlite', '.sqlite3']);

/**
 * The path of each file, from the project's directory, and what stands for its content. Missing ones are left out.
 * Rejects with an error that has a `code`: E2BIG where there is too much to look at, ETIMEDOUT where that takes too long.
 */
export async function namedFiles(naming: NamingEntry): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = Object.create(null);
  let leftBytes = MAX_HASHED_BYTES;
  for (const file of await inTime(naming.directory, () => existing(naming), LOOK_MS)) {
    const { size } = file.stats;
    const isHashed = size <= leftBytes;
    if (isHashed) leftBytes -= Number(size);
    found[file.name] = isHashed ? await contentOf(file) : `large ${stampOf(file.stats)}`;
  }
  return found;
}

/** Each by one name. */
async function existing(naming: NamingEntry): Promise<Iterable<Found>> {
  const { directory, entry } = naming;
  const root = await realpath(directory).catch(() => directory);
  const cwd = resolve(directory, typeof entry.cwd === 'string' ? fill(entry.cwd, naming) : '.');
  const found = new Map<string, Found>();
  for (const path of await candidates(naming, cwd)) {
    const file = await inspect(path, { directory, root });
    if (file !== undefined && !found.has(file.name)) found.set(file.name, file);
  }
  return found.values();
}

/** Every path that the command, its arguments or a part of them could mean. */
async function candidates(naming: NamingEntry, cwd: string): Promise<ReadonlySet<string>> {
  const { command } = naming.entry;
  const words = argumentsOf(naming);
  const program = typeof command === 'string' ? fill(command, naming) : '';
  const found = new PathSet(MAX_PATHS);
  if (program !== '') found.add(resolve(cwd, program));
  for (const word of words)
    for (const part of partsOf(word))
      if (!DATA.has(extname(part).toLowerCase())) found.add(resolve(cwd, part));
  // What an interpreter runs is a program, whatever it is called.
  await addProgramFiles(found, [program, ...words], cwd);
  for (const word of new Set(words)) await addProgramFiles(found, word.split(BETWEEN_WORDS), cwd);
  return found.paths;
}

/** All of them: what was left out could be the program. */
function argumentsOf(naming: NamingEntry): string[] {
  const { args } = naming.entry;
  let left = MAX_CHARACTERS;
  const take = (length: number): void => {
    left -= length;
    if (left < 0) throw coded('E2BIG');
  };
  return (Array.isArray(args) ? args : []).flatMap((word: unknown) => {
    if (typeof word !== 'string') return [];
    take(word.length);
    const filled = fill(word, naming);
    take(filled.length - word.length);
    return [filled];
  });
}

/** What stands between the words of a line of a shell. */
const BETWEEN_WORDS = /[\s"'`;|&()<>{}[\]$,]+/;

/** A word as a whole, what stands behind its equals sign, and for a line of a shell each of its words. */
function partsOf(word: string): string[] {
  const pieces = [word, ...word.split(BETWEEN_WORDS)];
  const values = pieces.flatMap((piece) => {
    const cut = piece.indexOf('=');
    return cut === -1 ? [piece] : [piece, piece.slice(cut + 1)];
  });
  // An option with its value in one: -r./hook.cjs
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

/** Placeholders as far as they are known without asking anybody. */
function fill(text: string, naming: NamingEntry): string {
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

interface Found {
  readonly name: string;
  /** Where it really is, behind all links. */
  readonly real: string;
  readonly stats: BigIntStats;
}

async function inspect(
  path: string,
  { directory, root }: { readonly directory: string; readonly root: string },
): Promise<Found | undefined> {
  try {
    const stats = await stat(path, { bigint: true });
    if (!stats.isFile()) return undefined;
    const real = await realpath(path);
    const name = within(directory, path) ?? within(root, real);
    return name === undefined ? undefined : { name, real, stats };
  } catch {
    return undefined;
  }
}

function within(directory: string, path: string): string | undefined {
  const way = relative(directory, path);
  return way === '' || way === '..' || /^\.\.[\\/]/.test(way) || isAbsolute(way) ? undefined : way;
}

/** Contents that were read before, by what changes with them. */
const known = new Map<string, string>();

async function contentOf({ real, stats }: Found): Promise<string> {
  const key = `${real}\0${stampOf(stats)}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const hash = createHash('sha256');
  // Where it leads is part of it: relative imports of the same text mean other files there.
  hash.update(`${real}\0`);
  try {
    await inTime(real, () => addContent(hash, real), HASH_MS);
  } catch (error) {
    return `unreadable ${codeOf(error)}`;
  }
  const content = hash.digest('hex');
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, content);
  return content;
}

async function addContent(hash: Hash, path: string): Promise<void> {
  const handle = await openFile(path);
  // However long it says that it is.
  const content = handle.createReadStream({ end: MAX_HASHED_BYTES });
  for await (const chunk of content) hash.update(chunk as Buffer);
}

const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join('-');
