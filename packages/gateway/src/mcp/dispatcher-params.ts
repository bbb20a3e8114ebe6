/** Splits the params of a request into ours and the server's, and writes results for the client's revision. */
import type { Decision } from 'turnbuckle';
import { copyRawNumbers, foldKey } from 'turnbuckle/host';
import { type ResponseText, SharedText } from '../http/response-text.js';
import { type Era, META, type Params } from './protocol/protocol.js';

/** Methods of the newer revision whose results say how long they may be cached. */
export const LIST_CACHE_HINT = { ttlMs: 10_000, cacheScope: 'private' } as const;

/**
 * Of the params besides the arguments, only those of the protocol are forwarded: no rule checks anything else that a
 * client adds, so a server that reads it could be steered past the rules.
 */
export function extraCallParams(params: Params): Params | undefined {
  const { task } = params;
  return task === undefined ? undefined : copyRawNumbers(params, { task });
}

export const STRICTNESS: Readonly<Record<Decision['action'], number>> = { allow: 0, ask: 1, deny: 2 };

/** The members that the protocol has for the params of a request. */
const REQUEST_MEMBERS = { 'resources/read': ['uri'], 'prompts/get': ['name', 'arguments'] } as const;

/** Only these are forwarded: a lenient server could take another one, such as `URI`, for the one that was authorized. */
export function knownParams(params: Params, method: keyof typeof REQUEST_MEMBERS): Params {
  const known: Record<string, unknown> = {};
  for (const member of REQUEST_MEMBERS[method])
    if (Object.hasOwn(params, member)) known[member] = params[member];
  return copyRawNumbers(params, known);
}

/** Whether it has a member that a lenient server could take for this one. */
export const hasOtherSpelling = (params: Params, member: string): boolean =>
  Object.keys(params).some((key) => key !== member && foldKey(key) === foldKey(member));

/** What the client says about itself and its request is for us; the rest belongs to the server. */
const GATEWAY_META_KEYS: ReadonlySet<string> = new Set([
  META.version,
  META.capabilities,
  META.clientInfo,
  'progressToken',
]);

export function metaForServer(meta: Params, logLevel: string | undefined): Params | undefined {
  let kept: Record<string, unknown> | undefined =
    logLevel === undefined ? undefined : copyRawNumbers(meta, { [META.logLevel]: logLevel });
  for (const key in meta) {
    if (GATEWAY_META_KEYS.has(key)) continue;
    kept ??= copyRawNumbers(meta, {});
    kept[key] = meta[key];
  }
  return kept;
}

export function withoutMeta(whole: Params): Params {
  const { _meta, inputResponses, requestState, ...params } = whole;
  return copyRawNumbers(whole, params);
}

/** Only the newer revision has `resultType`. */
export function toEraResult(result: Params, era: Era): Params {
  if (era === 'modern')
    return result.resultType === undefined
      ? copyRawNumbers(result, { ...result, resultType: 'complete' })
      : result;
  if (result.resultType === undefined) return result;
  const { resultType, ttlMs, cacheScope, ...rest } = result;
  return copyRawNumbers(result, rest);
}

/** Large lists exist once, as bytes, for all clients that get them. */
export function listText(key: string, items: string | Buffer, era: Era): ResponseText {
  const head = `{"${key}":`;
  const tail =
    era === 'modern'
      ? `,"resultType":"complete","ttlMs":${LIST_CACHE_HINT.ttlMs},"cacheScope":"${LIST_CACHE_HINT.cacheScope}"}`
      : '}';
  return typeof items === 'string' ? `${head}${items}${tail}` : new SharedText(head, items, tail);
}
