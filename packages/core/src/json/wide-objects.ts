/**
 * Objects with very many members. An engine lists all keys of an object before the first can be looked at, which takes
 * tens of milliseconds: what is asked about such an object time and again is noted when it is read.
 */
interface Width {
  readonly members: number;
  readonly first: readonly string[];
}

/** Fewer members are listed in a moment. */
export const FEW_MEMBERS = 5_000;
/** So many keys are noted: more than is shown of anything. */
const FIRST_KEYS = 4_096;

const widths = new WeakMap<object, Width>();

/** Takes note of an object while it grows. */
export class WidthNote {
  members = 0;
  readonly #first: string[] = [];

  add(key: string): void {
    this.members += 1;
    if (this.members <= FIRST_KEYS) this.#first.push(key);
  }

  keep(object: object): void {
    if (this.members > FEW_MEMBERS) widths.set(object, { members: this.members, first: this.#first });
  }
}

/** How many members an object has that is known to have very many; undefined for all others. */
export const wideMembers = (object: object): number | undefined => widths.get(object)?.members;

/** The keys of an object; the first of them, if it is known to have very many. */
export const firstKeys = (object: object): readonly string[] =>
  widths.get(object)?.first ?? Object.keys(object);
