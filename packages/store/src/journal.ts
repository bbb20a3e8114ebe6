/**
 * Where a record goes first: one line appended to a file, handed to the kernel before the call gets its response, so
 * that a killed process loses nothing it acknowledged. Each process writes its own segments; the database ingests them
 * in the background (ingest.ts). The journal is the queue between the two, and its size is limited.
 */
import { closeSync, fdatasyncSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, makeDirectory } from 'turnbuckle/light';
import {
  CLOSED_SUFFIX,
  createSegmentName,
  journalBytes,
  MAX_SEGMENT_IDLE_MS,
  OPEN_SUFFIX,
} from './segment.js';

/** `process`: survives a killed process; `power`: also survives a power failure, at the cost of a disk write per call. */
export type Durability = 'process' | 'power';

export interface JournalOptions {
  readonly directory: string;
  readonly durability: Durability;
  /** Above this size records are kept without their large parts; above twice as much they are dropped. */
  readonly maxBytes?: number | undefined;
  readonly segmentBytes?: number | undefined;
  readonly now?: (() => number) | undefined;
}

/** `whole`: records are kept unchanged; `bare`: without their large parts; `none`: not at all. */
export type JournalCapacity = 'whole' | 'bare' | 'none';

const SEGMENT_BYTES = 8 * 1_024 * 1_024;
const MAX_BYTES = 256 * 1_024 * 1_024;
/** How often, at most, it checks for free space while the journal is full. */
const MEASURE_INTERVAL_MS = 250;

export class Journal {
  readonly #options: JournalOptions;
  readonly #now: () => number;
  #file: number | undefined;
  #path = '';
  #bytes = 0;
  #writtenAt = 0;
  /** Size of all closed segments, of all processes, when it was last checked. */
  #closedBytes = 0;
  #measuredAt = 0;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    makeDirectory(options.directory);
    this.#measure();
  }

  /** How much of a record can be kept now. */
  capacity(): JournalCapacity {
    const { maxBytes = MAX_BYTES } = this.#options;
    if (this.#closedBytes + this.#bytes < maxBytes) return 'whole';
    if (Math.abs(this.#now() - this.#measuredAt) >= MEASURE_INTERVAL_MS) this.#measure();
    const bytes = this.#closedBytes + this.#bytes;
    return bytes < maxBytes ? 'whole' : bytes < maxBytes * 2 ? 'bare' : 'none';
  }

  /** Appends a record as JSON on one line. The kernel has it when this returns. Throws if the write fails. */
  append(text: string): void {
    const line = `${text}\n`;
    const now = this.#now();
    if (now - this.#writtenAt > MAX_SEGMENT_IDLE_MS) this.rotate();
    this.#writtenAt = now;
    const file = this.#file ?? this.#open();
    const written = this.#write(file, line);
    this.#bytes += written;
    // ASCII only, so bytes and characters are the same, and all were written.
    if (written !== line.length) this.#assertWhole(written, Buffer.byteLength(line));
    if (this.#options.durability === 'power') fdatasyncSync(file);
    if (this.#bytes >= (this.#options.segmentBytes ?? SEGMENT_BYTES)) this.rotate();
  }

  /** Closes the segment; the next record opens another. */
  rotate(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
    this.#bytes = 0;
    try {
      renameSync(this.#path, this.#path.slice(0, -OPEN_SUFFIX.length) + CLOSED_SUFFIX);
    } catch (error) {
      // It was idle for so long that another process may have ingested and removed it.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
    this.#measure();
  }

  #write(file: number, line: string): number {
    try {
      return writeSync(file, line);
    } catch (error) {
      // It is unknown how much was written: nothing may be appended behind it.
      this.rotate();
      throw error;
    }
  }

  /** A full disk may accept only a part: the line is then cut off, and the segment is closed. */
  #assertWhole(written: number, length: number): void {
    if (written === length) return;
    this.rotate();
    throw new Error(`Short write: ${written} of ${length} bytes.`);
  }

  #measure(): void {
    this.#measuredAt = this.#now();
    try {
      this.#closedBytes = Math.max(journalBytes(this.#options.directory) - this.#bytes, 0);
    } catch {
      // Without a free descriptor, the last measurement holds: a record is written, or it is not.
    }
  }

  #open(): number {
    const { directory, durability } = this.#options;
    this.#path = join(directory, `${createSegmentName(this.#now())}${OPEN_SUFFIX}`);
    // No other process writes to it, and O_APPEND is slower.
    this.#file = openSync(this.#path, 'wx', 0o600);
    this.#bytes = 0;
    if (durability === 'power') syncDirectory(directory);
    return this.#file;
  }
}

/** A power failure can also undo the creation of a file. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const opened = openSync(directory, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
