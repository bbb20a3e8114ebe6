/**
 * Objects with very many members. An engine lists all keys of an object before the first can be read, which takes
 * tens of milliseconds, so facts that are needed repeatedly are recorded when the object is parsed.
 */
interface ObjectWidth {
  readonly members: number;
  readonly first: readonly string[];
}

/** Fewer members are listed quickly. */
export const MIN_WIDE_MEMBERS = 5_000;
/** The number of recorded keys: more than is shown of anything. */
const MAX_NOTED_KEYS = 4_096;

const widths = new WeakMap<object, ObjectWidth>();

/** Records an object while it grows. */
export class WidthCounter {
  members = 0;
  readonly #first: string[] = [];

  add(key: string): void {
    this.members += 1;
    if (this.members <= MAX_NOTED_KEYS) this.#first.push(key);
  }

  remember(object: object): void {
    if (this.members > MIN_WIDE_MEMBERS) widths.set(object, { members: this.members, first: this.#first });
  }
}

/** The number of members of an object that is known to have very many; undefined for all others. */
export const wideMemberCount = (object: object): number | undefined => widths.get(object)?.members;

/** The keys of an object; only the first ones, if it is known to have very many. */
export const firstKeys = (object: object): readonly string[] =>
  widths.get(object)?.first ?? Object.keys(object);
