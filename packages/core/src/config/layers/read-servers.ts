/** The servers of a file as written, in each form in which it may have them. */
import { isRecord } from '../is-record.js';
import type { ConfigDocument, Place } from './document.js';
import type { FileProblems } from './file-problems.js';
import { SERVER_KEYS } from './file-schema.js';
import { keyPath } from './parse.js';

export interface WrittenServer {
  readonly name: string;
  readonly entry: unknown;
  /** The keys that lead to it, as a text. */
  readonly path: string;
  readonly place: Place;
  /** Where a key of the entry stands. */
  readonly placeOf: (keys: readonly PropertyKey[]) => Place;
}

export interface ReadServers {
  readonly written: readonly WrittenServer[];
  /** There may be more than could be told apart. */
  readonly unclear: boolean;
}

/** Never throws: what is wrong is added to `problems`. */
export function readServers(
  { document, problems }: { readonly document: ConfigDocument; readonly problems: FileProblems },
  value: Readonly<Record<string, unknown>>,
): ReadServers {
  const written: WrittenServer[] = [];
  const names = new Set<string>();
  // Of two maps under one key only the first is read.
  let unclear = document.faults.some(({ path }) => SERVER_KEYS.some((key) => key === path));
  const report = (keys: readonly PropertyKey[], text: string): void => problems.add(keys, text);
  const add = (name: string, entry: unknown, keys: readonly PropertyKey[]): void => {
    if (names.has(name)) return report(keys, `the name "${name}" is there twice`);
    names.add(name);
    written.push({
      name,
      entry,
      path: keyPath('', keys),
      place: document.placeOf(keys),
      placeOf: (below) => document.placeOf([...keys, ...below]),
    });
  };
  for (const key of SERVER_KEYS) {
    const servers = value[key];
    if (servers === undefined) continue;
    if (isRecord(servers)) for (const [name, entry] of Object.entries(servers)) add(name, entry, [key, name]);
    else if (Array.isArray(servers)) {
      servers.forEach((entry: unknown, index) => {
        const named = nameOf(entry);
        if (named === undefined) report([key, index], 'a server in a list needs a "name" or an "id"');
        else add(named.name, named.entry, [key, index]);
        unclear ||= named === undefined;
      });
    } else {
      unclear = true;
      report([key], 'expected a map or a list of servers');
    }
  }
  return { written, unclear };
}

/** A hosted-proxy entry has an `id` of its own, so its name can only be `name`. */
function nameOf(entry: unknown): { name: string; entry: Record<string, unknown> } | undefined {
  if (!isRecord(entry)) return undefined;
  const { name, ...rest } = entry;
  if (typeof name === 'string') return { name, entry: rest };
  const { id, ...withoutId } = rest;
  return typeof id === 'string' ? { name: id, entry: withoutId } : undefined;
}
