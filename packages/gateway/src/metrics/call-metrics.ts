/** Counts and durations of calls by tool: three numbers and an array of buckets for each, updated once per call. */
import type { RuntimeEvents } from 'turnbuckle';
import { type Family, labelText, type Sample } from './exposition.js';

type Settled = RuntimeEvents['call.settled'];

/** In seconds. */
export const BUCKETS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
const STATUSES = { ok: 'success', 'tool-error': 'tool_error', failed: 'error' } as const;
const OTHER = 'other';
const NAME_BY_KIND = { resource: 'resources/read', prompt: 'prompts/get' } as const;

interface Series {
  readonly calls: Record<Settled['outcome'], number>;
  /** One more than there are bounds: the last is for longer calls. */
  readonly buckets: Float64Array;
  seconds: number;
}

export class CallMetrics {
  readonly #maxSeries: number;
  /** By label: similar names share one, since no label may occur twice. */
  readonly #series = new Map<string, Series>();
  /** The same by name, so that a call need not build a label. */
  readonly #byName = new Map<string, Series>();

  /** Beyond this many tool names, calls are counted as `other`. */
  constructor(most: number) {
    this.#maxSeries = most;
  }

  record(event: Settled): void {
    const series = this.#seriesOf(nameOf(event));
    const seconds = event.durationMs / 1_000;
    series.calls[event.outcome] += 1;
    series.seconds += seconds;
    let place = 0;
    while (place < BUCKETS.length && seconds > (BUCKETS[place] ?? 0)) place += 1;
    series.buckets[place] = (series.buckets[place] ?? 0) + 1;
  }

  families(): Family[] {
    return [
      {
        name: 'mcp_calls_total',
        type: 'counter',
        help: 'Calls by tool and outcome.',
        samples: () => this.#counts(),
      },
      {
        name: 'mcp_call_duration_seconds',
        type: 'histogram',
        help: 'Duration of calls in seconds.',
        samples: () => this.#durations(),
      },
    ];
  }

  #seriesOf(name: string): Series {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const label = labelText({ tool_name: name });
    const isFull = this.#series.size >= this.#maxSeries && name !== OTHER;
    if (isFull && !this.#series.has(label)) return this.#seriesOf(OTHER);
    const series = this.#series.get(label) ?? {
      calls: { ok: 0, 'tool-error': 0, failed: 0 },
      buckets: new Float64Array(BUCKETS.length + 1),
      seconds: 0,
    };
    this.#series.set(label, series);
    if (this.#byName.size <= this.#maxSeries) this.#byName.set(name, series);
    return series;
  }

  *#counts(): Generator<Sample> {
    for (const [label, { calls }] of this.#series)
      for (const [outcome, status] of Object.entries(STATUSES) as [Settled['outcome'], string][])
        if (calls[outcome] > 0) yield { labels: `${label},status="${status}"`, value: calls[outcome] };
  }

  *#durations(): Generator<Sample> {
    for (const [labels, { buckets, seconds }] of this.#series) {
      let count = 0;
      for (const [place, bound] of BUCKETS.entries()) {
        count += buckets[place] ?? 0;
        yield { suffix: '_bucket', labels: `${labels},le="${bound}"`, value: count };
      }
      count += buckets[BUCKETS.length] ?? 0;
      yield { suffix: '_bucket', labels: `${labels},le="+Inf"`, value: count };
      yield { suffix: '_sum', labels, value: seconds };
      yield { suffix: '_count', labels, value: count };
    }
  }
}

/** Only existing tools get a series: URIs and made-up names are unlimited. */
function nameOf({ kind, toolName, error }: Settled): string {
  if (kind !== 'tool') return NAME_BY_KIND[kind];
  return error?.code === 'TOOL_UNKNOWN' || error?.code === 'SERVER_UNKNOWN' ? OTHER : toolName;
}
