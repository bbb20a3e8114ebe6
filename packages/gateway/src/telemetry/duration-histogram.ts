/** Durations by their attributes, in the buckets of the conventions. The number of series is limited. */
import { type Attributes, DURATION_BOUNDS } from 'turnbuckle/host';
import { toNanoseconds, writeAttributes } from './otlp-values.js';

interface Series {
  readonly attributes: Attributes;
  readonly buckets: number[];
  count: number;
  sum: number;
}

const MAX_SERIES = 2_000;
const CUMULATIVE = 2;
const BOUNDS = JSON.stringify(DURATION_BOUNDS);
const OVERFLOW_KEY = 'overflow';
/** The name that the OpenTelemetry specification gives to everything beyond the limit. */
const OVERFLOW: Attributes = { 'otel.metric.overflow': true };

export class DurationHistogram {
  readonly #about: { readonly name: string; readonly description: string };
  readonly #startedAt: number;
  readonly #series = new Map<string, Series>();
  /** Most requests have attributes that were seen before. */
  readonly #known = new WeakMap<Attributes, Series>();

  constructor(about: { readonly name: string; readonly description: string }, startedAt: number) {
    this.#about = about;
    this.#startedAt = startedAt;
  }

  record(seconds: number, attributes: Attributes, failure?: Attributes): void {
    const series =
      failure === undefined ? this.#seriesOf(attributes) : this.#find({ ...attributes, ...failure });
    const at = DURATION_BOUNDS.findIndex((bound) => seconds <= bound);
    const bucket = at < 0 ? DURATION_BOUNDS.length : at;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
    series.count += 1;
    series.sum += seconds;
  }

  /** The metric in the JSON form of OTLP; undefined before the first value. */
  write(now: number): string | undefined {
    if (this.#series.size === 0) return undefined;
    const times = `"startTimeUnixNano":"${toNanoseconds(this.#startedAt)}","timeUnixNano":"${toNanoseconds(now)}"`;
    const points = [...this.#series.values()].map(
      ({ attributes, buckets, count, sum }) =>
        `{"attributes":[${writeAttributes(attributes)}],${times},"count":"${count}","sum":${sum},` +
        `"bucketCounts":${JSON.stringify(buckets.map(String))},"explicitBounds":${BOUNDS}}`,
    );
    const { name, description } = this.#about;
    return (
      `{"name":"${name}","description":"${description}","unit":"s",` +
      `"histogram":{"aggregationTemporality":${CUMULATIVE},"dataPoints":[${points.join(',')}]}}`
    );
  }

  #seriesOf(attributes: Attributes): Series {
    const known = this.#known.get(attributes);
    if (known !== undefined) return known;
    const found = this.#find(attributes);
    this.#known.set(attributes, found);
    return found;
  }

  #find(attributes: Attributes): Series {
    const key = JSON.stringify(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)));
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    return this.#series.size < MAX_SERIES - 1
      ? this.#create(key, attributes)
      : (this.#series.get(OVERFLOW_KEY) ?? this.#create(OVERFLOW_KEY, OVERFLOW));
  }

  #create(key: string, attributes: Attributes): Series {
    const buckets = new Array<number>(DURATION_BOUNDS.length + 1).fill(0);
    const series = { attributes, buckets, count: 0, sum: 0 };
    this.#series.set(key, series);
    return series;
  }
}
