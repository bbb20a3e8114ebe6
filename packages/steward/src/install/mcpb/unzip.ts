/**
 * Unpacks a zip archive from somebody else: every entry is checked before anything is written, sizes are limited as
 * announced and as they are, and the event loop is never blocked for long.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inflate } from 'fflate';
import { packageRefused } from '../refusal.js';

export interface ZipLimits {
  readonly maxFiles: number;
  readonly maxBytes: number;
  /** How many times larger than the archive the content may be. */
  readonly maxRatio: number;
}

export const ZIP_LIMITS: ZipLimits = { maxFiles: 20_000, maxBytes: 512 * 1_024 * 1_024, maxRatio: 100 };

export interface ZipEntry {
  readonly name: string;
  readonly isDirectory: boolean;
  readonly method: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
}

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const MAX_COMMENT = 65_535;
const SYMBOLIC_LINK = 0o120000;
const FILE_TYPE = 0o170000;
const ENCRYPTED = 1;
/** File systems hold no longer names. */
const MAX_SEGMENT_BYTES = 255;
const MAX_SEGMENTS = 50;
/** How much is unpacked in one turn: at most a thousand times as much comes out. */
const SLICE = 16 * 1_024;

/** The entries of an archive, all of them safe. Throws FETCH_REFUSED. */
export function listZip(data: Uint8Array, limits: ZipLimits): ZipEntry[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  if (count > limits.maxFiles) throw broken(`has more than ${limits.maxFiles} files`);
  const entries: ZipEntry[] = [];
  const names = new EntryNames(limits.maxFiles);
  let at = view.getUint32(end + 16, true);
  let bytes = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + 46 > end || view.getUint32(at, true) !== CENTRAL) throw broken('is damaged');
    const { entry, next } = readEntry(view, data, at);
    checkName(entry.name);
    names.add(entry);
    bytes += entry.size;
    if (bytes > limits.maxBytes || bytes > data.length * limits.maxRatio)
      throw broken('is too large when unpacked');
    entries.push(entry);
    at = next;
  }
  return entries;
}

function findEnd(view: DataView): number {
  const least = Math.max(0, view.byteLength - END_BYTES - MAX_COMMENT);
  for (let at = view.byteLength - END_BYTES; at >= least; at -= 1)
    if (view.getUint32(at, true) === END) return at;
  throw broken('is not a zip file');
}

function readEntry(view: DataView, data: Uint8Array, at: number): { entry: ZipEntry; next: number } {
  const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) =>
    view.getUint16(at + offset, true),
  );
  const nameEnd = at + 46 + (nameLength ?? 0);
  if (nameEnd > data.length) throw broken('is damaged');
  const name = Buffer.from(data.buffer, data.byteOffset + at + 46, nameLength).toString('utf8');
  const mode = view.getUint32(at + 38, true) >>> 16;
  const shown = JSON.stringify(name.slice(0, 200));
  if ((mode & FILE_TYPE) === SYMBOLIC_LINK) throw broken(`has the entry ${shown}, which is a symbolic link`);
  if ((view.getUint16(at + 8, true) & ENCRYPTED) !== 0)
    throw broken(`has the entry ${shown}, which is encrypted`);
  const method = view.getUint16(at + 10, true);
  if (method !== 0 && method !== 8)
    throw broken(`has the entry ${shown}, whose compression is not supported`);
  const entry = {
    name,
    isDirectory: name.endsWith('/'),
    method,
    packed: view.getUint32(at + 20, true),
    size: view.getUint32(at + 24, true),
    offset: view.getUint32(at + 42, true),
  };
  return { entry, next: nameEnd + (extraLength ?? 0) + (commentLength ?? 0) };
}

/** The names so far. Where upper and lower case are the same, a later file would replace an earlier one. */
class EntryNames {
  readonly #files = new Set<string>();
  readonly #directories = new Set<string>();
  readonly #entries = new Set<string>();
  readonly #maxDirectories: number;

  constructor(maxDirectories: number) {
    this.#maxDirectories = maxDirectories;
  }

  add({ name, isDirectory }: ZipEntry): void {
    const key = name.toLowerCase();
    const shown = JSON.stringify(name.slice(0, 200));
    if (this.#entries.has(key)) throw broken(`has two entries named ${shown}`);
    this.#entries.add(key);
    const segments = key.replace(/\/$/, '').split('/');
    const paths = segments.map((_, at) => segments.slice(0, at + 1).join('/'));
    const path = paths.at(-1) ?? '';
    const directories = isDirectory ? paths : paths.slice(0, -1);
    if (directories.some((one) => this.#files.has(one)) || (!isDirectory && this.#directories.has(path)))
      throw broken(`has the entry ${shown}, which is a file and a directory`);
    if (!isDirectory) this.#files.add(path);
    for (const one of directories) this.#directories.add(one);
    if (this.#directories.size > this.#maxDirectories)
      throw broken(`has more than ${this.#maxDirectories} directories`);
  }
}

function checkName(name: string): void {
  const segments = name.replace(/\/$/, '').split('/');
  const isSafe =
    name.length <= 1_000 &&
    !/[\\\p{Cc}:]/u.test(name) &&
    segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..');
  if (!isSafe)
    throw broken(`has the entry ${JSON.stringify(name.slice(0, 200))}, which is outside its directory`);
  if (segments.length > MAX_SEGMENTS || segments.some((one) => Buffer.byteLength(one) > MAX_SEGMENT_BYTES))
    throw broken(`has the entry ${JSON.stringify(name.slice(0, 200))}, whose name is too long`);
}

/** The content of one entry, exactly as large as announced. */
export async function readZipEntry(data: Uint8Array, entry: ZipEntry): Promise<Uint8Array> {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const { offset, packed, size, name } = entry;
  if (offset + 30 > data.length || view.getUint32(offset, true) !== LOCAL) throw broken('is damaged');
  const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  if (start + packed > data.length) throw broken('is damaged');
  const content = data.subarray(start, start + packed);
  const unpacked = entry.method === 0 ? content : await inflate(content, size);
  if (unpacked.length !== size) throw broken(`has the entry ${JSON.stringify(name)}, whose size is wrong`);
  return unpacked;
}

async function inflate(content: Uint8Array, size: number): Promise<Uint8Array> {
  const out = new Uint8Array(size);
  let length = 0;
  const stream = new Inflate((part) => {
    if (length + part.length > size) throw broken('has an entry that is larger than declared');
    out.set(part, length);
    length += part.length;
  });
  try {
    for (let at = 0; at < content.length; at += SLICE) {
      stream.push(content.subarray(at, at + SLICE), at + SLICE >= content.length);
      if (content.length > SLICE) await nextTurn();
    }
  } catch (error) {
    // What fflate throws has a number as its code.
    throw error instanceof Error && 'hint' in error ? error : broken('is damaged');
  }
  return out.subarray(0, length);
}

/** Writes all entries below the directory, which has to be empty. */
export async function unzipTo(directory: string, data: Uint8Array, signal: AbortSignal): Promise<void> {
  for (const entry of listZip(data, ZIP_LIMITS)) {
    signal.throwIfAborted();
    const path = join(directory, ...entry.name.split('/'));
    if (entry.isDirectory) {
      await mkdir(path, { recursive: true, mode: 0o700 });
      continue;
    }
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, await readZipEntry(data, entry), { flag: 'wx', mode: 0o600 });
  }
}

const broken = (what: string): Error => packageRefused(`The bundle ${what}.`);
