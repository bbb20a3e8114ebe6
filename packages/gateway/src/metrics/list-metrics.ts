/** The lists that are kept: those of servers, how fresh and how often read, and those made ready for callers. */
import type { Runtime } from 'turnbuckle';
import type { OfferCounts } from '../mcp/offers.js';
import { Counter } from './counter.js';
import { type Family, labelText, oneOf, type Sample } from './exposition.js';

type Watched = Pick<Runtime, 'on' | 'status' | 'catalog'>;

export interface ListMetricsOptions {
  readonly offers: Readonly<OfferCounts> | undefined;
  /** The clock by which lists run out: the runtime's. */
  readonly now: () => number;
}

const LISTS = ['tools', 'resources', 'templates', 'prompts'] as const;
const STATES = ['empty', 'populating', 'ready', 'stale'] as const;

export interface ListMetrics {
  readonly families: readonly Family[];
  close(): void;
}

/** Counts readings from now on; how fresh the lists are is looked up when somebody asks. */
export function watchLists(runtime: Watched, { offers, now }: ListMetricsOptions): ListMetrics {
  const reads = new Counter('turnbuckle_server_list_reads_total', 'How often lists were read from a server.');
  const close = runtime.on('catalog.read', ({ server, reason, outcome }) =>
    reads.add({ server, reason, outcome }),
  );
  const states: Family = {
    name: 'turnbuckle_server_list_state',
    type: 'gauge',
    help: 'How fresh what is known of a list of the server is: 1 for that state.',
    samples: () => statesOf(runtime, now()),
  };
  return { families: [states, reads, ...(offers === undefined ? [] : [offerFamily(offers)])], close };
}

/** Tools of every server; of the rest only what somebody has asked for, which most servers do not have. */
function* statesOf(runtime: Watched, now: number): Generator<Sample> {
  for (const { name } of runtime.status())
    for (const list of LISTS) {
      const state = runtime.catalog.stateOf(name, list, now);
      if (list === 'tools' || state !== 'empty')
        yield* oneOf(STATES, { labels: { server: name, list }, label: 'state', value: state });
    }
}

const offerFamily = (counts: Readonly<OfferCounts>): Family => ({
  name: 'turnbuckle_tool_lists_total',
  type: 'counter',
  help: 'Lists of tools that callers asked for: ready (hit) or made for it (miss).',
  samples: () => [
    { labels: labelText({ cache: 'hit' }), value: counts.hits },
    { labels: labelText({ cache: 'miss' }), value: counts.misses },
  ],
});
