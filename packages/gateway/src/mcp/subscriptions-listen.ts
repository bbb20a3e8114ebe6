/** `subscriptions/listen`: one long request for all that a client wants to be told. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Caller, writeJson } from 'turnbuckle';
import type { ChangeKind } from './changes.js';
import type { Desk } from './desk.js';
import type { ModernRequest } from './modern-request.js';
import {
  CODES,
  idMember,
  isRecord,
  META,
  noticeText,
  type Params,
  RpcError,
  resultText,
} from './protocol.js';

const MOST_RESOURCES = 1_000;
const FILTERS: Readonly<Record<string, ChangeKind>> = {
  toolsListChanged: 'tools',
  promptsListChanged: 'prompts',
  resourcesListChanged: 'resources',
};

/** Resolves when it is over: the client has gone. */
export async function serveListening(desk: Desk, request: ModernRequest): Promise<void> {
  const { message, reply, caller, signal } = request;
  const wanted = isRecord(message.params.notifications) ? message.params.notifications : {};
  const about = idMember(META.subscription, message.id);
  const tell = (method: string, params: Params): void =>
    reply.send(noticeText(method, { ...params, _meta: about }));
  const kinds = Object.keys(FILTERS).filter((key) => wanted[key] === true);
  const uris = (Array.isArray(wanted.resourceSubscriptions) ? wanted.resourceSubscriptions : [])
    .filter((uri): uri is string => typeof uri === 'string')
    .slice(0, MOST_RESOURCES);
  const callerNow = (): Caller => {
    if (signal?.aborted === true) throw new RpcError(CODES.invalidRequest, 'The client has gone');
    return caller;
  };
  const watched: string[] = [];
  const ends: Array<() => unknown> = [];
  for (const uri of new Set(uris)) {
    // Each is decided about, which takes a moment, and need not wait for anything else.
    await nextTurn();
    if (signal?.aborted === true) break;
    try {
      const updated = (): void => tell('notifications/resources/updated', { uri });
      ends.push(await desk.surface.subscribe(uri, callerNow, updated));
      watched.push(uri);
    } catch {
      // What cannot be watched is not in the acknowledgement.
    }
  }
  tell('notifications/subscriptions/acknowledged', {
    notifications: {
      ...Object.fromEntries(kinds.map((key) => [key, true])),
      ...(watched.length > 0 && { resourceSubscriptions: watched }),
    },
  });
  const wants = new Set(kinds.map((key) => FILTERS[key]));
  ends.push(
    desk.changes.listen((kind) => {
      if (wants.has(kind)) tell(`notifications/${kind}/list_changed`, {});
    }),
  );
  await new Promise<void>((resolve) => {
    if (kinds.length === 0 && watched.length === 0) return resolve();
    signal?.addEventListener('abort', () => resolve(), { once: true });
    ends.push(desk.changes.onClose(resolve));
    if (signal?.aborted === true) resolve();
  });
  // A server that is gone need not be told that nobody listens.
  for (const end of ends) Promise.resolve(end()).catch(() => {});
  reply.finish(resultText(message.id, writeJson({ resultType: 'complete', _meta: about })));
}
