/** Removes a server from the user's file, and its package if the steward installed it. */
import { existsSync } from 'node:fs';
import { editServers, secretKey } from 'turnbuckle/host';
import type { RequestParams } from '../requests/request.js';
import type { Step } from '../workers/step.js';
import { forgetSecrets, ownSecretsOf } from './addition/own-secrets.js';
import { packageDirectoryOf, uninstallUnused } from './addition/package-use.js';
import { askAboutEntry, entryChanged } from './ask.js';
import { readConfiguration, requireOwnFile, requireServer } from './configured-server.js';
import { diffEntries, isSameEntry } from './entry-diff.js';
import type { WorkServices } from './services.js';

type Entry = Readonly<Record<string, unknown>>;

interface RemoveData {
  readonly entry?: Entry;
}

const approve: Step<WorkServices> = {
  name: 'approve',
  run: async (context) => {
    const { request, services } = context;
    const { serverName } = request.params as RequestParams<'remove_server'>;
    const server = requireServer(await readConfiguration(services), serverName);
    requireOwnFile(server, services);
    const subject = {
      action: 'remove',
      server: serverName,
      summary: `Removing server "${serverName}"`,
      details: diffEntries(server.entry, {}),
      warnings: [],
    } as const;
    const approval = askAboutEntry(context, { step: 'approve', subject }, server.entry);
    return approval === undefined ? { waitFor: 'approval' } : { data: { entry: server.entry } };
  },
};

const removeEntry: Step<WorkServices> = {
  name: 'remove',
  run: async ({ request, data, services }) => {
    const { serverName } = request.params as RequestParams<'remove_server'>;
    const found = (await readConfiguration(services)).servers.get(serverName);
    // A worker may have been ended after it had removed the entry.
    if (found === undefined) return {};
    if (!isSameEntry(found.entry, (data as RemoveData).entry)) throw entryChanged(serverName);
    requireOwnFile(found, services);
    await editServers(services.work.configFile, [{ action: 'remove', name: serverName }]);
    return {};
  },
  undo: async ({ request, data, services }) => {
    const { serverName } = request.params as RequestParams<'remove_server'>;
    const { entry } = data as RemoveData;
    const { servers } = await readConfiguration(services);
    if (entry === undefined || servers.has(serverName)) return;
    await requireParts(serverName, entry, services);
    await editServers(services.work.configFile, [{ action: 'add', name: serverName, config: entry }]);
  },
};

/** The entry does not come back without what it needs to start. */
async function requireParts(
  server: string,
  entry: Entry,
  { work, vault }: Pick<WorkServices, 'work' | 'vault'>,
): Promise<void> {
  const directory = packageDirectoryOf(entry, work.packageRoot);
  const isPackageGone = directory !== undefined && !existsSync(directory);
  const names = ownSecretsOf(entry);
  const secrets = await Promise.all(names.map((name) => vault.get(secretKey(name))));
  if (isPackageGone || secrets.includes(undefined))
    throw new Error(`server "${server}" stays removed: its package or its secrets were already deleted`);
}

const removePackage: Step<WorkServices> = {
  name: 'uninstall',
  run: async ({ request, data, services }) => {
    const { serverName } = request.params as RequestParams<'remove_server'>;
    const { entry } = data as RemoveData;
    const directory = packageDirectoryOf(entry, services.work.packageRoot);
    const uninstalled = directory !== undefined && (await uninstallUnused(directory, services));
    // Last: until then the removal can be undone.
    await forgetSecrets(ownSecretsOf(entry), services);
    return { done: { serverName, uninstalled } };
  },
};

export const REMOVE_STEPS: ReadonlyArray<Step<WorkServices>> = [approve, removeEntry, removePackage];
