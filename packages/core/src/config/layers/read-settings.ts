/** What stands beside the servers in a file, each setting with its place, or what is wrong with it. */
import { isRecord } from '../is-record.js';
import { type ConfigDocument, MAX_FAULTS, type Place } from './document.js';
import type { FileProblems } from './file-problems.js';
import { FILE_SCHEMAS, type FileSettings, SERVER_KEYS, type SettingName } from './file-schema.js';
import { describeIssue, unknownKey } from './issue-text.js';
import { isOfProject, type Layer } from './layers.js';
import { nearest } from './nearest.js';
import { inForce, readRules } from './read-rules.js';
import type { PlacedRule } from './rule-schema.js';

export interface ReadSettings {
  readonly settings: Partial<FileSettings>;
  readonly rules: readonly PlacedRule[];
  readonly places: ReadonlyMap<SettingName, Place>;
  /** Settings that are wrong, and `servers` when a key seems to be meant for them. */
  readonly unclear: readonly string[];
}

/** Never throws: what is wrong is added to `problems`. */
export function readSettings(
  layer: Layer,
  { document, problems }: { readonly document: ConfigDocument; readonly problems: FileProblems },
  value: Readonly<Record<string, unknown>>,
): ReadSettings {
  const kind = layer.scope === 'managed' ? 'managed' : isOfProject(layer.scope) ? 'project' : 'user';
  const settings: Record<string, unknown> = {};
  const places = new Map<SettingName, Place>();
  const unclear: string[] = [];
  let rules: readonly PlacedRule[] = [];
  const report = (faults: readonly SettingFault[]): void => {
    for (const { keys, text } of faults) problems.add(keys, text);
  };
  for (const [key, item] of Object.entries(value)) {
    if (SERVER_KEYS.some((one) => one === key)) continue;
    const meant = meantKey(kind, key) ?? key;
    // A misspelt key may hold guards too.
    if (meant === 'rules') {
      const lineOf = (keys: readonly PropertyKey[]): number => document.placeOf(keys).line;
      const read = readRules(key === 'rules' ? item : undefined, {
        from: layer.scope,
        file: layer.file,
        lineOf,
        isEnough: (faults) => problems.isFull || faults > MAX_FAULTS,
      });
      rules = [...rules, ...read.rules];
      if (key === 'rules') {
        report(read.faults);
        continue;
      }
    }
    const read = key === 'daemon' ? readDaemon(kind, item) : readSetting(kind, key, item);
    if (read.faults.length > 0) unclear.push(meant);
    const effect = meant === 'rules' ? inForce(layer.scope) : '';
    report(read.faults.map(({ keys, text }) => ({ keys, text: `${text}${effect}` })));
    if (read.settings === undefined) continue;
    Object.assign(settings, read.settings);
    if (isSetting(key)) places.set(key, document.placeOf([key]));
  }
  return { settings: settings as Partial<FileSettings>, rules, places, unclear };
}

const isSetting = (key: string): key is SettingName =>
  key !== '$schema' && Object.hasOwn(FILE_SCHEMAS.managed.shape, key);

/** What was probably meant by a key that is unknown. */
function meantKey(kind: keyof typeof FILE_SCHEMAS, key: string): string | undefined {
  const known = Object.keys(FILE_SCHEMAS[kind].shape);
  if (known.includes(key)) return undefined;
  const close = nearest(key, [...known, ...SERVER_KEYS]);
  return SERVER_KEYS.some((one) => one === close) ? 'servers' : close;
}

interface SettingFault {
  readonly keys: readonly PropertyKey[];
  readonly text: string;
}

interface ReadSetting {
  /** After validation. */
  readonly settings?: Partial<FileSettings>;
  readonly faults: readonly SettingFault[];
}

/**
 * A fault in one part of `daemon` takes that part with it, and a fault in a view the view; never less, for what is
 * misspelt may be what narrows it. The rest counts.
 */
function readDaemon(kind: keyof typeof FILE_SCHEMAS, item: unknown): ReadSetting {
  if (!isRecord(item) || !('daemon' in FILE_SCHEMAS[kind].shape)) return readSetting(kind, 'daemon', item);
  const faults: SettingFault[] = [];
  const keepGood = (parts: Readonly<Record<string, unknown>>, wrap: (part: object) => object): object =>
    Object.fromEntries(
      Object.entries(parts).filter(([name, part]) => {
        const read = readSetting(kind, 'daemon', wrap({ [name]: part }));
        faults.push(
          ...read.faults.map(({ keys, text }) => ({ keys, text: `${text}; "${name}" is left out` })),
        );
        return read.faults.length === 0;
      }),
    );
  const { views, ...others } = item;
  for (const parts of [others, isRecord(views) ? views : {}])
    if (Object.keys(parts).length > MAX_PARTS)
      return { faults: [{ keys: ['daemon'], text: `more than ${MAX_PARTS} keys or views` }] };
  const good = {
    ...keepGood(others, (part) => part),
    ...(isRecord(views) && { views: keepGood(views, (part) => ({ views: part })) }),
  };
  if (views !== undefined && !isRecord(views)) keepGood({ views }, (part) => part);
  const { settings, faults: further } = readSetting(kind, 'daemon', good);
  return { ...(settings !== undefined && { settings }), faults: [...faults, ...further] };
}

/** Views of one daemon, and keys of its settings. */
const MAX_PARTS = 200;

/** The setting after validation, or what is wrong with it. */
function readSetting(kind: keyof typeof FILE_SCHEMAS, key: string, item: unknown): ReadSetting {
  const known = Object.keys(FILE_SCHEMAS[kind].shape);
  if (!known.includes(key)) {
    const text = Object.hasOwn(FILE_SCHEMAS.managed.shape, key)
      ? `"${key}" may not be set by a ${kind === 'project' ? "project's" : "user's"} file`
      : unknownKey(key, [...known, ...SERVER_KEYS]);
    return { faults: [{ keys: [key], text }] };
  }
  const parsed = FILE_SCHEMAS[kind].safeParse({ [key]: item }, { error: describeIssue });
  if (parsed.success) return { settings: parsed.data, faults: [] };
  const faults = parsed.error.issues.slice(0, MAX_FAULTS + 1).map(({ path, message }) => ({
    keys: path,
    text: message,
  }));
  return { faults };
}
