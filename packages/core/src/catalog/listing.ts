/** Reads a list of a server page by page, within limits, whatever its cursors do. */

import type { Lane, LaneRequest, LaneResult } from '../connection/lane.js';
import { deepResultOf } from '../connection/message.js';
import { TurnbuckleError } from '../errors.js';
import { isDeeperThan } from '../json/depth.js';
import { keepSpellingOfEntries } from '../json/spelling.js';

export interface ListRequest {
  readonly server: string;
  readonly method: 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list';
  /** The key of the result that holds the items. */
  readonly key: 'tools' | 'resources' | 'resourceTemplates' | 'prompts';
  readonly timeoutMs: number;
  readonly maxPages: number;
  readonly maxItems: number;
  /** How deep an entry may be nested. */
  readonly maxDepth: number;
}

export interface Listing {
  readonly items: readonly unknown[];
  /** How long the server vouches for the list; undefined when it does not say. */
  readonly ttlMs: number | undefined;
  /** Why the list ends before the server's does. */
  readonly truncated: string | undefined;
}

/** All items up to the limits; rejects when a page cannot be had. */
export async function readListing(lane: Lane, request: ListRequest): Promise<Listing> {
  const { server, method, key, timeoutMs, maxPages, maxItems, maxDepth } = request;
  const deadline = Date.now() + timeoutMs;
  const items: unknown[] = [];
  const seen = new Set<string>();
  let ttlMs: number | undefined;
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    const leftMs = Math.max(deadline - Date.now(), 1);
    const { result, isDeep } = await pageOf(lane, {
      method,
      // The empty string is a cursor like any other.
      params: cursor === undefined ? {} : { cursor },
      timeoutMs: leftMs,
      maxTotalMs: leftMs,
    });
    const found = result[key];
    if (!Array.isArray(found)) throw notAList(server, method);
    keepSpellingOfEntries(result);
    const room = maxItems - items.length;
    for (const entry of found.slice(0, room))
      items.push(isDeep && isDeeperThan(entry, maxDepth) ? new TooDeep(entry) : entry);
    const ttl = result.ttlMs;
    if (typeof ttl === 'number' && Number.isFinite(ttl))
      ttlMs = Math.min(ttlMs ?? Infinity, Math.max(ttl, 0));
    const next = result.nextCursor;
    const isCut = found.length > room;
    if (typeof next !== 'string' && !isCut) return { items, ttlMs, truncated: undefined };
    if (typeof next !== 'string') return { items, ttlMs, truncated: whyStop(true, false, false, request) };
    const truncated = whyStop(items.length >= maxItems, page >= maxPages, seen.has(next), request);
    if (truncated !== undefined) return { items, ttlMs, truncated };
    seen.add(next);
    cursor = next;
  }
}

/** One entry that is nested too deep does not take the others with it. */
async function pageOf(
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

/** Stands for an entry that cannot be taken, so that it can be told which. */
export class TooDeep {
  readonly entry: unknown;

  constructor(entry: unknown) {
    this.entry = entry;
  }
}

function whyStop(
  full: boolean,
  lastPage: boolean,
  cyclic: boolean,
  { maxItems, maxPages }: ListRequest,
): string | undefined {
  if (full) return `it has more than ${maxItems} entries`;
  if (cyclic) return 'its pages go round in a circle';
  return lastPage ? `it has more than ${maxPages} pages` : undefined;
}

function notAList(server: string, method: string): TurnbuckleError {
  return new TurnbuckleError('PROTOCOL_VIOLATION', `Server "${server}" answered ${method} without a list.`, {
    server,
    hint: 'This is a defect of the server.',
  });
}
