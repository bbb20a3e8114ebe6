/** Reads a list of a server page by page, within limits, whatever its cursors. */

import type { Lane, LaneRequest, LaneResult } from '../connection/lanes/lane.js';
import { deepResultOf } from '../connection/protocol/message.js';
import { SERVER_BUG_HINT, TurnbuckleError } from '../errors.js';
import { isDeeperThan } from '../json/depth.js';
import { isRecord } from '../json/is-record.js';
import { detachRawText, keepRawNumbersOfEntries } from '../json/lossless-json.js';
import { inSlices, type Steps } from '../json/slices.js';
import { type ListBudget, weighEntry } from './list-budget.js';

export interface ListRequest {
  readonly server: string;
  readonly method: 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list';
  /** The key of the result with the items. */
  readonly key: 'tools' | 'resources' | 'resourceTemplates' | 'prompts';
  readonly timeoutMs: number;
  readonly maxPages: number;
  readonly maxItems: number;
  /** Maximum nesting of an entry. */
  readonly maxDepth: number;
  /** Maximum size of an entry, and of everything that is kept. */
  readonly maxDefinitionBytes: number;
  readonly budget: ListBudget;
}

export interface Listing {
  readonly items: readonly unknown[];
  /** The TTL that the server declares, if any. */
  readonly ttlMs: number | undefined;
  /** Why the list was truncated. */
  readonly truncated: string | undefined;
}

/** All items up to the limits; rejects if a page cannot be read. */
export async function readListing(lane: Lane, request: ListRequest): Promise<Listing> {
  const { server, method, key, timeoutMs, maxPages, maxItems } = request;
  const deadline = performance.now() + timeoutMs;
  const items: unknown[] = [];
  const seen = new Set<string>();
  let ttlMs: number | undefined;
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    const leftMs = Math.max(deadline - performance.now(), 1);
    const { result, isDeep } = await requestPage(lane, {
      method,
      // The empty string is a valid cursor.
      params: cursor === undefined ? {} : { cursor },
      timeoutMs: leftMs,
      maxTotalMs: leftMs,
    });
    const found = result[key];
    if (!Array.isArray(found)) throw notAList(server, method);
    keepRawNumbersOfEntries(result);
    const room = maxItems - items.length;
    const full = await inSlices(takeEntries(items, found.slice(0, room), { ...request, isDeep }));
    const ttl = result.ttlMs;
    if (typeof ttl === 'number' && Number.isFinite(ttl))
      ttlMs = Math.min(ttlMs ?? Infinity, Math.max(ttl, 0));
    if (full !== undefined) return { items, ttlMs, truncated: full };
    const next = result.nextCursor;
    if (typeof next === 'string' && next.length > MAX_CURSOR_LENGTH)
      return { items, ttlMs, truncated: `the next cursor has more than ${MAX_CURSOR_LENGTH} characters` };
    const isCut = found.length > room;
    if (typeof next !== 'string' && !isCut) return { items, ttlMs, truncated: undefined };
    if (typeof next !== 'string')
      return { items, ttlMs, truncated: truncationReason({ isFull: true }, request) };
    const state = {
      isFull: items.length >= maxItems,
      isLastPage: page >= maxPages,
      isCyclic: seen.has(next),
    };
    const truncated = truncationReason(state, request);
    if (truncated !== undefined) return { items, ttlMs, truncated };
    seen.add(next);
    cursor = next;
  }
}

/**
 * Takes the entries that fit, so that the rest is not held while further pages arrive. Returns why it stopped early.
 */
function* takeEntries(
  items: unknown[],
  entries: readonly unknown[],
  request: Pick<ListRequest, 'maxDepth' | 'maxDefinitionBytes' | 'budget'> & { readonly isDeep: boolean },
): Steps<string | undefined> {
  const { maxDepth, maxDefinitionBytes, budget, isDeep } = request;
  for (const entry of entries) {
    const weight = weighEntry(entry, maxDefinitionBytes);
    if (weight > maxDefinitionBytes) items.push(new TooLarge(labelOf(entry), maxDefinitionBytes));
    else {
      const fault = budget.take(weight, entry);
      if (fault !== undefined) return fault;
      detachRawText(entry);
      items.push(isDeep && isDeeperThan(entry, maxDepth) ? new TooDeep(entry) : entry);
    }
    yield;
  }
  return undefined;
}

/** One entry that is nested too deeply does not affect the others. */
async function requestPage(
  lane: Lane,
  request: LaneRequest,
): Promise<{ readonly result: LaneResult; readonly isDeep: boolean }> {
  try {
    return { result: await lane.request(request), isDeep: false };
  } catch (error) {
    const result = deepResultOf(error);
    if (result === undefined) throw error;
    return { result, isDeep: true };
  }
}

/** A placeholder for an unusable entry, so that it can be reported. */
export class TooDeep {
  readonly entry: unknown;

  constructor(entry: unknown) {
    this.entry = entry;
  }
}

/** The same for an entry that is too large; the entry itself is released. */
export class TooLarge {
  readonly label: string | undefined;
  readonly reason: string;

  constructor(label: string | undefined, max: number) {
    this.label = label;
    this.reason = `its definition is larger than ${max} bytes`;
  }
}

/** A short label of an entry; copied, because a slice keeps the whole string in memory. */
export function labelOf(entry: unknown): string | undefined {
  const name = isRecord(entry) ? (entry.name ?? entry.uri) : undefined;
  return typeof name === 'string' && name !== ''
    ? Buffer.from(name.slice(0, MAX_LABEL_LENGTH)).toString()
    : undefined;
}

const MAX_LABEL_LENGTH = 128;
/** All cursors are remembered, to detect loops. */
const MAX_CURSOR_LENGTH = 16_384;

function truncationReason(
  state: { readonly isFull: boolean; readonly isLastPage?: boolean; readonly isCyclic?: boolean },
  { maxItems, maxPages }: ListRequest,
): string | undefined {
  if (state.isFull) return `the list has more than ${maxItems} entries`;
  if (state.isCyclic === true) return 'the pages form a loop';
  return state.isLastPage === true ? `the list has more than ${maxPages} pages` : undefined;
}

function notAList(server: string, method: string): TurnbuckleError {
  return new TurnbuckleError('PROTOCOL_VIOLATION', `Server "${server}" returned no list for ${method}.`, {
    server,
    hint: SERVER_BUG_HINT,
  });
}
