/** Finds the servers in a document: a map by name or a list of named entries, wherever the dialect says. */
import type { LocatedEntry } from './client.js';
import type { Dialect } from './dialect.js';
import { isEntry, omitKeys, ownValue, ownValueAt } from './formats/plain-value.js';

/** The entries of every container that is there; a container of another kind is an entry that is left out. */
export function locateEntries(
  root: unknown,
  { container, alternativeContainers = [] }: Dialect,
): LocatedEntry[] {
  return [container, ...alternativeContainers].flatMap((path) =>
    entriesOf(ownValueAt(root, path), path.join('.')),
  );
}

/** The entries of one container. */
export function entriesOf(servers: unknown, spot: string): LocatedEntry[] {
  if (servers === undefined || servers === null) return [];
  if (isEntry(servers)) return Object.entries(servers).map(([name, value]) => ({ name, value }));
  if (!Array.isArray(servers))
    return [{ name: spot, value: servers, refused: 'it is neither a map nor a list of servers' }];
  return servers.map((item: unknown, index) => {
    const key = typeof ownValue(item, 'name') === 'string' ? 'name' : 'id';
    const called = ownValue(item, key);
    if (typeof called !== 'string')
      return { name: `${spot}[${index}]`, value: item, refused: 'it has no name' };
    return { name: called, value: isEntry(item) ? omitKeys(item, key) : item };
  });
}
