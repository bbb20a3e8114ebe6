/**
 * Limits on the size of lists: of one definition, of all lists of a server, and of all servers. Counted while pages
 * arrive, so that the excess is never held in memory.
 */
import { losslessText } from '../json/lossless-json.js';
import { wideMemberCount } from '../json/wide-objects.js';

export interface ListLimits {
  /** One entry of a list, including nested values. */
  readonly maxDefinitionBytes: number;
  /** All lists of one server together. */
  readonly maxListBytes: number;
  /** The lists of all servers together. */
  readonly maxCatalogBytes: number;
}

export const DEFAULT_LIST_LIMITS: ListLimits = {
  maxDefinitionBytes: 512 * 1_024,
  maxListBytes: 8 * 1_024 * 1_024,
  maxCatalogBytes: 32 * 1_024 * 1_024,
};

/** Each value costs memory and time besides its text: `{}` is two characters. */
const VALUE_WEIGHT = 20;
/** Guaranteed to each server, whatever the others use. */
const GUARANTEED_BYTES = 256 * 1_024;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are written with more characters than they are
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** The approximate length of its JSON plus 20 for each value. Stops at `max`; depth costs no stack. */
export function weighEntry(entry: unknown, max: number): number {
  const open: unknown[] = [entry];
  let weight = 0;
  while (open.length > 0 && weight <= max) {
    const value = open.pop();
    weight += VALUE_WEIGHT;
    if (typeof value === 'string') weight += textWeight(value);
    if (typeof value !== 'object' || value === null) continue;
    const members = Array.isArray(value) ? value.length : (wideMemberCount(value) ?? 0);
    if (weight + (open.length + members) * VALUE_WEIGHT > max) return max + 1;
    if (Array.isArray(value)) for (const item of value) open.push(item);
    else
      for (const key in value) {
        weight += textWeight(key);
        open.push(Reflect.get(value, key));
      }
  }
  const spelled = typeof entry === 'object' && entry !== null ? losslessText(entry) : undefined;
  return Math.max(weight, spelled?.length ?? 0);
}

const textWeight = (text: string): number => (ESCAPED.test(text) ? JSON.stringify(text).length : text.length);

interface ListUsage {
  kept: number;
  /** Used by a reading in progress, which replaces what is kept. */
  reading: number;
  /** The reading in progress. */
  budget: ListBudget | undefined;
}

/** The budget of one reading. */
export interface ListBudget {
  /** Why the entry does not fit; undefined: it fits. */
  take(weight: number, entry: unknown): string | undefined;
}

export class CatalogBudget {
  readonly limits: ListLimits;
  readonly #servers = new Map<string, Map<string, ListUsage>>();

  constructor(limits: ListLimits) {
    this.limits = limits;
  }

  /** Starts a reading; `kind` names the list. */
  begin(server: string, kind: string): ListBudget {
    const { maxListBytes, maxCatalogBytes } = this.limits;
    const held = this.#usageOf(server, kind);
    const room: ListBudget = {
      take: (weight) => {
        // The server was removed, or a newer reading has started.
        if (this.#servers.get(server)?.get(kind) !== held || held.budget !== room)
          return 'the list is no longer needed';
        const before = held.reading;
        held.reading += weight;
        const own = sumOf(this.#listsOf(server)) - Math.max(held.kept - held.reading, 0);
        const fault =
          own > maxListBytes
            ? `the lists from this server exceed ${maxListBytes} bytes in total`
            : own > GUARANTEED_BYTES && this.#total() > maxCatalogBytes
              ? `the lists from all servers exceed ${maxCatalogBytes} bytes in total`
              : undefined;
        if (fault !== undefined) held.reading = before;
        return fault;
      },
    };
    held.reading = 0;
    held.budget = room;
    return room;
  }

  /** Ends a reading; `kept`: its size replaces the previous one. */
  end(server: string, kind: string, isKept: boolean): void {
    const held = this.#usageOf(server, kind);
    if (isKept) held.kept = held.reading;
    held.reading = 0;
    held.budget = undefined;
  }

  forget(server: string): void {
    this.#servers.delete(server);
  }

  #total(): number {
    let total = 0;
    for (const lists of this.#servers.values()) total += sumOf(lists);
    return total;
  }

  #listsOf(server: string): Map<string, ListUsage> {
    const lists = this.#servers.get(server) ?? new Map<string, ListUsage>();
    this.#servers.set(server, lists);
    return lists;
  }

  #usageOf(server: string, kind: string): ListUsage {
    const lists = this.#listsOf(server);
    const held = lists.get(kind) ?? { kept: 0, reading: 0, budget: undefined };
    lists.set(kind, held);
    return held;
  }
}

function sumOf(lists: ReadonlyMap<string, ListUsage>): number {
  let sum = 0;
  for (const { kept, reading } of lists.values()) sum += Math.max(kept, reading);
  return sum;
}
