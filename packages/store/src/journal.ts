/**
 * Where a record goes first: one line appended to a file, handed to the kernel before the call is answered, so
 * that a killed process loses nothing it acknowledged. Each process writes segments of its own; the database
 * takes them in behind the calls (ingest.ts). The journal is the queue between the two, and it has a bound.
 */
import { closeSync, fdatasyncSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { CLOSED, createSegmentName, hasCode, journalBytes, LONGEST_PAUSE_MS, OPEN } from './segment.js';

/** `process`: a killed process loses nothing; `power`: nor does a power cut, for the price of a disk write a call. */
export type Durability = 'process' | 'power';

export interface JournalOptions {
  readonly directory: string;
  readonly durability: Durability;
  /** What may lie there before records are taken without their large parts; at twice as much none are taken. */
  readonly maxBytes?: number | undefined;
  readonly segmentBytes?: number | undefined;
  readonly now?: (() => number) | undefined;
}

/** `whole`: records are taken as they are; `bare`: without their large parts; `none`: not at all. */
export type Room = 'whole' | 'bare' | 'none';

const SEGMENT_BYTES = 8 * 1_024 * 1_024;
const MAX_BYTES = 256 * 1_024 * 1_024;
/** While there is no room, it is looked for some at most so often. */
const LOOK_MS = 250;

export class Journal {
  readonly #options: JournalOptions;
  readonly #now: () => number;
  #file: number | undefined;
  #path = '';
  #bytes = 0;
  #writtenAt = 0;
  /** What lies in segments that are full, of all processes, when it was last looked at. */
  #before = 0;
  #lookedAt = 0;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    mkdirSync(options.directory, { recursive: true, mode: 0o700 });
    this.#look();
  }

  /** How much of a record can be taken now. */
  room(): Room {
    const { maxBytes = MAX_BYTES } = this.#options;
    if (this.#before + this.#bytes < maxBytes) return 'whole';
    if (Math.abs(this.#now() - this.#lookedAt) >= LOOK_MS) this.#look();
    const bytes = this.#before + this.#bytes;
    return bytes < maxBytes ? 'whole' : bytes < maxBytes * 2 ? 'bare' : 'none';
  }

  /** A record as JSON on one line. The kernel has it when it returns. Throws when the disk does not take it. */
  append(text: string): void {
    const line = `${text}\n`;
    const now = this.#now();
    if (now - this.#writtenAt > LONGEST_PAUSE_MS) this.rotate();
    this.#writtenAt = now;
    const file = this.#file ?? this.#open();
    const written = this.#write(file, line);
    this.#bytes += written;
    // As many bytes as characters: there were only such characters, and all of them are written.
    if (written !== line.length) this.#assertWhole(written, Buffer.byteLength(line));
    if (this.#options.durability === 'power') fdatasyncSync(file);
    if (this.#bytes >= (this.#options.segmentBytes ?? SEGMENT_BYTES)) this.rotate();
  }

  /** Ends the segment; the next record begins another. */
  rotate(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
    this.#bytes = 0;
    try {
      renameSync(this.#path, this.#path.slice(0, -OPEN.length) + CLOSED);
    } catch (error) {
      // It was silent for so long that somebody elsewhere has taken it in and away.
      if (!hasCode(error, 'ENOENT')) throw error;
    }
    this.#look();
  }

  #write(file: number, line: string): number {
    try {
      return writeSync(file, line);
    } catch (error) {
      // Whether it took anything is not known: nothing is written behind it.
      this.rotate();
      throw error;
    }
  }

  /** A full disk may take a part: the line is then cut off, and the segment with it. */
  #assertWhole(written: number, length: number): void {
    if (written === length) return;
    this.rotate();
    throw new Error(`Only ${written} of ${length} bytes could be written.`);
  }

  #look(): void {
    this.#before = Math.max(journalBytes(this.#options.directory) - this.#bytes, 0);
    this.#lookedAt = this.#now();
  }

  #open(): number {
    const { directory, durability } = this.#options;
    this.#path = join(directory, `${createSegmentName(this.#now())}${OPEN}`);
    // Nobody else writes to it, and to append by request takes the kernel longer.
    this.#file = openSync(this.#path, 'wx', 0o600);
    this.#bytes = 0;
    if (durability === 'power') syncDirectory(directory);
    return this.#file;
  }
}

/** That there is a file is itself something that a power cut can take back. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const opened = openSync(directory, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
