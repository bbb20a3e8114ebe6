/** The servers of a file as written, in all supported forms. */
import { isRecord } from '../../json/is-record.js';
import { SERVER_KEYS } from '../schema/file-schema.js';
import type { ConfigDocument, SourcePosition } from './document.js';
import type { FileProblems } from './file-problems.js';
import { keyPath } from './parse.js';
import { namedEntry } from './spellings.js';

export interface WrittenServer {
  readonly name: string;
  readonly entry: unknown;
  /** Its path as text. */
  readonly path: string;
  readonly position: SourcePosition;
  /** The position of a key of the entry. */
  readonly positionOf: (keys: readonly PropertyKey[]) => SourcePosition;
}

export interface ReadServers {
  readonly written: readonly WrittenServer[];
  /** Some could not be identified. */
  readonly unclear: boolean;
}

/** Never throws: errors are added to `problems`. */
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
    if (names.has(name)) return report(keys, `duplicate name "${name}"`);
    names.add(name);
    written.push({
      name,
      entry,
      path: keyPath('', keys),
      position: document.positionOf(keys),
      positionOf: (below) => document.positionOf([...keys, ...below]),
    });
  };
  for (const key of SERVER_KEYS) {
    const servers = value[key];
    if (servers === undefined) continue;
    if (isRecord(servers)) for (const [name, entry] of Object.entries(servers)) add(name, entry, [key, name]);
    else if (Array.isArray(servers)) {
      servers.forEach((entry: unknown, index) => {
        const named = namedEntry(entry);
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
