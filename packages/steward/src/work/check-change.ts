/** Whether what a request asks for could be written at all: said when it is queued, and again before it is written. */
import { TurnbuckleError } from 'turnbuckle';
import { checkEntry, checkPartOfEntry, type LoadedConfig } from 'turnbuckle/host';
import type { RequestKind, RequestParams } from '../requests/request.js';

type Entry = Readonly<Record<string, unknown>>;

/** Null removes a key. */
export function applyChanges(entry: Entry, changes: Entry): Entry {
  const all = Object.entries({ ...entry, ...changes });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

/** ARGUMENTS_INVALID for a change that makes the entry invalid. The parameters are checked already. */
export function checkRequest(
  { type, params }: { readonly type: RequestKind; readonly params: Entry },
  { servers }: Pick<LoadedConfig, 'servers'>,
): void {
  if (type !== 'modify_server') return;
  const { serverName, changes } = params as RequestParams<'modify_server'>;
  const server = servers.get(serverName);
  if (server !== undefined) checkChanged(serverName, applyChanges(server.entry, changes));
  // It may be added before the request is worked on.
  else checkAlone(serverName, changes);
}

function checkAlone(server: string, changes: Entry): void {
  try {
    checkPartOfEntry(server, applyChanges({}, changes), 'params.changes');
  } catch (error) {
    if (!(error instanceof TurnbuckleError)) throw error;
    const hint = 'The request was not queued. Correct these keys, and send it again.';
    throw new TurnbuckleError('ARGUMENTS_INVALID', error.message, { server, hint, cause: error });
  }
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
