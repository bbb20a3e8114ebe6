/**
 * What a reload keeps: a file, a setting or an entry that has become unusable goes on as it was last, with a
 * problem that says so. What is gone is gone: only absence takes something away.
 */
import { stat } from 'node:fs/promises';
import { fileError, withHint } from './file-fault.js';
import type { FileSettings } from './file-schema.js';
import { type ConfiguredServer, isUsable, type LoadedConfig } from './loaded-config.js';
import { whyMissing } from './missing.js';
import { codeOf, inTime, reach } from './read-file.js';
import type { ReadLayer } from './read-layer.js';

/** The layer, with what its file said before where it cannot be told what it says now. */
export function keepLayer(read: ReadLayer, previous: LoadedConfig | undefined): ReadLayer {
  const { scope, file } = read.layer;
  const before = previous?.layers.find(({ layer }) => layer.file === file && layer.scope === scope);
  if (before === undefined) return read;
  const { servers, settings, rules, settingPlaces, placeOf, unclear, known } = before;
  const said = { servers, settings, rules, settingPlaces, placeOf, unclear, known, unusable: true };
  if (read.unusable) {
    const problems = before.known ? read.problems.map((one) => withHint(one, KEPT_HINT)) : read.problems;
    return { ...read, ...said, problems };
  }
  // At the beginning an empty file says that there is nothing. Later it is one that is just being written.
  if (read.blank && !saysNothing(before))
    return { ...read, ...said, problems: [fileError(file, 'it is empty', { hint: EMPTY_HINT })] };
  return read.unclear.size === 0 ? read : keepUnclear(read, before);
}

const KEPT_HINT = 'All that the file said before is still in effect. Correct it: it is taken over by itself.';
const EMPTY_HINT =
  'All that it said before is still in effect. If it is to say nothing, write {} into it, or delete it.';

const saysNothing = ({ servers, settings, rules, unclear, known }: ReadLayer): boolean =>
  known && unclear.size === 0 && servers.length + rules.length === 0 && Object.keys(settings).length === 0;

function keepUnclear(read: ReadLayer, before: ReadLayer): ReadLayer {
  const isUnclear = (key: string): boolean => read.unclear.has(key);
  const names = new Set(read.servers.map(({ name }) => name));
  const lost = isUnclear('servers') ? before.servers.filter(({ name }) => !names.has(name)) : [];
  const kept = Object.entries(before.settings).filter(([key]) => isUnclear(key));
  const places = [...before.settingPlaces].filter(([key]) => isUnclear(key));
  return {
    ...read,
    servers: [...read.servers, ...lost],
    settings: { ...read.settings, ...(Object.fromEntries(kept) as Partial<FileSettings>) },
    settingPlaces: new Map([...read.settingPlaces, ...places]),
    problems: read.problems.map((one) => {
      const [key = ''] = String(one.data?.path).split(/[.[]/);
      return places.some(([name]) => name === key) ? withHint(one, `"${key}" stays as it was before.`) : one;
    }),
  };
}

/** The server; one whose entry has become unusable as it was last, if what it was made of is still written. */
export function keepServer(server: ConfiguredServer, before: ConfiguredServer | undefined): ConfiguredServer {
  if (server.config !== undefined || before === undefined || !isUsable(before)) return server;
  const places = [server.origin, ...server.shadowed];
  const isWritten = places.some(({ file }) => file === before.origin.file);
  return isWritten ? { ...before, problem: server.problem, kept: true } : server;
}

/** Which of some paths are there; one that was there and cannot be looked at right now still is. */
export async function existing(
  paths: readonly string[],
  previous: LoadedConfig | undefined,
): Promise<ReadonlySet<string>> {
  const known = new Set(previous?.layers.flatMap(({ layer, present }) => (present ? [layer.file] : [])));
  const found = await Promise.all(paths.map(async (path) => (await isThere(path)) ?? known.has(path)));
  return new Set(paths.filter((_, index) => found[index]));
}

/** Certainly not there, all of them. */
export const areGone = async (paths: readonly string[]): Promise<boolean> =>
  (await Promise.all(paths.map(isThere))).every((there) => there === false);

/** Undefined where it cannot be told. */
async function isThere(path: string): Promise<boolean | undefined> {
  try {
    await reach(path);
    await inTime(path, () => stat(path));
    return true;
  } catch (error) {
    const why = await whyMissing(path, error);
    if (why === undefined) return true;
    const code = codeOf(why);
    if (code === 'ENOENT') return false;
    return UNREADABLE.has(code) ? true : undefined;
  }
}

/** There, and nobody can tell what it says. */
const UNREADABLE: ReadonlySet<string> = new Set(['EDANGLING', 'ENOTDIR']);
