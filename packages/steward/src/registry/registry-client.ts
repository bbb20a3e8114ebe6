/** Reads a registry by its API (v0.1): all servers page by page, later only what has changed, and single versions. */
import { monotonicNow } from 'turnbuckle/host';
import { createRecordCache, type RegistryContents } from './record-cache.js';
import { MAX_RECORDS, readRecordList } from './record-list.js';
import {
  type CachedReader,
  createCachedReader,
  type RecordSource,
  type SourceRead,
  type WantedRecord,
} from './record-source.js';
import { newestOf } from './record-versions.js';
import {
  malformed,
  newBudget,
  type RequestTools,
  type RetryBudget,
  requestJson,
  unexpectedStatus,
} from './registry-request.js';
import { apiUrl } from './registry-source.js';
import { parseServerRecord, type ServerRecord } from './server-record.js';
import { createSharedWork, type SharedWork } from './shared-work.js';

export interface RemoteSourceOptions {
  readonly url: URL;
  readonly tools: RequestTools;
  readonly cacheDir: string;
  readonly ttlMs: number;
  /** Pages of one refresh (1,000). */
  readonly maxPages?: number | undefined;
}

const PAGE_SIZE = 100;
const DEFAULT_MAX_PAGES = 1_000;
/** Of all pages of one refresh. */
const MAX_TOTAL_CHARACTERS = 64 * 1024 * 1024;
/** A list that arrives slower than this is cut. */
const MAX_READ_MS = 5 * 60_000;
/** Pages in a row that bring nothing new. */
const MAX_EMPTY_PAGES = 3;
/** Everything is read again after this time: changes alone would never show that a registry was reset. */
const FULL_READ_MS = 7 * 86_400_000;
/** A change can become visible a little later than its time says. */
const OVERLAP_MS = 5 * 60_000;

export function createRegistryClient(options: RemoteSourceOptions): RecordSource {
  const { url, tools, cacheDir, ttlMs } = options;
  const list = apiUrl(url);
  const reader = createCachedReader({
    name: url.href,
    cache: createRecordCache(cacheDir, list.href),
    now: tools.now,
    ttlMs,
    refresh: (held, signal) => refresh({ ...options, list, signal }, held),
  });
  return {
    name: url.href,
    read: (signal): Promise<SourceRead> => reader.read(signal),
    find: createFinder({ list, tools, reader }),
  };
}

interface Refresh extends RemoteSourceOptions {
  readonly list: URL;
  readonly signal: AbortSignal;
}

async function refresh(job: Refresh, held: RegistryContents | undefined): Promise<RegistryContents> {
  const startedAt = job.tools.now();
  const since = held !== undefined && canUpdate(held, startedAt) ? held.changedSince : undefined;
  if (held !== undefined && since !== undefined) {
    const changes = await readPages(job, since);
    if (changes !== 'refused') {
      const records = merge(held.records, changes.records);
      return {
        ...contentsOf({ ...changes, records }, startedAt),
        skipped: held.skipped + changes.skipped,
        fullAt: held.fullAt,
      };
    }
  }
  const pages = await readPages(job, undefined);
  if (pages === 'refused') throw unexpectedStatus(job.list, 400);
  return contentsOf(pages, startedAt);
}

const canUpdate = ({ isCut, fullAt }: RegistryContents, now: number): boolean =>
  !isCut && now >= fullAt && now - fullAt < FULL_READ_MS;

interface Pages {
  readonly records: readonly ServerRecord[];
  readonly skipped: number;
  readonly isCut: boolean;
}

function contentsOf({ records, skipped, isCut }: Pages, startedAt: number): RegistryContents {
  return {
    records,
    skipped,
    isCut,
    readAt: startedAt,
    fullAt: startedAt,
    changedSince: changedSince(records, startedAt),
  };
}

/** By the clock of the registry; a record from the future must not hide the changes before it. */
function changedSince(records: readonly ServerRecord[], startedAt: number): string | undefined {
  let latest = '';
  for (const { updatedAt = '' } of records) if (updatedAt > latest) latest = updatedAt;
  if (latest === '') return undefined;
  return new Date(Math.max(Math.min(Date.parse(latest), startedAt) - OVERLAP_MS, 0)).toISOString();
}

/** All pages, up to the limits. `refused`: the registry does not support the filter. */
async function readPages(job: Refresh, since: string | undefined): Promise<Pages | 'refused'> {
  const { maxPages = DEFAULT_MAX_PAGES } = job;
  const records: ServerRecord[] = [];
  const cursors = new Set<string>();
  const budget = newBudget();
  const endsAt = monotonicNow() + MAX_READ_MS;
  let skipped = 0;
  let characters = 0;
  let emptyPages = 0;
  let cursor: string | undefined;
  for (let pages = 0; pages < maxPages && records.length < MAX_RECORDS; pages += 1) {
    const page = await readPage(job, { since, cursor, budget });
    if (page === 'refused') return page;
    records.push(...page.list.records);
    skipped += page.list.skipped;
    characters += page.length;
    emptyPages = page.list.records.length === 0 ? emptyPages + 1 : 0;
    cursor = page.list.next;
    if (cursor === undefined) return { records, skipped, isCut: false };
    // A cursor that comes again would go on forever.
    if (cursors.has(cursor) || emptyPages === MAX_EMPTY_PAGES) break;
    if (characters > MAX_TOTAL_CHARACTERS || monotonicNow() > endsAt) break;
    cursors.add(cursor);
  }
  return { records: records.slice(0, MAX_RECORDS), skipped, isCut: true };
}

async function readPage(
  { list, tools, signal }: Refresh,
  query: { since: string | undefined; cursor: string | undefined; budget: RetryBudget },
) {
  const url = new URL(list);
  url.searchParams.set('limit', String(PAGE_SIZE));
  url.searchParams.set('version', 'latest');
  if (query.since !== undefined) url.searchParams.set('updated_since', query.since);
  if (query.cursor !== undefined) url.searchParams.set('cursor', query.cursor);
  const { status, value, length } = await requestJson({ url, budget: query.budget, signal }, tools);
  const isFirst = query.cursor === undefined;
  if (query.since !== undefined && isFirst && (status === 400 || status === 422)) return 'refused';
  if (status !== 200) throw unexpectedStatus(url, status);
  const records = await readRecordList(value);
  if (records === undefined) throw malformed(url, 'is not a list of servers');
  return { list: records, length };
}

/** Changed servers replace all that was known of them. */
function merge(held: readonly ServerRecord[], changed: readonly ServerRecord[]): readonly ServerRecord[] {
  const names = new Set(changed.map(({ name }) => name));
  return [...held.filter(({ name }) => !names.has(name)), ...changed].slice(0, MAX_RECORDS);
}

interface FindTools {
  readonly list: URL;
  readonly tools: RequestTools;
  readonly reader: CachedReader;
}

interface Finding extends FindTools {
  readonly signal: AbortSignal;
}

/** Callers that ask for the same version at the same time share one request. */
function createFinder(job: FindTools): RecordSource['find'] {
  const pending = new Map<string, SharedWork<ServerRecord | undefined>>();
  return async (wanted, signal) => {
    const key = `${wanted.name} ${wanted.version ?? ''}`;
    const shared = pending.get(key) ?? createSharedWork();
    pending.set(key, shared);
    try {
      return await shared((ownSignal) => findRecord(wanted, { ...job, signal: ownSignal }), signal);
    } finally {
      if (pending.get(key) === shared) pending.delete(key);
    }
  };
}

/** From the cache while it is fresh, otherwise from the registry, and from an old cache if that fails. */
async function findRecord(wanted: WantedRecord, job: Finding): Promise<ServerRecord | undefined> {
  const held = await job.reader.held();
  const known = held && findIn(held.contents.records, wanted);
  if (known !== undefined && held?.isFresh === true) return known;
  try {
    return await requestRecord(wanted, job);
  } catch (error) {
    if (known === undefined || job.signal.aborted) throw error;
    return known;
  }
}

async function requestRecord(wanted: WantedRecord, job: Finding): Promise<ServerRecord | undefined> {
  const { list, tools, signal } = job;
  const { name, version } = wanted;
  const path = `${encodeURIComponent(name)}/versions/${encodeURIComponent(version ?? 'latest')}`;
  const url = new URL(`${list.pathname}/${path}`, list);
  const { status, value } = await requestJson({ url, budget: newBudget(), signal }, tools);
  if (status === 404) return undefined;
  if (status !== 200) throw unexpectedStatus(url, status);
  const record = parseServerRecord(value);
  if (record === undefined) throw malformed(url, 'is not a server record');
  // What is installed must be what was asked for.
  if (record.name !== name || (version !== undefined && record.version !== version))
    throw malformed(url, 'describes a different server or version than the one requested');
  return record;
}

/** The version that is asked for, or the newest. */
export function findIn(
  records: readonly ServerRecord[],
  { name, version }: WantedRecord,
): ServerRecord | undefined {
  return newestOf(
    records.filter((one) => one.name === name && (version === undefined || one.version === version)),
  );
}
