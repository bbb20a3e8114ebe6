/**
 * What the next call of a tool probably costs: the median of its recent calls, so that single outliers change nothing.
 * A tool that was never called gets a guess from its annotations and the size of its schema.
 */
import { isRecord } from '../json/is-record.js';
import { type CallCosts, costOfCall, fromThousandths, toThousandths } from './call-cost.js';

/** What is called. Resources and prompts of a server have one estimate for each kind. */
export interface EstimatedItem {
  readonly server: string;
  readonly tool: string;
  /** Absent: a tool. */
  readonly kind?: 'tool' | 'resource' | 'prompt' | undefined;
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?:
    | {
        readonly readOnlyHint?: boolean;
        readonly openWorldHint?: boolean;
        readonly destructiveHint?: boolean;
      }
    | undefined;
}

/** The recent costs of a tool in thousandths. Both lists are kept, since sorting for each call would take longer. */
interface Samples {
  /** The oldest first. */
  readonly recent: number[];
  readonly sorted: number[];
}

/** Enough for a median that follows changes within a few calls. */
const MAX_SAMPLES = 31;
/** With fewer samples, the guess counts too. */
const FULL_TRUST_SAMPLES = 3;
const MAX_TOOLS = 5_000;

export class EnergyEstimates {
  readonly #samples = new Map<string, Samples>();

  /** The expected cost of one call. */
  estimate(item: EstimatedItem, costs: CallCosts): number {
    const samples = this.#samples.get(keyOf(item));
    if (samples === undefined) return guessCost(item, costs);
    const learned = medianOf(samples);
    if (samples.recent.length >= FULL_TRUST_SAMPLES) return fromThousandths(Math.round(learned));
    const guess = guessCost(item, costs);
    const trust = Math.min(samples.recent.length / FULL_TRUST_SAMPLES, 1);
    return fromThousandths(Math.round(learned * trust + toThousandths(guess) * (1 - trust)));
  }

  /** How many calls the estimate is based on, at most 31. */
  sampleCount(item: EstimatedItem): number {
    return this.#samples.get(keyOf(item))?.recent.length ?? 0;
  }

  record(item: EstimatedItem, cost: number): void {
    const key = keyOf(item);
    const samples = this.#samples.get(key) ?? { recent: [], sorted: [] };
    addSample(samples, toThousandths(cost));
    // The tool that was not called for longest is forgotten first; the order matters only when there are many.
    if (this.#samples.size > MAX_TOOLS / 2) this.#samples.delete(key);
    this.#samples.set(key, samples);
    if (this.#samples.size <= MAX_TOOLS) return;
    const [oldest] = this.#samples.keys();
    if (oldest !== undefined) this.#samples.delete(oldest);
  }
}

const keyOf = ({ server, tool, kind = 'tool' }: EstimatedItem): string =>
  kind === 'tool' ? `${server}\0${tool}` : `${server}\0\0${kind}`;

function addSample({ recent, sorted }: Samples, cost: number): void {
  if (recent.length === MAX_SAMPLES) sorted.splice(sorted.indexOf(recent.shift() ?? 0), 1);
  recent.push(cost);
  const at = sorted.findIndex((other) => other > cost);
  if (at === -1) sorted.push(cost);
  else sorted.splice(at, 0, cost);
}

function medianOf({ sorted }: Samples): number {
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** Typical durations of calls, in milliseconds: tools that reach other systems take longest. */
const READ_MS = 250;
const USUAL_MS = 750;
const OPEN_WORLD_MS = 2_000;
/** Each parameter suggests a little more work, up to a limit. */
const PARAMETER_MS = 25;
const MAX_PARAMETERS = 20;

function guessCost({ kind = 'tool', inputSchema, annotations }: EstimatedItem, costs: CallCosts): number {
  if (kind !== 'tool') return costOfCall(READ_MS, costs);
  const { properties } = inputSchema ?? {};
  const parameters = isRecord(properties) ? Math.min(Object.keys(properties).length, MAX_PARAMETERS) : 0;
  const usual =
    annotations?.openWorldHint === true
      ? OPEN_WORLD_MS
      : annotations?.readOnlyHint === true
        ? READ_MS
        : USUAL_MS;
  return costOfCall(usual + parameters * PARAMETER_MS, costs);
}
