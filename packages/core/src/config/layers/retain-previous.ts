/**
 * What a reload keeps: a file, setting or entry that became invalid keeps its previous value, with a problem that
 * says so. Only removing it has the effect of removal.
 */
import { stat } from 'node:fs/promises';
import { errorCode } from '../../errors.js';
import { probePath, withTimeout } from '../../files/read-file.js';
import { whyMissing } from '../../files/why-missing.js';
import { isRecord } from '../../json/is-record.js';
import type { FileSettings } from '../schema/file-schema.js';
import { fileError, withHint } from './file-errors.js';
import { type ConfiguredServer, isUsable, type LoadedConfig } from './loaded-config.js';
import type { ReadLayer } from './read-layer.js';
import type { SettingPart } from './read-settings.js';

/** The layer, with its previous content if the current one is unknown. */
export function retainLayer(read: ReadLayer, previous: LoadedConfig | undefined): ReadLayer {
  const { scope, file } = read.layer;
  const before = previous?.layers.find(({ layer }) => layer.file === file && layer.scope === scope);
  if (before === undefined) return read;
  const { servers, settings, rules, settingPositions, positionOf, unclear, known } = before;
  const said = { servers, settings, rules, settingPositions, positionOf, unclear, known, unusable: true };
  if (read.unusable) {
    const problems = before.known ? read.problems.map((one) => withHint(one, KEPT_HINT)) : read.problems;
    return { ...read, ...said, problems };
  }
  // At startup an empty file means no content. Later it is probably being written.
  if (read.blank && !isEmptyLayer(before))
    return { ...read, ...said, problems: [fileError(file, 'it is empty', { hint: EMPTY_HINT })] };
  return retainParts(read.unclear.size === 0 ? read : retainUnclear(read, before), before);
}

const KEPT_HINT =
  'The previous content of the file is still in effect. The file is reloaded automatically once it is corrected.';
const EMPTY_HINT =
  'The previous content of the file is still in effect. To clear that content, write {} into the file, or delete the file.';

const isEmptyLayer = ({ servers, settings, rules, unclear, known }: ReadLayer): boolean =>
  known && unclear.size === 0 && servers.length + rules.length === 0 && Object.keys(settings).length === 0;

function retainUnclear(read: ReadLayer, before: ReadLayer): ReadLayer {
  const isUnclear = (key: string): boolean => read.unclear.has(key);
  const names = new Set(read.servers.map(({ name }) => name));
  const lost = isUnclear('servers') ? before.servers.filter(({ name }) => !names.has(name)) : [];
  const kept = Object.entries(before.settings).filter(([key]) => isUnclear(key));
  const places = [...before.settingPositions].filter(([key]) => isUnclear(key));
  return {
    ...read,
    servers: [...read.servers, ...lost],
    settings: { ...read.settings, ...(Object.fromEntries(kept) as Partial<FileSettings>) },
    settingPositions: new Map([...read.settingPositions, ...places]),
    problems: read.problems.map((one) => {
      const [key = ''] = String(one.data?.path).split(/[.[]/);
      return places.some(([name]) => name === key)
        ? withHint(one, `The previous value of "${key}" is still in effect.`)
        : one;
    }),
  };
}

/** A key of a setting that became invalid keeps its previous value; the other keys apply. */
function retainParts(read: ReadLayer, before: ReadLayer): ReadLayer {
  let { settings, problems } = read;
  for (const part of read.unclearParts) {
    const value = valueAt(before.settings, part);
    if (value === undefined) continue;
    const path = part.join('.');
    const hint = `The previous value of "${path}" is still in effect.`;
    settings = withValueAt(settings, part, value);
    problems = problems.map((one) => (isWithin(path, String(one.data?.path)) ? withHint(one, hint) : one));
  }
  return { ...read, settings, problems };
}

const isWithin = (path: string, place: string): boolean =>
  place.startsWith(path) && /^(?:$|[.[])/.test(place.slice(path.length));

const valueAt = (settings: object, part: SettingPart): unknown =>
  part.reduce<unknown>(
    (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    settings,
  );

function withValueAt<Value extends object>(
  settings: Value,
  [key = '', ...rest]: SettingPart,
  value: unknown,
): Value {
  const inner: unknown = Reflect.get(settings, key);
  return {
    ...settings,
    [key]: rest.length === 0 ? value : withValueAt(isRecord(inner) ? inner : {}, rest, value),
  };
}

/** The server; if its entry became invalid, its previous configuration, provided that its file still defines it. */
export function retainServer(
  server: ConfiguredServer,
  before: ConfiguredServer | undefined,
): ConfiguredServer {
  if (server.config !== undefined || before === undefined || !isUsable(before)) return server;
  const places = [server.origin, ...server.shadowed];
  const isWritten = places.some(({ file }) => file === before.origin.file);
  return isWritten ? { ...before, problem: server.problem, kept: true } : server;
}

/** The existing paths; one that existed and is not accessible right now still counts. */
export async function existingPaths(
  paths: readonly string[],
  previous: LoadedConfig | undefined,
): Promise<ReadonlySet<string>> {
  const known = new Set(previous?.layers.flatMap(({ layer, present }) => (present ? [layer.file] : [])));
  const found = await Promise.all(paths.map(async (path) => (await pathExists(path)) ?? known.has(path)));
  return new Set(paths.filter((_, index) => found[index]));
}

/** True if all are certainly missing. */
export const areMissing = async (paths: readonly string[]): Promise<boolean> =>
  (await Promise.all(paths.map(pathExists))).every((there) => there === false);

/** Undefined if unknown. */
async function pathExists(path: string): Promise<boolean | undefined> {
  try {
    await probePath(path);
    await withTimeout(path, () => stat(path));
    return true;
  } catch (error) {
    const why = await whyMissing(path, error);
    if (why === undefined) return true;
    const code = errorCode(why);
    if (code === 'ENOENT') return false;
    return code !== undefined && UNREADABLE.has(code) ? true : undefined;
  }
}

/** It exists, but its content is inaccessible. */
const UNREADABLE: ReadonlySet<string> = new Set(['EDANGLING', 'ENOTDIR']);
