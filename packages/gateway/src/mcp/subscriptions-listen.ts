/** `subscriptions/listen`: one long request for all notifications that a client wants. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Caller } from 'turnbuckle';
import { isRecord, writeJson } from 'turnbuckle/host';
import type { ChangeKind } from './change-notifier.js';
import type { ModernRequest } from './modern/modern-request.js';
import {
  CODES,
  META,
  noticeText,
  objectWithId,
  type Params,
  RpcError,
  resultText,
} from './protocol/protocol.js';
import { callerInView, type ViewContext } from './view-context.js';

const MAX_RESOURCES = 1_000;
const FILTERS: Readonly<Record<string, ChangeKind>> = {
  toolsListChanged: 'tools',
  promptsListChanged: 'prompts',
  resourcesListChanged: 'resources',
};

/** Resolves when it ends: the client has disconnected. */
export async function serveSubscriptionsListen(
  viewContext: ViewContext,
  request: ModernRequest,
): Promise<void> {
  const { message, reply, caller, signal } = request;
  const wanted = isRecord(message.params.notifications) ? message.params.notifications : {};
  const about = objectWithId(META.subscription, message.id);
  const tell = (method: string, params: Params): void =>
    reply.send(noticeText(method, { ...params, _meta: about }));
  const kinds = Object.keys(FILTERS).filter((key) => wanted[key] === true);
  const uris = (Array.isArray(wanted.resourceSubscriptions) ? wanted.resourceSubscriptions : [])
    .filter((uri): uri is string => typeof uri === 'string')
    .slice(0, MAX_RESOURCES);
  const callerNow = (): Caller => {
    if (signal?.aborted === true) throw new RpcError(CODES.invalidRequest, 'The client disconnected');
    // The view may change while the stream is open.
    return callerInView(viewContext, caller);
  };
  const watched: string[] = [];
  const ends: Array<() => unknown> = [];
  for (const uri of new Set(uris)) {
    // Each is authorized separately, which takes a moment; they run in parallel.
    await nextTurn();
    if (signal?.aborted === true) break;
    try {
      const updated = (): void => tell('notifications/resources/updated', { uri });
      ends.push(await viewContext.dispatcher.subscribe(uri, callerNow, updated));
      watched.push(uri);
    } catch {
      // A resource that cannot be watched is not in the acknowledgement.
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
    viewContext.changes.listen((kind) => {
      if (wants.has(kind)) tell(`notifications/${kind}/list_changed`, {});
    }),
  );
  await new Promise<void>((resolve) => {
    if (kinds.length === 0 && watched.length === 0) return resolve();
    signal?.addEventListener('abort', () => resolve(), { once: true });
    ends.push(viewContext.changes.onClose(resolve));
    if (signal?.aborted === true) resolve();
  });
  // A server that is gone needs no unsubscribe.
  for (const end of ends) Promise.resolve(end()).catch(() => {});
  reply.finish(resultText(message.id, writeJson({ resultType: 'complete', _meta: about })));
}
