/** Reads a list of a server page by page, within limits, whatever its cursors do. */

import type { Lane, LaneRequest, LaneResult } from '../connection/lane.js';
import { deepResultOf } from '../connection/message.js';
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { isDeeperThan } from '../json/depth.js';
import { inSlices, type Steps } from '../json/slices.js';
import { keepSpellingOfEntries, ownSpelling } from '../json/spelling.js';
import { type RoomForList, weigh } from './list-room.js';

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
  /** How large an entry may be, and how large all that is kept. */
  readonly maxDefinitionBytes: number;
  readonly room: RoomForList;
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
    const full = await inSlices(takeEntries(items, found.slice(0, room), { ...request, isDeep }));
    const ttl = result.ttlMs;
    if (typeof ttl === 'number' && Number.isFinite(ttl))
      ttlMs = Math.min(ttlMs ?? Infinity, Math.max(ttl, 0));
    if (full !== undefined) return { items, ttlMs, truncated: full };
    const next = result.nextCursor;
    if (typeof next === 'string' && next.length > MAX_CURSOR)
      return { items, ttlMs, truncated: `its cursor has more than ${MAX_CURSOR} characters` };
    const isCut = found.length > room;
    if (typeof next !== 'string' && !isCut) return { items, ttlMs, truncated: undefined };
    if (typeof next !== 'string') return { items, ttlMs, truncated: whyStop(true, false, false, request) };
    const truncated = whyStop(items.length >= maxItems, page >= maxPages, seen.has(next), request);
    if (truncated !== undefined) return { items, ttlMs, truncated };
    seen.add(next);
    cursor = next;
  }
}

/** Takes what there is room for, so that nothing else is held while further pages come. Returns why it ended early. */
function* takeEntries(
  items: unknown[],
  entries: readonly unknown[],
  request: Pick<ListRequest, 'maxDepth' | 'maxDefinitionBytes' | 'room'> & { readonly isDeep: boolean },
): Steps<string | undefined> {
  const { maxDepth, maxDefinitionBytes, room, isDeep } = request;
  for (const entry of entries) {
    const weight = weigh(entry, maxDefinitionBytes);
    if (weight > maxDefinitionBytes) items.push(new TooLarge(labelOf(entry), maxDefinitionBytes));
    else {
      const fault = room.take(weight, entry);
      if (fault !== undefined) return fault;
      ownSpelling(entry);
      items.push(isDeep && isDeeperThan(entry, maxDepth) ? new TooDeep(entry) : entry);
    }
    yield;
  }
  return undefined;
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

/** The same for one that is too large; the entry itself is let go. */
export class TooLarge {
  readonly label: string | undefined;
  readonly reason: string;

  constructor(label: string | undefined, max: number) {
    this.label = label;
    this.reason = `its definition is larger than ${max} bytes`;
  }
}

/** What an entry is called, in short; as a text of its own, because a part of a text holds the whole. */
export function labelOf(entry: unknown): string | undefined {
  const name = isRecord(entry) ? (entry.name ?? entry.uri) : undefined;
  return typeof name === 'string' && name !== ''
    ? Buffer.from(name.slice(0, MAX_LABEL)).toString()
    : undefined;
}

const MAX_LABEL = 128;
/** All cursors are remembered, to notice a circle. */
const MAX_CURSOR = 16_384;

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
