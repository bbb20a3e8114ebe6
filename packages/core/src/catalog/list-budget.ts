/**
 * How much of what servers list is kept: of one definition, of one server in all its lists, and of all servers. Counted
 * while pages arrive, so that what is over is never held.
 */
import { spelledText } from '../json/spelling.js';
import { wideMembers } from '../json/wide-objects.js';

export interface ListLimits {
  /** One entry of a list with everything in it. */
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

/** Each value costs memory and time beside its text: `{}` is two characters. */
const VALUE_WEIGHT = 20;
/** So much a server may list whatever the others do. */
const SURE_BYTES = 256 * 1_024;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are written with more characters than they are
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** The characters of its JSON, about, and 20 for each value in it. Looks at no more than `max` of that; depth costs no stack. */
export function weigh(entry: unknown, max: number): number {
  const open: unknown[] = [entry];
  let weight = 0;
  while (open.length > 0 && weight <= max) {
    const value = open.pop();
    weight += VALUE_WEIGHT;
    if (typeof value === 'string') weight += textWeight(value);
    if (typeof value !== 'object' || value === null) continue;
    const members = Array.isArray(value) ? value.length : (wideMembers(value) ?? 0);
    if (weight + (open.length + members) * VALUE_WEIGHT > max) return max + 1;
    if (Array.isArray(value)) for (const item of value) open.push(item);
    else
      for (const key in value) {
        weight += textWeight(key);
        open.push(Reflect.get(value, key));
      }
  }
  const spelled = typeof entry === 'object' && entry !== null ? spelledText(entry) : undefined;
  return Math.max(weight, spelled?.length ?? 0);
}

const textWeight = (text: string): number => (ESCAPED.test(text) ? JSON.stringify(text).length : text.length);

interface Held {
  kept: number;
  /** By a reading under way, which takes the place of what is kept. */
  reading: number;
  /** The reading under way. */
  room: RoomForList | undefined;
}

/** What one reading may still take. */
export interface RoomForList {
  /** Why it cannot be taken; undefined: it was. */
  take(weight: number, entry: unknown): string | undefined;
}

export class ListRoom {
  readonly limits: ListLimits;
  readonly #servers = new Map<string, Map<string, Held>>();

  constructor(limits: ListLimits) {
    this.limits = limits;
  }

  /** Begins a reading; `kind` names the list. */
  begin(server: string, kind: string): RoomForList {
    const { maxListBytes, maxCatalogBytes } = this.limits;
    const held = this.#heldOf(server, kind);
    const room: RoomForList = {
      take: (weight) => {
        // The server is gone, or its list is read anew.
        if (this.#servers.get(server)?.get(kind) !== held || held.room !== room) return 'nobody waits for it';
        const before = held.reading;
        held.reading += weight;
        const own = sumOf(this.#listsOf(server)) - Math.max(held.kept - held.reading, 0);
        const fault =
          own > maxListBytes
            ? `the lists of this server are larger than ${maxListBytes} bytes`
            : own > SURE_BYTES && this.#total() > maxCatalogBytes
              ? `the lists of all servers are larger than ${maxCatalogBytes} bytes`
              : undefined;
        if (fault !== undefined) held.reading = before;
        return fault;
      },
    };
    held.reading = 0;
    held.room = room;
    return room;
  }

  /** A reading is over; kept: what it took is held from now on, in the place of what was. */
  end(server: string, kind: string, isKept: boolean): void {
    const held = this.#heldOf(server, kind);
    if (isKept) held.kept = held.reading;
    held.reading = 0;
    held.room = undefined;
  }

  forget(server: string): void {
    this.#servers.delete(server);
  }

  #total(): number {
    let total = 0;
    for (const lists of this.#servers.values()) total += sumOf(lists);
    return total;
  }

  #listsOf(server: string): Map<string, Held> {
    const lists = this.#servers.get(server) ?? new Map<string, Held>();
    this.#servers.set(server, lists);
    return lists;
  }

  #heldOf(server: string, kind: string): Held {
    const lists = this.#listsOf(server);
    const held = lists.get(kind) ?? { kept: 0, reading: 0, room: undefined };
    lists.set(kind, held);
    return held;
  }
}

function sumOf(lists: ReadonlyMap<string, Held>): number {
  let sum = 0;
  for (const { kept, reading } of lists.values()) sum += Math.max(kept, reading);
  return sum;
}
