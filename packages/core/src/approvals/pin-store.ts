/**
 * The file of pins: which definition of a tool was approved. One writer at a time, replaced as a whole. A file
 * that is there and cannot be understood is told apart from none: it may have been a guard.
 */
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { replaceFile } from './config/edit/atomic-file.js';
import { withFileLock } from './config/edit/file-lock.js';
import { makeDirectory } from './config/edit/make-directory.js';
import { realTarget } from './config/edit/real-target.js';
import { whyMissing } from './config/missing.js';
import { codeOf, readFileText } from './config/read-file.js';
import { TurnbuckleError } from './errors.js';
import { isRecord } from './is-record.js';

export interface Pin {
  readonly server: string;
  readonly tool: string;
  /** The fingerprint of the definition. */
  readonly hash: string;
  /** The definition itself, to show what changed; absent when it was too large to keep. */
  readonly definition?: Readonly<Record<string, unknown>>;
  readonly by: 'approval' | 'command' | 'first-use';
  /** ISO 8601. */
  readonly pinnedAt: string;
}

export interface PinFile {
  readonly pins: readonly Pin[];
  /** Servers all of whose tools were pinned when they were first seen. */
  readonly servers: readonly string[];
}

const VERSION = 1;
const MOST_PINS = 20_000;
const MOST_BYTES = 64 * 1_024 * 1_024;
const EMPTY: PinFile = { pins: [], servers: [] };

export class PinStore {
  readonly #file: string;
  #stamp = '';

  constructor(stateDir: string) {
    this.#file = join(stateDir, 'pins.json');
  }

  /** What the file says now; undefined when it says what it said at the last reading. Rejects when it is unusable. */
  async read(): Promise<PinFile | undefined> {
    const stamp = await stampOf(this.#file);
    if (stamp !== '' && stamp === this.#stamp) return undefined;
    const content = await this.#load();
    this.#stamp = stamp;
    return content;
  }

  /** Changes what the file says at that moment, and answers what it says then. Rejects when it is unusable. */
  async change(change: (before: PinFile) => PinFile): Promise<PinFile> {
    // Where it cannot be read, nothing is made either.
    await this.#load();
    const target = realTarget(this.#file);
    makeDirectory(dirname(target));
    return withFileLock(target, async () => {
      const before = await this.#load();
      const after = change(before);
      if (after.pins.length > MOST_PINS)
        throw new TurnbuckleError(
          'CONFIG_INVALID',
          `${this.#file} cannot hold more than ${MOST_PINS} pins.`,
          {
            hint: 'Take some out: turnbuckle rules unpin <server>',
          },
        );
      await replaceFile(target, `${JSON.stringify({ version: VERSION, ...after }, null, 1)}\n`);
      return after;
    });
  }

  async #load(): Promise<PinFile> {
    try {
      return parsePins(await readFileText(this.#file, { maxBytes: MOST_BYTES }));
    } catch (error) {
      const cause = await whyMissing(this.#file, error);
      // Where its directory is none, there never was one.
      if (codeOf(cause) === 'ENOENT' || codeOf(cause) === 'ENOTDIR') return EMPTY;
      throw new TurnbuckleError('CONFIG_INVALID', `The file of pins ${this.#file} cannot be used.`, {
        cause,
        hint: 'It says which tools were approved. Repair it, or remove it to approve anew.',
      });
    }
  }
}

async function stampOf(file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return '';
  }
}

function parsePins(text: string): PinFile {
  const content: unknown = JSON.parse(text);
  if (!isRecord(content) || content.version !== VERSION) throw new Error('It is of another version.');
  const { pins, servers } = content;
  if (!Array.isArray(pins) || !pins.every(isPin)) throw new Error('Its pins are not understood.');
  if (!Array.isArray(servers) || !servers.every((name): name is string => typeof name === 'string'))
    throw new Error('Its servers are not understood.');
  return { pins, servers };
}

function isPin(value: unknown): value is Pin {
  return (
    isRecord(value) &&
    ['server', 'tool', 'hash', 'by', 'pinnedAt'].every((key) => typeof value[key] === 'string') &&
    (value.definition === undefined || isRecord(value.definition))
  );
}
