/** Reads a list of a server page by page, within limits, whatever its cursors do. */

import type { Lane } from '../connection/lane.js';
import { TurnbuckleError } from '../errors.js';
import { keepSpellingOfEntries } from '../json/spelling.js';

export interface ListRequest {
  readonly server: string;
  readonly method: 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list';
  /** The key of the result that holds the items. */
  readonly key: 'tools' | 'resources' | 'resourceTemplates' | 'prompts';
  readonly timeoutMs: number;
  readonly maxPages: number;
  readonly maxItems: number;
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
  const { server, method, key, timeoutMs, maxPages, maxItems } = request;
  const deadline = Date.now() + timeoutMs;
  const items: unknown[] = [];
  const seen = new Set<string>();
  let ttlMs: number | undefined;
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    const leftMs = Math.max(deadline - Date.now(), 1);
    const result = await lane.request({
      method,
      // The empty string is a cursor like any other.
      params: cursor === undefined ? {} : { cursor },
      timeoutMs: leftMs,
      maxTotalMs: leftMs,
    });
    const found = result[key];
    if (!Array.isArray(found)) throw notAList(server, method);
    keepSpellingOfEntries(result);
    items.push(...found.slice(0, maxItems - items.length));
    const ttl = result.ttlMs;
    if (typeof ttl === 'number' && Number.isFinite(ttl))
      ttlMs = Math.min(ttlMs ?? Infinity, Math.max(ttl, 0));
    const next = result.nextCursor;
    if (typeof next !== 'string') return { items, ttlMs, truncated: undefined };
    const truncated = whyStop(items.length >= maxItems, page >= maxPages, seen.has(next), request);
    if (truncated !== undefined) return { items, ttlMs, truncated };
    seen.add(next);
    cursor = next;
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
