/**
 * The pin file: the approved definition of each tool. One writer at a time, replaced atomically. An unreadable file
 * is an error, not an empty one: it may contain pins that protect something.
 */
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, TurnbuckleError } from '../errors.js';
import { replaceFile } from '../files/atomic-file.js';
import { withFileLock } from '../files/file-lock.js';
import { makeDirectory } from '../files/make-directory.js';
import { readFileText } from '../files/read-file.js';
import { realTarget } from '../files/real-target.js';
import { whyMissing } from '../files/why-missing.js';
import { isRecord } from '../json/is-record.js';

export interface Pin {
  readonly server: string;
  readonly tool: string;
  /** The agent in whose own list the tool is, where lists depend on credentials. */
  readonly agent?: string;
  /** The fingerprint of the definition. */
  readonly hash: string;
  /** The definition itself, to show what changed; absent if it was too large to store. */
  readonly definition?: Readonly<Record<string, unknown>>;
  readonly by: 'approval' | 'command' | 'first-use' | 'test';
  /** ISO 8601. */
  readonly pinnedAt: string;
}

export interface PinFile {
  readonly pins: readonly Pin[];
  /** Servers whose tools were all pinned at first use. */
  readonly servers: readonly string[];
  /** Agents whose own lists were. */
  readonly agents?: readonly AgentList[];
  /** Servers whose tools were all pinned when they passed a test, whatever the setting `pins`: a new tool needs approval. */
  readonly tested?: readonly string[];
}

export interface AgentList {
  readonly server: string;
  readonly agent: string;
}

const VERSION = 1;
const MAX_PINS = 20_000;
const MAX_FILE_BYTES = 64 * 1_024 * 1_024;
const EMPTY: PinFile = { pins: [], servers: [] };

export class PinStore {
  readonly #file: string;
  #stamp = '';

  constructor(stateDir: string) {
    this.#file = join(stateDir, 'pins.json');
  }

  /**
   * The content of the file; undefined if it has not changed since the last read. Rejects if the file is unusable.
   */
  async read(): Promise<PinFile | undefined> {
    const stamp = await stampOf(this.#file);
    if (stamp !== '' && stamp === this.#stamp) return undefined;
    // If this fails, the file is read again next time, even if it is the same.
    this.#stamp = '';
    const content = await this.#load();
    this.#stamp = stamp;
    return content;
  }

  /** Updates the file under its lock and returns the new content. Rejects if the file is unusable. */
  async change(change: (before: PinFile) => PinFile): Promise<PinFile> {
    // Fail before creating anything if the file is unreadable.
    await this.#load();
    const target = realTarget(this.#file);
    makeDirectory(dirname(target));
    return withFileLock(target, async () => {
      // An earlier version of the file may come back.
      this.#stamp = '';
      const before = await this.#load();
      const after = change(before);
      if (after.pins.length > MAX_PINS)
        throw new TurnbuckleError('CONFIG_INVALID', `${this.#file} cannot hold more than ${MAX_PINS} pins.`, {
          hint: 'Remove some pins: turnbuckle rules unpin <server>',
        });
      await replaceFile(target, `${JSON.stringify({ version: VERSION, ...after }, null, 1)}\n`);
      return after;
    });
  }

  async #load(): Promise<PinFile> {
    try {
      return parsePins(await readFileText(this.#file, { maxBytes: MAX_FILE_BYTES }));
    } catch (error) {
      const cause = await whyMissing(this.#file, error);
      // A missing directory means that there was never a file.
      if (errorCode(cause) === 'ENOENT' || errorCode(cause) === 'ENOTDIR') return EMPTY;
      throw new TurnbuckleError('CONFIG_INVALID', `Cannot use the pin file ${this.#file}.`, {
        cause,
        hint: 'It records which tools are approved. Repair it, or delete it and approve the tools again.',
      });
    }
  }
}

/** Equal as long as the file is the same, or is missing and nothing was created next to it. Empty: unknown. */
async function stampOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') return '';
  }
  try {
    const { ino, mtimeNs, ctimeNs } = await stat(dirname(file), { bigint: true });
    return `missing ${ino} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return '';
  }
}

function parsePins(text: string): PinFile {
  const content: unknown = JSON.parse(text);
  if (!isRecord(content) || content.version !== VERSION) throw new Error('Unsupported version.');
  const { pins, servers, agents = [], tested = [] } = content;
  if (!Array.isArray(pins) || !pins.every(isPin)) throw new Error('Invalid "pins".');
  if (!isTextList(servers)) throw new Error('Invalid "servers".');
  if (!Array.isArray(agents) || !agents.every(isAgentList)) throw new Error('Invalid "agents".');
  if (!isTextList(tested)) throw new Error('Invalid "tested".');
  return { pins, servers, ...(agents.length > 0 && { agents }), ...(tested.length > 0 && { tested }) };
}

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((member) => typeof member === 'string');

const isAgentList = (value: unknown): value is AgentList =>
  isRecord(value) && typeof value.server === 'string' && typeof value.agent === 'string';

function isPin(value: unknown): value is Pin {
  return (
    isRecord(value) &&
    ['server', 'tool', 'hash', 'by', 'pinnedAt'].every((key) => typeof value[key] === 'string') &&
    (value.agent === undefined || typeof value.agent === 'string') &&
    (value.definition === undefined || isRecord(value.definition))
  );
}
