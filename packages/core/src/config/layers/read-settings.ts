/** The settings of a file besides the servers, each with its position or its problem. */
import { isRecord } from '../../json/is-record.js';
import { nearest } from '../../text/nearest.js';
import { FILE_SCHEMAS, type FileSettings, SERVER_KEYS, type SettingName } from '../schema/file-schema.js';
import { describeIssue, unknownKey, unknownKeyIn } from '../schema/issue-text.js';
import type { PlacedRule } from '../schema/rule-schema.js';
import { type ConfigDocument, MAX_FAULTS, type SourcePosition } from './document.js';
import type { FileProblems } from './file-problems.js';
import { isProjectScope, type Layer } from './layers.js';
import { describeFallback, type RuleFault, readRules } from './read-rules.js';

export interface ReadSettings {
  readonly settings: Partial<FileSettings>;
  readonly rules: readonly PlacedRule[];
  readonly positions: ReadonlyMap<SettingName, SourcePosition>;
  /** Invalid settings, and `servers` if an unknown key seems to mean them. */
  readonly unclear: readonly string[];
  /** Invalid parts of the others, as paths. */
  readonly unclearParts: readonly SettingPart[];
}

/** The path of a part that is valid or invalid by itself, such as `daemon`, `views`, `work`. */
export type SettingPart = readonly string[];

/** Never throws: errors are added to `problems`. */
export function readSettings(
  layer: Layer,
  { document, problems }: { readonly document: ConfigDocument; readonly problems: FileProblems },
  value: Readonly<Record<string, unknown>>,
): ReadSettings {
  const kind = layer.scope === 'managed' ? 'managed' : isProjectScope(layer.scope) ? 'project' : 'user';
  const settings: Record<string, unknown> = {};
  const positions = new Map<SettingName, SourcePosition>();
  const unclear: string[] = [];
  const unclearParts: SettingPart[] = [];
  let rules: readonly PlacedRule[] = [];
  const report = (faults: readonly SettingFault[]): void => {
    for (const { keys, text, isFarReaching } of faults)
      problems.add(keys, text, isFarReaching ? FAR_REACHING_HINT : undefined);
  };
  for (const [key, item] of Object.entries(value)) {
    if (SERVER_KEYS.some((one) => one === key)) continue;
    const meant = closestKey(kind, key) ?? key;
    // A misspelled key may contain guards too.
    if (meant === 'rules') {
      const lineOf = (keys: readonly PropertyKey[]): number => document.positionOf(keys).line;
      const read = readRules(key === 'rules' ? item : undefined, {
        key,
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
    const read = hasParts(key) ? readParts(kind, key, item) : readSetting(kind, key, item);
    if (read.faults.length > 0 && read.settings === undefined) unclear.push(meant);
    unclearParts.push(...(read.unclearParts ?? []));
    const isFarReaching = meant === 'rules';
    const effect = isFarReaching ? describeFallback(layer.scope) : '';
    report(read.faults.map(({ keys, text }) => ({ keys, text: `${text}${effect}`, isFarReaching })));
    if (read.settings === undefined) continue;
    Object.assign(settings, read.settings);
    if (isSetting(key)) positions.set(key, document.positionOf([key]));
  }
  return { settings: settings as Partial<FileSettings>, rules, positions, unclear, unclearParts };
}

const FAR_REACHING_HINT = 'Correct the file at this position.';

const isSetting = (key: string): key is SettingName =>
  key !== '$schema' && Object.hasOwn(FILE_SCHEMAS.managed.shape, key);

/** The probable meaning of an unknown key. */
function closestKey(kind: keyof typeof FILE_SCHEMAS, key: string): string | undefined {
  const known = Object.keys(FILE_SCHEMAS[kind].shape);
  if (known.includes(key)) return undefined;
  const close = nearest(key, [...known, ...SERVER_KEYS]);
  return SERVER_KEYS.some((one) => one === close) ? 'servers' : close;
}

type SettingFault = RuleFault;

interface ReadSetting {
  /** After validation. */
  readonly settings?: Partial<FileSettings>;
  readonly faults: readonly SettingFault[];
  readonly unclearParts?: readonly SettingPart[];
}

/** Settings whose keys are independent of each other. */
const PARTED = ['agent', 'daemon', 'defaults', 'energy', 'limits', 'steward'] as const;
type Parted = (typeof PARTED)[number];

const hasParts = (key: string): key is Parted => PARTED.some((one) => one === key);

/**
 * A fault in one key of such a setting disables that key, and a fault in a view the whole view, because the invalid
 * key may be a restriction. The rest stays in effect.
 */
function readParts(kind: keyof typeof FILE_SCHEMAS, key: Parted, item: unknown): ReadSetting {
  if (!isRecord(item) || !(key in FILE_SCHEMAS[kind].shape)) return readSetting(kind, key, item);
  const faults: SettingFault[] = [];
  const unclearParts: SettingPart[] = [];
  const keepGood = (parts: Readonly<Record<string, unknown>>, path: SettingPart): object =>
    Object.fromEntries(
      Object.entries(parts).filter(([name, part]) => {
        const place = [...path, name];
        const inside = place.slice(1).reduceRight<unknown>((value, step) => ({ [step]: value }), part);
        const read = readSetting(kind, key, inside);
        faults.push(...read.faults.map((fault) => withEffect(fault, place)));
        if (read.faults.length > 0) unclearParts.push(place);
        return read.faults.length === 0;
      }),
    );
  const { views, ...others } = key === 'daemon' ? item : { ...item, views: undefined };
  for (const parts of [others, isRecord(views) ? views : {}])
    if (Object.keys(parts).length > MAX_PARTS)
      return { faults: [{ keys: [key], text: `more than ${MAX_PARTS} keys or views` }] };
  const good = {
    ...keepGood(others, [key]),
    ...(isRecord(views) && { views: keepGood(views, [key, 'views']) }),
  };
  if (views !== undefined && !isRecord(views)) keepGood({ views }, [key]);
  const { settings, faults: further } = readSetting(kind, key, good);
  return { ...(settings !== undefined && { settings }), faults: [...faults, ...further], unclearParts };
}

/** The fault, with what it disables: the part at this path. */
function withEffect({ keys, text }: SettingFault, part: SettingPart): SettingFault {
  const what = keys.length > part.length ? `all of "${part.join('.')}"` : `"${part.at(-1)}"`;
  return { keys, text: `${text}; ${what} is ignored` };
}

/** Maximum number of views, and of keys. */
const MAX_PARTS = 200;

/** The validated setting, or its errors. */
function readSetting(kind: keyof typeof FILE_SCHEMAS, key: string, item: unknown): ReadSetting {
  const known = Object.keys(FILE_SCHEMAS[kind].shape);
  if (!known.includes(key)) {
    const text = Object.hasOwn(FILE_SCHEMAS.managed.shape, key)
      ? `"${key}" cannot be set in a ${kind === 'project' ? 'project' : 'user'} file`
      : unknownKey(key, [...known, ...SERVER_KEYS]);
    return { faults: [{ keys: [key], text }] };
  }
  const parsed = FILE_SCHEMAS[kind].safeParse({ [key]: item }, { error: describeIssue });
  if (parsed.success) return { settings: parsed.data, faults: [] };
  const faults = parsed.error.issues.slice(0, MAX_FAULTS + 1).flatMap((issue): SettingFault[] => {
    const { path, message } = issue;
    if (issue.code !== 'unrecognized_keys') return [{ keys: path, text: message }];
    return issue.keys
      .slice(0, MAX_FAULTS + 1)
      .map((name, index) => ({ keys: [...path, name], text: unknownKeyIn(message, index, name) }));
  });
  return { faults };
}
