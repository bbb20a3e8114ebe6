/** Whether what a request asks for could be written at all: said when it is queued, and again before it is written. */
import { TurnbuckleError } from 'turnbuckle';
import { checkEntry, type LoadedConfig } from 'turnbuckle/host';
import type { RequestKind, RequestParams } from '../requests/request.js';

type Entry = Readonly<Record<string, unknown>>;

/** Null removes a key. */
export function applyChanges(entry: Entry, changes: Entry): Entry {
  const all = Object.entries({ ...entry, ...changes });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

/** ARGUMENTS_INVALID for a change after which the entry would be invalid. The parameters are checked already. */
export function checkRequest(
  { type, params }: { readonly type: RequestKind; readonly params: Entry },
  { servers }: Pick<LoadedConfig, 'servers'>,
): void {
  if (type !== 'modify_server') return;
  const { serverName, changes } = params as RequestParams<'modify_server'>;
  const server = servers.get(serverName);
  // It may be added before the request is worked on.
  if (server !== undefined) checkChanged(serverName, applyChanges(server.entry, changes));
}

/** ARGUMENTS_INVALID with every invalid key. */
export function checkChanged(server: string, entry: Entry): void {
  try {
    checkEntry(server, entry);
  } catch (error) {
    if (!(error instanceof TurnbuckleError)) throw error;
    throw new TurnbuckleError(
      'ARGUMENTS_INVALID',
      `With this change, the entry is invalid. ${error.message}`,
      {
        server,
        hint: `Nothing was changed. ${error.hint ?? 'Correct these keys, and send the request again.'}`,
        cause: error,
      },
    );
  }
}
