/** Finds servers in the configured registries. It never selects one: it returns candidates and exact records. */
import { TurnbuckleError } from 'turnbuckle';
import { abortReason, type GuardedFetch, pause, untilAborted } from 'turnbuckle/host';
import { inspectMachine, type Machine } from './machine.js';
import {
  type Candidate,
  judgeRecord,
  prepareRecords,
  type RankedRecords,
  type RecordSignals,
  rank,
} from './ranking.js';
import type { RegistryContents } from './record-cache.js';
import type { RecordSource, SourceRead } from './record-source.js';
import { createRegistryClient } from './registry-client.js';
import { createFileCopy, createUrlCopy } from './registry-copy.js';
import type { RequestTools } from './registry-request.js';
import { isCopy, type RegistrySource, sourceUrl } from './registry-source.js';
import { isServerName, isServerVersion, type ServerRecord } from './server-record.js';

export interface RegistryOptions {
  /** In the order of their authority: a server that several of them have comes from the first. */
  readonly sources: readonly RegistrySource[];
  /** Limited to the origins of the sources (`registryFetchOptions`). */
  readonly fetch: GuardedFetch;
  /** Private; created when needed. */
  readonly cacheDir: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How long a list is used without asking again (1 hour). */
  readonly ttlMs?: number | undefined;
  /** Pages that are read of one registry (1,000). */
  readonly maxPages?: number | undefined;
  /** What is installed; looked up for every search by default. */
  readonly machine?: Machine | undefined;
  readonly random?: (() => number) | undefined;
  /** Waits between retries; rejects with the reason of the signal. */
  readonly wait?: RequestTools['wait'] | undefined;
}

export interface SearchOptions {
  /** At most 50; 10 by default. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What the last search found out about a source. */
export interface SourceStatus {
  /** Its URL or file. */
  readonly source: string;
  readonly records: number;
  /** Invalid records that were left out. */
  readonly skipped: number;
  /** When the records were read; absent: never. */
  readonly readAt?: string;
  /** That the records are old and how old, or why there are none. */
  readonly note?: string;
}

export interface Registry {
  /** Candidates for a purpose, best first. Rejects only if no source can be read. */
  search(purpose: string, options?: SearchOptions): Promise<Candidate[]>;
  /** The exact record; without a version the newest. Undefined if no source has it. */
  get(name: string, version?: string, signal?: AbortSignal): Promise<ServerRecord | undefined>;
  /** What is known of exactly this record. Rejects like a search. */
  judge(record: ServerRecord, signal?: AbortSignal): Promise<RecordSignals>;
  status(): readonly SourceStatus[];
}

const HOUR_MS = 3_600_000;
const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 50;

/** Throws CONFIG_INVALID for a source that is not a URL or file. */
export function createRegistry(options: RegistryOptions): Registry {
  const sources = options.sources.map((source) => createSource(source, options));
  const statuses = new Map<string, SourceStatus>();
  let prepared:
    | { readonly from: readonly RegistryContents[]; readonly records: Promise<RankedRecords> }
    | undefined;

  const readAll = async (signal: AbortSignal | undefined): Promise<readonly RegistryContents[]> => {
    const reads = await Promise.allSettled(sources.map((source) => source.read(signal)));
    signal?.throwIfAborted();
    for (const [at, { name }] of sources.entries()) statuses.set(name, toStatus(name, reads[at]));
    const contents = reads.flatMap((read) => (read.status === 'fulfilled' ? [read.value.contents] : []));
    const [failed] = reads.filter((read) => read.status === 'rejected');
    if (contents.length === 0) throw failed?.reason ?? noSource();
    return contents;
  };
  /** The index is built once for the same contents. */
  const prepare = (from: readonly RegistryContents[]): Promise<RankedRecords> => {
    const known = prepared?.from;
    const isSame = from.length === known?.length && from.every((one, at) => one === known[at]);
    if (prepared === undefined || !isSame) prepared = { from, records: prepareRecords(combine(from)) };
    return prepared.records;
  };
  return {
    search: async (purpose, { limit = DEFAULT_LIMIT, signal } = {}) => {
      const contents = await readAll(signal);
      const most = Math.min(Math.max(Math.trunc(limit), 1), MAX_LIMIT);
      const work = async (): Promise<Candidate[]> => {
        const records = await prepare(contents);
        const machine = options.machine ?? (await inspectMachine());
        return rank(records, { purpose, limit: most, machine, now: options.now() });
      };
      return untilAborted(work, signal, abortReason);
    },
    get: (name, version, signal) => find(sources, { name, version }, signal),
    judge: async (record, signal) => {
      const contents = await readAll(signal);
      return judgeRecord(await untilAborted(() => prepare(contents), signal, abortReason), record);
    },
    status: () => sources.flatMap(({ name }) => statuses.get(name) ?? []),
  };
}

function createSource(source: RegistrySource, options: RegistryOptions): RecordSource {
  const { fetch, now, cacheDir, maxPages } = options;
  if ('file' in source) return createFileCopy(source.file, now);
  const { random = Math.random, ttlMs = HOUR_MS } = options;
  const wait = options.wait ?? ((ms, signal) => pause(ms, signal, abortReason));
  const url = sourceUrl(source.url);
  const remote = { url, tools: { fetch, now, random, wait }, cacheDir, ttlMs, maxPages };
  return isCopy(url) ? createUrlCopy(remote) : createRegistryClient(remote);
}

/** A later source adds servers, and changes none of an earlier one. */
function combine(contents: readonly RegistryContents[]): readonly ServerRecord[] {
  const taken = new Set<string>();
  return contents.flatMap(({ records }) => {
    const added = records.filter(({ name }) => !taken.has(name));
    for (const { name } of added) taken.add(name);
    return added;
  });
}

async function find(
  sources: readonly RecordSource[],
  wanted: { readonly name: string; readonly version: string | undefined },
  signal: AbortSignal | undefined,
): Promise<ServerRecord | undefined> {
  if (sources.length === 0) throw noSource();
  const { name, version } = wanted;
  if (!isServerName(name) || (version !== undefined && !isServerVersion(version))) return undefined;
  for (const source of sources) {
    // If an earlier source fails, a later one must not take its place unnoticed.
    const record = await source.find(wanted, signal);
    if (record !== undefined) return record.status === 'deleted' ? undefined : record;
  }
  return undefined;
}

function toStatus(source: string, read: PromiseSettledResult<SourceRead> | undefined): SourceStatus {
  if (read?.status !== 'fulfilled') {
    const note = read?.reason instanceof Error ? read.reason.message : 'It could not be read.';
    return { source, records: 0, skipped: 0, note };
  }
  const { contents, note } = read.value;
  return {
    source,
    records: contents.records.length,
    skipped: contents.skipped,
    readAt: new Date(contents.readAt).toISOString(),
    ...(note !== undefined && { note }),
  };
}

const noSource = (): TurnbuckleError =>
  new TurnbuckleError('CONFIG_INVALID', 'No registry is configured.', {
    hint: 'Configure the URL of an MCP registry, or a file with a copy of one.',
  });
