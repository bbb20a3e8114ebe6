/** Who uses an installed package: one directory serves all servers, and all requests, of the same version. */
import { dirname, join, relative, sep } from 'node:path';
import { uninstall } from '../../install/install-directory.js';
import { readConfiguration } from '../configured-server.js';
import type { WorkServices } from '../services.js';

type Entry = Readonly<Record<string, unknown>>;

/** The directory below the root that the entry runs a file of. */
export function packageDirectoryOf(entry: Entry | undefined, root: string): string | undefined {
  const args = Array.isArray(entry?.args) ? entry.args : [];
  for (const word of [entry?.command, ...args]) {
    if (typeof word !== 'string' || !word.startsWith(`${root}${sep}`)) continue;
    const [first = ''] = relative(root, dirname(word)).split(sep);
    if (first !== '' && first !== '..') return join(root, first);
  }
  return undefined;
}

/** Uninstalls the package, unless a server or another addition uses it; whether it did. */
export const uninstallUnused = (directory: string, services: WorkServices): Promise<boolean> =>
  uninstall(directory, async () => isInAddition(directory, services) || isConfigured(directory, services));

async function isConfigured(directory: string, services: WorkServices): Promise<boolean> {
  const { servers } = await readConfiguration(services);
  return [...servers.values()].some(({ entry }) =>
    JSON.stringify(entry).includes(JSON.stringify(directory).slice(1, -1)),
  );
}

/** One that is not approved yet has installed nothing, and will install it itself. */
const isInAddition = (directory: string, { dataOfOthers }: WorkServices): boolean =>
  dataOfOthers('add_server').some(
    ({ plan, granted }) =>
      granted !== undefined && (Object(plan) as { directory?: unknown }).directory === directory,
  );
