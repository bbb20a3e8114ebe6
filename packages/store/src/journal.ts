/**
 * Where a record goes first: one line appended to a file, handed to the kernel before the call is answered, so
 * that a killed process loses nothing it acknowledged. Each process writes segments of its own; the database
 * takes them in behind the calls (ingest.ts).
 */
import { closeSync, fdatasyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface JournalOptions {
  readonly directory: string;
  /** `process`: a killed process loses nothing; `power`: nor does a power cut, for the price of a disk write a call. */
  readonly durability: 'process' | 'power';
  readonly segmentBytes?: number | undefined;
  readonly now?: (() => number) | undefined;
}

const SEGMENT_BYTES = 8 * 1_024 * 1_024;
/** While it is written to. */
export const OPEN = '.open';
export const CLOSED = '.ndjson';

export class Journal {
  readonly #options: JournalOptions;
  #file: number | undefined;
  #path = '';
  #bytes = 0;
  #count = 0;

  constructor(options: JournalOptions) {
    this.#options = options;
    mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  }

  /** Resolved when it returns: the kernel has it. Throws when the disk does not take it. */
  append(record: unknown): void {
    const line = Buffer.from(`${JSON.stringify(record)}\n`);
    const file = this.#file ?? this.#open();
    // A full disk may take a part: the line is then cut off, and the segment with it.
    const written = writeSync(file, line);
    this.#bytes += written;
    if (written < line.length) {
      this.rotate();
      throw new Error(`Only ${written} of ${line.length} bytes could be written.`);
    }
    if (this.#options.durability === 'power') fdatasyncSync(file);
    if (this.#bytes >= (this.#options.segmentBytes ?? SEGMENT_BYTES)) this.rotate();
  }

  /** Ends the segment; the next record begins another. */
  rotate(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
    renameSync(this.#path, this.#path.slice(0, -OPEN.length) + CLOSED);
  }

  #open(): number {
    const { directory, now = Date.now } = this.#options;
    this.#count += 1;
    // Sorted by name is sorted by time; the process is named so that its death can be noticed.
    const stamp = String(now()).padStart(15, '0');
    this.#path = join(directory, `${stamp}-${process.pid}-${this.#count}${OPEN}`);
    this.#file = openSync(this.#path, 'ax', 0o600);
    this.#bytes = 0;
    return this.#file;
  }
}
