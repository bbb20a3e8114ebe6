/** A client of the 2026-07-28 revision: every request stands alone and says who it is from. */
import { type Caller, type CancelSignal, identityOf, type Respondent, writeInSlices } from 'turnbuckle';
import { callerIn, capabilitiesOf, type Desk, instructionsOf } from './desk.js';
import { serveListening } from './listening.js';
import type { ModernRequest } from './modern-request.js';
import {
  CODES,
  idIn,
  isRecord,
  META,
  MODERN_VERSION,
  metaOf,
  noticeText,
  type Params,
  progressText,
  RpcError,
  resultText,
} from './protocol.js';
import { isText, type SurfaceRequest, type SurfaceResult } from './surface-request.js';

/** What older revisions have and this one has not. */
const GONE: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'roots/list',
  'sampling/createMessage',
  'elicitation/create',
]);

/** Answers one request on its reply. Throws an RpcError or TurnbuckleError when there is no result. */
export async function serveModern(desk: Desk, request: ModernRequest): Promise<void> {
  const { message, reply } = request;
  const { id, method } = message;
  if (GONE.has(method)) throw new RpcError(CODES.unknownMethod, `Method not found: ${method}`, { http: 404 });
  if (method === 'subscriptions/listen')
    return serveListening(desk, { ...request, caller: callerIn(desk, request.caller) });
  const result =
    method === 'server/discover'
      ? discover(desk, callerIn(desk, request.caller))
      : await answer(desk, request);
  const text = isText(result) ? result : await writeInSlices(result);
  await reply.finish(resultText(id, text));
}

function discover(desk: Desk, caller: Caller): Params {
  const instructions = instructionsOf(desk, caller);
  return {
    supportedVersions: [MODERN_VERSION],
    capabilities: capabilitiesOf(desk, caller),
    ...(instructions !== undefined && { instructions }),
    resultType: 'complete',
    ttlMs: 60_000,
    cacheScope: 'private',
    _meta: { [META.serverInfo]: desk.serverInfo },
  };
}

function answer(
  desk: Desk,
  { message, caller, signal, ended, isOwner, reply }: ModernRequest,
): Promise<SurfaceResult> {
  const { method, params } = message;
  const { surface, parked } = desk;
  const meta = metaOf(params);
  const progressToken = idIn(meta, 'progressToken');
  const request: SurfaceRequest = {
    method,
    params,
    caller: callerIn(desk, caller),
    view: surface.view.name,
    era: 'modern',
    signal,
    ...(progressToken !== undefined && {
      onProgress: (progress) => reply.send(progressText(progressToken, progress)),
    }),
  };
  if (parked.isOurs(params.requestState)) return parked.resume(request);
  const told = meta[META.capabilities];
  const capabilities = isRecord(told) ? told : {};
  const onNotice =
    meta[META.logLevel] === undefined
      ? undefined
      : (name: string, about: Params) => reply.send(noticeText(name, about));
  const missing = new Set<string>();
  const onUnanswerable = (kind: string): unknown => missing.add(kind);
  const perform = async (respondent: Respondent, own: CancelSignal | undefined): Promise<SurfaceResult> => {
    try {
      const result = await surface.answer({
        ...request,
        respondent: { ...respondent, session: `caller ${identityOf(caller)}`, onNotice, onUnanswerable },
        signal: own,
      });
      if (missing.size > 0 && !isText(result) && result.isError === true) throw missingCapabilities(missing);
      return result;
    } catch (thrown) {
      throw missing.size > 0 ? missingCapabilities(missing) : thrown;
    }
  };
  // A client that can be asked nothing needs nobody to wait for it.
  if (!canBeAsked(capabilities)) return perform({ capabilities, answers: NO_ANSWERS }, signal);
  return parked.start(request, { capabilities, ended, isOwner }, perform);
}

const NO_ANSWERS = {};

const canBeAsked = (capabilities: Params): boolean =>
  capabilities.elicitation !== undefined ||
  capabilities.sampling !== undefined ||
  capabilities.roots !== undefined;

/** The call failed after its server had asked for what the client did not say that it can be asked. */
const missingCapabilities = (kinds: ReadonlySet<string>): RpcError =>
  new RpcError(CODES.missingCapability, `The client must declare: ${[...kinds].join(', ')}`, {
    data: { requiredCapabilities: Object.fromEntries([...kinds].map((kind) => [kind, {}])) },
    http: 400,
  });
