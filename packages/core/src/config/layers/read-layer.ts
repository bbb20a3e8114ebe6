/** Reads the file of one layer: its servers as written, its settings, and its problems. */
import { createHash } from 'node:crypto';
import { errorCode, TurnbuckleError } from '../../errors.js';
import { readFileText, whyUnreadable } from '../../files/read-file.js';
import { whyMissing } from '../../files/why-missing.js';
import { isRecord } from '../../json/is-record.js';
import { MAX_FILE_BYTES, MAX_SERVERS } from '../schema/file-limits.js';
import { type FileSettings, SERVER_KEYS, type SettingName } from '../schema/file-schema.js';
import type { PlacedRule } from '../schema/rule-schema.js';
import { parseDocument, type SourcePosition } from './document.js';
import { fileError, withHint } from './file-errors.js';
import { FileProblems } from './file-problems.js';
import type { Layer } from './layers.js';
import { readServers, type WrittenServer } from './read-servers.js';
import { readSettings, type SettingPart } from './read-settings.js';

const NOT_IN_EFFECT_HINT =
  'Nothing in this file is in effect until the file is corrected. Other files are not affected.';
const MAX_KEYS = 200;

export interface ReadLayer {
  readonly layer: Layer;
  readonly present: boolean;
  readonly servers: readonly WrittenServer[];
  readonly settings: Partial<FileSettings>;
  readonly rules: readonly PlacedRule[];
  readonly settingPositions: ReadonlyMap<SettingName, SourcePosition>;
  /** The position of a key in the file. */
  readonly positionOf: (keys: readonly PropertyKey[]) => SourcePosition;
  readonly problems: readonly TurnbuckleError[];
  /** The file is unusable: its content is from an earlier time, or empty. */
  readonly unusable: boolean;
  /** The file exists and has only white space. */
  readonly blank: boolean;
  /** Invalid settings, and `servers` if some could not be identified. */
  readonly unclear: ReadonlySet<string>;
  /** Invalid parts of the other settings. */
  readonly unclearParts: readonly SettingPart[];
  /** The current or previous content is known. */
  readonly known: boolean;
  /** Equal as long as the content is equal. */
  readonly fingerprint: string;
}

/** Reads the file of a layer. Never rejects: errors are in `problems`. */
export async function readLayer(layer: Layer): Promise<ReadLayer> {
  const text = await readText(layer);
  const nothing: ReadLayer = {
    layer,
    present: text !== undefined,
    servers: [],
    settings: {},
    rules: [],
    settingPositions: new Map(),
    positionOf: () => ({ line: 1, column: 1 }),
    problems: [],
    unusable: false,
    blank: false,
    unclear: new Set(),
    unclearParts: [],
    known: true,
    fingerprint: '',
  };
  if (text === undefined) return nothing;
  const unusable = (problems: readonly TurnbuckleError[], fingerprint: string): ReadLayer => ({
    ...nothing,
    problems: problems.map((one) => withHint(one, NOT_IN_EFFECT_HINT)),
    fingerprint,
    unusable: true,
    known: false,
  });
  if (text instanceof TurnbuckleError) return unusable([text], text.message);
  const fingerprint = createHash('sha256').update(text).digest('hex');
  const document = parseDocument(text);
  const problems = new FileProblems(layer.file, document);
  for (const fault of document.faults) problems.addFault(fault);
  if (document.value === undefined && document.faults.length === 0)
    return { ...nothing, fingerprint, blank: /^\uFEFF?\s*$/.test(text) };
  if (!isRecord(document.value)) {
    if (document.faults.length === 0)
      problems.add([], 'expected a JSON object, such as { "servers": { … } }');
    return unusable(problems.list(), fingerprint);
  }
  const tooMany = findTooMany(document.value);
  if (tooMany !== undefined) {
    problems.add(...tooMany);
    return unusable(problems.list(), fingerprint);
  }
  const settings = readSettings(layer, { document, problems }, document.value);
  const servers = readServers({ document, problems }, document.value);
  return {
    ...nothing,
    fingerprint,
    servers: servers.written,
    settings: settings.settings,
    rules: settings.rules,
    settingPositions: settings.positions,
    positionOf: (keys) => document.positionOf(keys),
    unclear: new Set([...settings.unclear, ...(servers.unclear ? ['servers'] : [])]),
    unclearParts: settings.unclearParts,
    problems: problems.list(),
  };
}

/** Excessive content: the file is not used at all, because the rest may contain guards. */
function findTooMany(value: Readonly<Record<string, unknown>>): [PropertyKey[], string] | undefined {
  const sizeOf = (part: unknown): number => Object.keys(Object(part)).length;
  const key = SERVER_KEYS.find((one) => sizeOf(value[one]) > MAX_SERVERS);
  if (key !== undefined) return [[key], `more than ${MAX_SERVERS} servers`];
  return sizeOf(value) > MAX_KEYS ? [[], `more than ${MAX_KEYS} keys at the top level`] : undefined;
}

/** The text; undefined if the file is missing; an error if it cannot be read. */
async function readText(layer: Layer, isAgain = false): Promise<string | TurnbuckleError | undefined> {
  const { file, required } = layer;
  try {
    return await readFileText(file, { maxBytes: MAX_FILE_BYTES });
  } catch (error) {
    const cause = await whyMissing(file, error);
    // It was created just now.
    if (cause === undefined && !isAgain) return readText(layer, true);
    const code = errorCode(cause);
    if (code === 'ENOENT' && !required) return undefined;
    const reason = code === 'EFBIG' ? `it is larger than ${MAX_FILE_BYTES} bytes` : whyUnreadable(cause);
    return fileError(file, reason, { cause });
  }
}
