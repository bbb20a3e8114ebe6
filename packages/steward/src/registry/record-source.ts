/** One configured source of records, whatever its kind; and how a remote one is kept up to date with a cache. */
import { TurnbuckleError } from 'turnbuckle';
import type { RecordCache, RegistryContents } from './record-cache.js';
import type { ServerRecord } from './server-record.js';
import { createSharedWork } from './shared-work.js';

export interface SourceRead {
  /** The same object as long as nothing has changed. */
  readonly contents: RegistryContents;
  /** What the reader of these records should know: that they are old, or not all. */
  readonly note?: string | undefined;
}

export interface RecordSource {
  /** Its URL or file. */
  readonly name: string;
  /** All its records. Rejects if there are none to use. */
  read(signal?: AbortSignal): Promise<SourceRead>;
  /** One server; without a version the newest. */
  find(wanted: WantedRecord, signal?: AbortSignal): Promise<ServerRecord | undefined>;
}

export interface WantedRecord {
  readonly name: string;
  readonly version?: string | undefined;
}

export interface CachedReading {
  readonly name: string;
  readonly cache: RecordCache;
  readonly now: () => number;
  /** Contents of this age are used without asking. */
  readonly ttlMs: number;
  /** Asks the source, for changes only where it can. */
  refresh(held: RegistryContents | undefined, signal: AbortSignal): Promise<RegistryContents>;
}

/** After a failure, the source is not asked again for this long if there is a cache. */
const FAILURE_PAUSE_MS = 60_000;

export interface CachedReader {
  read(signal?: AbortSignal): Promise<SourceRead>;
  /** What is held, without asking the source. */
  held(): Promise<{ readonly contents: RegistryContents; readonly isFresh: boolean } | undefined>;
}

interface HeldState {
  contents: RegistryContents | undefined;
  stamp: string | undefined;
  failure: { readonly error: TurnbuckleError; readonly at: number } | undefined;
  writeFailed: boolean;
}

/** Reads from memory, then from the cache, then from the source; from an old cache if the source fails. */
export function createCachedReader(reading: CachedReading): CachedReader {
  const { cache, now, ttlMs } = reading;
  const state: HeldState = { contents: undefined, stamp: undefined, failure: undefined, writeFailed: false };
  const shared = createSharedWork<void>();
  const age = (contents: RegistryContents): number => now() - contents.readAt;
  // A clock that was set back makes a cache that seems to come from the future.
  const isFresh = (contents: RegistryContents): boolean => age(contents) >= 0 && age(contents) < ttlMs;

  /** Another process may have written the cache since. */
  const load = async (): Promise<void> => {
    if (state.contents !== undefined && isFresh(state.contents)) return;
    const stamp = cache.stamp();
    if (stamp === undefined || stamp === state.stamp) return;
    state.stamp = stamp;
    const kept = await cache.read();
    if (kept !== undefined && kept.readAt >= (state.contents?.readAt ?? 0)) state.contents = kept;
  };
  const update = async (signal: AbortSignal): Promise<void> => {
    await load();
    if (state.contents !== undefined && isFresh(state.contents)) return;
    if (state.contents !== undefined && isPaused(state, now())) return;
    try {
      const contents = await reading.refresh(state.contents, signal);
      state.contents = contents;
      state.failure = undefined;
      state.writeFailed = await cache.write(contents).then(
        () => false,
        () => true,
      );
      state.stamp = cache.stamp();
    } catch (error) {
      if (signal.aborted || !(error instanceof TurnbuckleError) || state.contents === undefined) throw error;
      state.failure = { error, at: now() };
    }
  };
  return {
    read: async (signal) => {
      await shared(update, signal);
      const { contents } = state;
      if (contents === undefined) throw new Error('Nothing was read.');
      return { contents, note: noteOn(state, { contents, name: reading.name, ageMs: age(contents) }) };
    },
    held: async () => {
      await load();
      return state.contents && { contents: state.contents, isFresh: isFresh(state.contents) };
    },
  };
}

const isPaused = ({ failure }: HeldState, now: number): boolean =>
  failure !== undefined && now >= failure.at && now - failure.at < FAILURE_PAUSE_MS;

function noteOn(
  { failure, writeFailed }: HeldState,
  { contents, name, ageMs }: { contents: RegistryContents; name: string; ageMs: number },
): string | undefined {
  const notes = [
    ...(failure === undefined
      ? []
      : [`${failure.error.message} Using its list from ${describeAge(ageMs)} ago.`]),
    ...(contents.isCut
      ? [`${name} lists too many servers: only the first ${contents.records.length} are used.`]
      : []),
    ...(writeFailed ? [`Cannot write the servers of ${name} to the cache.`] : []),
  ];
  return notes.length === 0 ? undefined : notes.join(' ');
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** In the largest unit that fits. */
export function describeAge(ms: number): string {
  for (const [unit, length] of UNITS) {
    const count = Math.floor(ms / length);
    if (count >= 1) return `${count} ${unit}${count === 1 ? '' : 's'}`;
  }
  return 'less than a minute';
}
