/**
 * Durations by their attributes, in the buckets of the conventions. The number of series is limited, and nobody can
 * take all of them.
 */
import { type Attributes, DURATION_BOUNDS, type Steps } from 'turnbuckle/host';
import { toNanoseconds, writeSharedAttributes } from './otlp-values.js';

interface Series {
  readonly attributes: Attributes;
  readonly buckets: number[];
  count: number;
  sum: number;
}

/** What a duration belongs to, besides its attributes. */
export interface DurationSource {
  readonly failure?: Attributes | undefined;
  /** Who makes its names up: a caller or a server. */
  readonly owner: string;
}

const MAX_SERIES = 2_000;
/** Up to this many, an owner leaves nothing to others; beyond, as much as it has itself. */
const MIN_SHARE = 50;
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
  /** How many series each owner has created. */
  readonly #owned = new Map<string, number>();

  constructor(about: { readonly name: string; readonly description: string }, startedAt: number) {
    this.#about = about;
    this.#startedAt = startedAt;
  }

  record(seconds: number, attributes: Attributes, { failure, owner }: DurationSource): void {
    const series =
      failure === undefined
        ? this.#seriesOf(attributes, owner)
        : this.#find({ ...attributes, ...failure }, owner);
    const at = DURATION_BOUNDS.findIndex((bound) => seconds <= bound);
    const bucket = at < 0 ? DURATION_BOUNDS.length : at;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
    series.count += 1;
    series.sum += seconds;
  }

  /** The metric in the JSON form of OTLP, one series at a time; undefined before the first value. */
  *write(now: number): Steps<string | undefined> {
    if (this.#series.size === 0) return undefined;
    const times = `"startTimeUnixNano":"${toNanoseconds(this.#startedAt)}","timeUnixNano":"${toNanoseconds(now)}"`;
    const points: string[] = [];
    for (const { attributes, buckets, count, sum } of this.#series.values()) {
      points.push(
        `{"attributes":[${writeSharedAttributes(attributes)}],${times},"count":"${count}","sum":${sum},` +
          `"bucketCounts":${JSON.stringify(buckets.map(String))},"explicitBounds":${BOUNDS}}`,
      );
      yield;
    }
    const { name, description } = this.#about;
    return (
      `{"name":"${name}","description":"${description}","unit":"s",` +
      `"histogram":{"aggregationTemporality":${CUMULATIVE},"dataPoints":[${points.join(',')}]}}`
    );
  }

  #seriesOf(attributes: Attributes, owner: string): Series {
    const known = this.#known.get(attributes);
    if (known !== undefined) return known;
    const found = this.#find(attributes, owner);
    // Others may still have a share left.
    if (found.attributes !== OVERFLOW) this.#known.set(attributes, found);
    return found;
  }

  #find(attributes: Attributes, owner: string): Series {
    const key = JSON.stringify(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)));
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const own = this.#owned.get(owner) ?? 0;
    const free = MAX_SERIES - 1 - this.#series.size;
    if (free <= 0 || (own >= MIN_SHARE && own >= free))
      return this.#series.get(OVERFLOW_KEY) ?? this.#create(OVERFLOW_KEY, OVERFLOW);
    this.#owned.set(owner, own + 1);
    return this.#create(key, attributes);
  }

  #create(key: string, attributes: Attributes): Series {
    const buckets = new Array<number>(DURATION_BOUNDS.length + 1).fill(0);
    const series = { attributes, buckets, count: 0, sum: 0 };
    this.#series.set(key, series);
    return series;
  }
}
