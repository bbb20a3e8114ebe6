/** A client of the 2026-07-28 revision: every request is independent and identifies its sender. */
import type { Caller } from 'turnbuckle';
import {
  type CancelSignal,
  type ClientResponder,
  identityOf,
  isRecord,
  MODERN_REVISION,
  writeInSlices,
} from 'turnbuckle/host';
import { type DispatcherRequest, type DispatcherResult, isResponseText } from '../dispatcher-request.js';
import {
  CODES,
  exactIdOf,
  META,
  metaOf,
  noticeText,
  type Params,
  progressText,
  RpcError,
  resultText,
} from '../protocol/protocol.js';
import { observeServing, startServerSpan } from '../serve-observed.js';
import { serveSubscriptionsListen } from '../subscriptions-listen.js';
import { callerInView, capabilitiesOf, instructionsOf, type ViewContext } from '../view-context.js';
import type { ModernRequest } from './modern-request.js';

/** Methods that only older revisions have. */
const LEGACY_ONLY_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'roots/list',
  'sampling/createMessage',
  'elicitation/create',
]);

/** Responds to one request on its reply. Throws an RpcError or TurnbuckleError if there is no result. */
export function serveModern(viewContext: ViewContext, request: ModernRequest): Promise<void> {
  const { message, reply, caller } = request;
  const span = startServerSpan(viewContext, message, {
    headers: reply.headers,
    callerId: caller.id,
    protocolVersion: MODERN_REVISION,
  });
  return span === undefined
    ? serve(viewContext, request)
    : observeServing(span, (onResult) => serve(viewContext, { ...request, span }, onResult));
}

async function serve(
  viewContext: ViewContext,
  request: ModernRequest,
  onResult?: (result: DispatcherResult) => void,
): Promise<void> {
  const { message, reply } = request;
  const { id, method } = message;
  if (LEGACY_ONLY_METHODS.has(method))
    throw new RpcError(CODES.unknownMethod, `Method not found: ${method}`, { http: 404 });
  if (method === 'subscriptions/listen') return serveSubscriptionsListen(viewContext, request);
  const result =
    method === 'server/discover'
      ? discover(viewContext, callerInView(viewContext, request.caller))
      : await dispatchModern(viewContext, request);
  onResult?.(result);
  const text = isResponseText(result) ? result : await writeInSlices(result);
  await reply.finish(resultText(id, text));
}

function discover(viewContext: ViewContext, caller: Caller): Params {
  const instructions = instructionsOf(viewContext, caller);
  return {
    supportedVersions: [MODERN_REVISION],
    capabilities: capabilitiesOf(viewContext, caller),
    ...(instructions !== undefined && { instructions }),
    resultType: 'complete',
    ttlMs: 60_000,
    cacheScope: 'private',
    _meta: { [META.serverInfo]: viewContext.serverInfo },
  };
}

function dispatchModern(
  viewContext: ViewContext,
  { message, caller, signal, ended, isOwner, reply, span }: ModernRequest,
): Promise<DispatcherResult> {
  const { method, params } = message;
  const { dispatcher, parked } = viewContext;
  const meta = metaOf(params);
  const progressToken = exactIdOf(meta, 'progressToken');
  const request: DispatcherRequest = {
    method,
    params,
    caller: callerInView(viewContext, caller),
    view: dispatcher.view.name,
    era: 'modern',
    signal,
    span,
    ...(progressToken !== undefined && {
      onProgress: (progress) => reply.send(progressText(progressToken, progress)),
    }),
  };
  if (parked.isParkedState(params.requestState)) return parked.resume(request, dispatcher.resumeGuard);
  const declared = meta[META.capabilities];
  const capabilities = isRecord(declared) ? declared : {};
  const onNotice =
    meta[META.logLevel] === undefined
      ? undefined
      : (name: string, about: Params) => reply.send(noticeText(name, about));
  const missing = new Set<string>();
  const onUnanswerable = (kind: string): unknown => missing.add(kind);
  const perform = async (
    responder: ClientResponder,
    own: CancelSignal | undefined,
  ): Promise<DispatcherResult> => {
    try {
      const result = await dispatcher.dispatch({
        ...request,
        responder: { ...responder, session: `caller ${identityOf(caller)}`, onNotice, onUnanswerable },
        signal: own,
      });
      if (missing.size > 0 && !isResponseText(result) && result.isError === true)
        throw missingCapabilities(missing);
      return result;
    } catch (thrown) {
      throw missing.size > 0 ? missingCapabilities(missing) : thrown;
    }
  };
  // A client that supports no requests from servers needs no parked call.
  if (!canBeAsked(capabilities)) return perform({ capabilities, answers: NO_ANSWERS }, signal);
  return parked.start(request, { capabilities, ended, isOwner }, perform);
}

const NO_ANSWERS = {};

const canBeAsked = (capabilities: Params): boolean =>
  capabilities.elicitation !== undefined ||
  capabilities.sampling !== undefined ||
  capabilities.roots !== undefined;

/** The call failed because its server sent a request that the client does not support. */
const missingCapabilities = (kinds: ReadonlySet<string>): RpcError =>
  new RpcError(
    CODES.missingCapability,
    `The client must declare these capabilities: ${[...kinds].join(', ')}`,
    {
      data: { requiredCapabilities: Object.fromEntries([...kinds].map((kind) => [kind, {}])) },
      http: 400,
    },
  );
