/** What of a request is the server's and what is ours, and results as the client's revision writes them. */
import { keepSpelling } from 'turnbuckle';
import { type AnswerText, SharedText } from '../http/answer-text.js';
import { type Era, META, type Params } from './protocol.js';

/** Methods of the newer revision whose answers say how long they are good for. */
export const LISTS = { ttlMs: 10_000, cacheScope: 'private' } as const;

/**
 * Of the params that a call has beside its own, only what the protocol knows: what else a client adds is no argument,
 * no rule looks at it, and a server that did would be led by it past both.
 */
export function furtherOf(params: Params): Params | undefined {
  const { task } = params;
  return task === undefined ? undefined : keepSpelling(params, { task });
}

/** What the client says about itself and its own request is between it and us; the rest belongs to the server. */
const OURS: ReadonlySet<string> = new Set([
  META.version,
  META.capabilities,
  META.clientInfo,
  'progressToken',
]);

export function metaForServer(meta: Params, logLevel: string | undefined): Params | undefined {
  let kept: Record<string, unknown> | undefined =
    logLevel === undefined ? undefined : keepSpelling(meta, { [META.logLevel]: logLevel });
  for (const key in meta) {
    if (OURS.has(key)) continue;
    kept ??= keepSpelling(meta, {});
    kept[key] = meta[key];
  }
  return kept;
}

export function withoutMeta(whole: Params): Params {
  const { _meta, inputResponses, requestState, ...params } = whole;
  return keepSpelling(whole, params);
}

/** Only the newer revision says of what kind a result is. */
export function inEra(result: Params, era: Era): Params {
  if (era === 'modern')
    return result.resultType === undefined
      ? keepSpelling(result, { ...result, resultType: 'complete' })
      : result;
  if (result.resultType === undefined) return result;
  const { resultType, ttlMs, cacheScope, ...rest } = result;
  return keepSpelling(result, rest);
}

/** Large lists are there once, as bytes, for all who are sent them. */
export function listText(key: string, items: string | Buffer, era: Era): AnswerText {
  const head = `{"${key}":`;
  const tail =
    era === 'modern'
      ? `,"resultType":"complete","ttlMs":${LISTS.ttlMs},"cacheScope":"${LISTS.cacheScope}"}`
      : '}';
  return typeof items === 'string' ? `${head}${items}${tail}` : new SharedText(head, items, tail);
}
