/** Cached lists: how fresh the lists of servers are and how often they were read, and how often callers hit the cache. */
import type { Runtime } from 'turnbuckle';
import { Counter } from './counter.js';
import { type Family, labelText, type Sample, stateSamples } from './exposition.js';

type Watched = Pick<Runtime, 'on' | 'status' | 'catalog'>;

/** How often a tool list was cached, and how often it had to be built. */
export interface ListCacheCounts {
  hits: number;
  misses: number;
}

export interface ListMetricsOptions {
  readonly listCacheCounts: Readonly<ListCacheCounts> | undefined;
  /** The clock for expiry: the runtime's monotonic one. */
  readonly now: () => number;
}

const LISTS = ['tools', 'resources', 'templates', 'prompts'] as const;
const STATES = ['empty', 'populating', 'ready', 'stale'] as const;

export interface ListMetrics {
  readonly families: readonly Family[];
  close(): void;
}

/** Counts reads from now on; the state of the lists is looked up on each scrape. */
export function watchLists(runtime: Watched, { listCacheCounts, now }: ListMetricsOptions): ListMetrics {
  const reads = new Counter(
    'turnbuckle_server_list_reads_total',
    'Number of times a list, such as the tool list, was read from the server, by reason and outcome.',
  );
  const close = runtime.on('catalog.read', ({ server, reason, outcome }) =>
    reads.add({ server, reason, outcome }),
  );
  const states: Family = {
    name: 'turnbuckle_server_list_state',
    type: 'gauge',
    help: 'State of a cached list from the server (1 for the current state, 0 for the others).',
    samples: () => statesOf(runtime, now()),
  };
  return {
    families: [states, reads, ...(listCacheCounts === undefined ? [] : [listCacheFamily(listCacheCounts)])],
    close,
  };
}

/** Tools of every server; other lists only once they were requested, since most servers do not have them. */
function* statesOf(runtime: Watched, now: number): Generator<Sample> {
  for (const { name } of runtime.status())
    for (const list of LISTS) {
      const state = runtime.catalog.stateOf(name, list, now);
      if (list === 'tools' || state !== 'empty')
        yield* stateSamples(STATES, { labels: { server: name, list }, label: 'state', value: state });
    }
}

const listCacheFamily = (counts: Readonly<ListCacheCounts>): Family => ({
  name: 'turnbuckle_tool_lists_total',
  type: 'counter',
  help: 'Tool lists sent to callers: from the cache (hit) or built on request (miss).',
  samples: () => [
    { labels: labelText({ cache: 'hit' }), value: counts.hits },
    { labels: labelText({ cache: 'miss' }), value: counts.misses },
  ],
});
