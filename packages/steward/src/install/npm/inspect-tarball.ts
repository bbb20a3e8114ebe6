/** Looks into the file of a package before npm does: how much is in it, and whether everything stays in its directory. */
import { createGunzip } from 'node:zlib';
import { PaxFault, readPaxRecords } from './pax-records.js';

export interface TarballLimits {
  readonly maxFiles: number;
  readonly maxBytes: number;
}

export interface TarballContent {
  readonly files: number;
  readonly bytes: number;
}

const BLOCK = 512;
/** Names in extended headers. */
const MAX_META_BYTES = 64 * 1_024;

/** What is wrong with the tarball, as the end of a sentence. */
export class TarballFault extends Error {}

/** Rejects with a TarballFault. Unpacks in the background and keeps nothing. */
export async function inspectTarball(data: Uint8Array, limits: TarballLimits): Promise<TarballContent> {
  const reader = new TarReader(limits);
  const gunzip = createGunzip();
  gunzip.end(data);
  try {
    for await (const part of gunzip) reader.push(part as Buffer);
  } catch (error) {
    if (error instanceof TarballFault) throw error;
    if (error instanceof PaxFault) throw new TarballFault(error.message);
    throw new TarballFault('is not a valid archive');
  } finally {
    gunzip.destroy();
  }
  return reader.content;
}

/** Reads headers and skips contents. */
class TarReader {
  readonly #limits: TarballLimits;
  #rest: Buffer = Buffer.alloc(0);
  /** Bytes of content, and of padding, to skip. */
  #skip = 0;
  /** Bytes of an extended header that are collected. */
  #meta: { readonly type: string; readonly size: number } | undefined;
  #longName: string | undefined;
  /** As an extended header says. */
  #size: number | undefined;
  #files = 0;
  #bytes = 0;

  constructor(limits: TarballLimits) {
    this.#limits = limits;
  }

  get content(): TarballContent {
    return { files: this.#files, bytes: this.#bytes };
  }

  push(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#limits.maxBytes)
      throw new TarballFault(`unpacks to more than ${this.#limits.maxBytes} bytes`);
    let data = part;
    if (this.#skip > 0) {
      const skipped = Math.min(this.#skip, data.length);
      this.#skip -= skipped;
      data = data.subarray(skipped);
    }
    if (data.length === 0) return;
    this.#rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    while (this.#step());
  }

  /** One header, or one extended header with its content; false if there is not enough data. */
  #step(): boolean {
    if (this.#meta !== undefined) return this.#readMeta(this.#meta);
    if (this.#rest.length < BLOCK) return false;
    const header = this.#rest.subarray(0, BLOCK);
    this.#rest = this.#rest.subarray(BLOCK);
    if (header.every((byte) => byte === 0)) return true;
    // npm skips the header alone, and would read the content as headers.
    if (!hasValidSum(header)) throw new TarballFault('has a damaged header');
    const type = String.fromCharCode(header[156] ?? 0);
    const size = readSize(header);
    if (type === 'x' || type === 'g' || type === 'L') {
      if (size > MAX_META_BYTES) throw new TarballFault('has a name that is too long');
      this.#meta = { type, size };
      return true;
    }
    this.#checkEntry(header, { type, size });
    this.#skipContent(size);
    return true;
  }

  #readMeta({ type, size }: { readonly type: string; readonly size: number }): boolean {
    const padded = Math.ceil(size / BLOCK) * BLOCK;
    if (this.#rest.length < padded) return false;
    const text = this.#rest.toString('utf8', 0, size);
    this.#rest = this.#rest.subarray(padded);
    this.#meta = undefined;
    if (type === 'L') this.#longName = text.replace(/\0+$/, '');
    else this.#readPax(type, readPaxRecords(text));
    return true;
  }

  #readPax(type: string, records: ReadonlyMap<string, string>): void {
    const [path, size] = [records.get('path'), records.get('size')];
    if (type === 'g' && (path !== undefined || size !== undefined))
      throw new TarballFault('has an extended header that names all its files');
    if (size !== undefined && !/^\d{1,15}$/.test(size))
      throw new TarballFault('has an extended header that is not valid');
    this.#longName = path ?? this.#longName;
    this.#size = size === undefined ? this.#size : Number(size);
  }

  #checkEntry(header: Buffer, { type, size }: { readonly type: string; readonly size: number }): void {
    const prefix = header.toString('latin1', 257, 262) === 'ustar' ? field(header, 345, 155) : '';
    const last = field(header, 0, 100);
    const name = this.#longName ?? (prefix === '' ? last : `${prefix}/${last}`);
    const sizes = new Set([size, this.#size ?? size]);
    this.#longName = undefined;
    this.#size = undefined;
    this.#files += 1;
    if (this.#files > this.#limits.maxFiles)
      throw new TarballFault(`has more than ${this.#limits.maxFiles} files`);
    const shown = JSON.stringify(name.slice(0, 200));
    if (sizes.size > 1) throw new TarballFault(`has the entry ${shown} with two different sizes`);
    if (name === '') throw new TarballFault('has an entry without a name');
    if (isOutside(name) || isOutside(last))
      throw new TarballFault(`has the entry ${shown}, which is outside its directory`);
    if (type === '1' || type === '2') throw new TarballFault(`has the entry ${shown}, which is a link`);
    if (field(header, 157, 100) !== '') throw new TarballFault(`has the entry ${shown}, which is a link`);
    // npm expects none, and would read it as headers.
    if (size > 0 && (type === '5' || name.endsWith('/')))
      throw new TarballFault(`has the directory ${shown} with content`);
    if (!'0\u000057'.includes(type))
      throw new TarballFault(`contains ${shown}, which is neither a regular file nor a directory`);
  }

  #skipContent(size: number): void {
    const padded = Math.ceil(size / BLOCK) * BLOCK;
    const here = Math.min(padded, this.#rest.length);
    this.#rest = this.#rest.subarray(here);
    this.#skip = padded - here;
  }
}

const isOutside = (name: string): boolean =>
  /^([/\\]|[A-Za-z]:)/.test(name) || name.split(/[/\\]/).includes('..') || name.includes('\0');

const field = (header: Buffer, start: number, length: number): string => {
  const bytes = header.subarray(start, start + length);
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end === -1 ? length : end);
};

function readSize(header: Buffer): number {
  // Large sizes are binary, with the highest bit set.
  if (((header[124] ?? 0) & 0x80) !== 0) throw new TarballFault('has a file that is too large');
  const size = Number.parseInt(field(header, 124, 12).trim() || '0', 8);
  if (!Number.isSafeInteger(size) || size < 0) throw new TarballFault('is not a valid archive');
  return size;
}

/** The sum of its bytes, where those of the sum itself count as spaces. */
function hasValidSum(header: Buffer): boolean {
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  return Number.parseInt(field(header, 148, 8).trim(), 8) === sum;
}
