/** Changes the entry of a server in the user's file, after a person has seen the difference. */
import { editServers, type ServerEdit } from 'turnbuckle/host';
import type { RequestParams } from '../requests/request.js';
import type { Step } from '../workers/step.js';
import { askAboutEntry, entryChanged } from './ask.js';
import { applyChanges, checkChanged } from './check-change.js';
import { readConfiguration, requireOwnFile, requireServer } from './configured-server.js';
import { diffEntries, isSameEntry } from './entry-diff.js';
import type { WorkServices } from './services.js';

type Entry = Readonly<Record<string, unknown>>;

interface ModifyData {
  readonly before?: Entry;
  readonly after?: Entry;
}

const approve: Step<WorkServices> = {
  name: 'approve',
  run: async (context) => {
    const { request, services } = context;
    const { serverName, changes } = request.params as RequestParams<'modify_server'>;
    const server = requireServer(await readConfiguration(services), serverName);
    requireOwnFile(server, services);
    const before = server.entry;
    const after = applyChanges(before, changes);
    checkChanged(serverName, after);
    const diff = diffEntries(before, after);
    if (diff.length === 0) return { done: { serverName, diff } };
    const subject = {
      action: 'modify',
      server: serverName,
      summary: `Changing server "${serverName}"`,
      details: diff,
      warnings: [],
    } as const;
    const approval = askAboutEntry(context, { step: 'approve', subject }, before);
    return approval === undefined ? { waitFor: 'approval' } : { data: { before, after } };
  },
};

const apply: Step<WorkServices> = {
  name: 'apply',
  run: async ({ request, data, services }) => {
    const { serverName } = request.params as RequestParams<'modify_server'>;
    const { before = {}, after = {} } = data as ModifyData;
    checkChanged(serverName, after);
    const current = requireServer(await readConfiguration(services), serverName);
    requireOwnFile(current, services);
    // A worker may have been ended after it had written the entry.
    if (!isSameEntry(current.entry, after)) {
      if (!isSameEntry(current.entry, before)) throw entryChanged(serverName);
      await writeKeys(serverName, { from: before, to: after }, services);
    }
    return { done: { serverName, diff: diffEntries(before, after) } };
  },
  undo: async ({ request, data, services }) => {
    const { serverName } = request.params as RequestParams<'modify_server'>;
    const { before, after } = data as ModifyData;
    const current = (await readConfiguration(services)).servers.get(serverName);
    if (before === undefined || after === undefined || current === undefined) return;
    requireOwnFile(current, services);
    const written = changedKeys(before, after);
    const isAsWritten = (key: string): boolean => isSameValue(current.entry[key], after[key]);
    const ours = written.filter(isAsWritten);
    await writeKeys(serverName, { from: pick(after, ours), to: pick(before, ours) }, services);
    const others = written.filter(
      (key) => !isAsWritten(key) && !isSameValue(current.entry[key], before[key]),
    );
    if (others.length > 0)
      throw new Error(
        `${others.map((key) => `"${key}"`).join(', ')} of server "${serverName}" was changed by someone else in the meantime and was not restored`,
      );
  },
};

const changedKeys = (from: Entry, to: Entry): string[] =>
  [...new Set([...Object.keys(from), ...Object.keys(to)])].filter((key) => !isSameValue(from[key], to[key]));

const isSameValue = (left: unknown, right: unknown): boolean =>
  left === undefined || right === undefined ? left === right : isSameEntry({ value: left }, { value: right });

const pick = (entry: Entry, keys: readonly string[]): Entry =>
  Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(entry, key) ? [[key, entry[key]]] : [])));

/** Key by key, so that comments and layout stay. */
async function writeKeys(
  name: string,
  { from, to }: { readonly from: Entry; readonly to: Entry },
  { work }: Pick<WorkServices, 'work'>,
): Promise<void> {
  const edits = changedKeys(from, to).map(
    (key): ServerEdit => ({ action: 'set-key', name, key: [key], value: to[key] }),
  );
  if (edits.length > 0) await editServers(work.configFile, edits);
}

export const MODIFY_STEPS: ReadonlyArray<Step<WorkServices>> = [approve, apply];
