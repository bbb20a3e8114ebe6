/**
 * A directory with compiled code. Whoever can write there can run code as this user: it belongs to this user alone, or
 * it is not used. A cache is never worth an error, so every failure means that there is no entry.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const CRC_BYTES = 4;
const MAX_ENTRY_BYTES = 16 * 1_024 * 1_024;
const MAX_BUILDS = 4;
const WRITABLE_BY_OTHERS = 0o022;

export class CodeCache {
  readonly #stateDirectory: string;
  readonly #directory: string;

  /** `build` names the build of the command; the cache keeps the code of the last few builds. */
  constructor(stateDirectory: string, build: string) {
    this.#stateDirectory = stateDirectory;
    this.#directory = join(stateDirectory, 'code-cache', build);
  }

  read(name: string): Buffer | undefined {
    return undefinedIfThrows(() => {
      if (!isOwnDirectory(dirname(this.#directory)) || !isOwnDirectory(this.#directory)) return undefined;
      const entry = readOwnFile(this.#pathOf(name));
      const data = entry?.subarray(CRC_BYTES);
      if (entry === undefined || data === undefined || entry.length < CRC_BYTES) return undefined;
      // V8 checks its own version, but not that the data is what was written.
      return entry.readUInt32LE(0) === crcOf(data) ? data : undefined;
    });
  }

  write(name: string, data: Buffer): void {
    undefinedIfThrows(() => {
      // Whoever runs this as another user, with the home directory of this one, leaves nothing here.
      if (!isOwnDirectory(this.#stateDirectory)) return;
      this.#createDirectory();
      if (!isOwnDirectory(dirname(this.#directory)) || !isOwnDirectory(this.#directory)) return;
      const crc = Buffer.alloc(CRC_BYTES);
      crc.writeUInt32LE(crcOf(data));
      const path = this.#pathOf(name);
      const temporary = `${path}.${process.pid}.tmp`;
      try {
        writeFileSync(temporary, Buffer.concat([crc, data]), { mode: 0o600, flag: 'wx' });
        renameSync(temporary, path);
      } catch {
        rmSync(temporary, { force: true });
      }
    });
  }

  /** Another version of V8, or other flags, have files of their own. */
  #pathOf(name: string): string {
    const v8 = process.getBuiltinModule('node:v8');
    return join(this.#directory, `${name}.${v8.cachedDataVersionTag().toString(36)}`);
  }

  #createDirectory(): void {
    const isNew = mkdirSync(this.#directory, { recursive: true, mode: 0o700 }) !== undefined;
    if (!isNew) return;
    const all = dirname(this.#directory);
    const builds = readdirSync(all).map((name) => join(all, name));
    const newestFirst = builds.sort((one, other) => lstatSync(other).mtimeMs - lstatSync(one).mtimeMs);
    for (const old of newestFirst.slice(MAX_BUILDS)) rmSync(old, { recursive: true, force: true });
  }
}

/** Loads zlib only here: most commands need no large file. */
const crcOf = (data: Buffer): number => process.getBuiltinModule('node:zlib').crc32(data);

function isOwnDirectory(path: string): boolean {
  const stats = lstatSync(path);
  return stats.isDirectory() && isOwn(stats);
}

function readOwnFile(path: string): Buffer | undefined {
  // A link would lead to a file of somebody else's choice.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || !isOwn(stats) || stats.size > MAX_ENTRY_BYTES) return undefined;
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Windows has neither; there, the directory inherits the permissions of the user's profile. */
function isOwn({ uid, mode }: Stats): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & WRITABLE_BY_OTHERS) === 0);
}

function undefinedIfThrows<Value>(attempt: () => Value): Value | undefined {
  try {
    return attempt();
  } catch {
    return undefined;
  }
}
