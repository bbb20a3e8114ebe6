/**
 * The part of a value that is shown to a person: usually all of it. Of a value too large to read, a part of
 * everything: the budget is divided among the members, so that no large member hides its neighbours.
 */

import { divideBudget, estimateSize, PART_CHARACTERS } from './divide-budget.js';
import { ExactNumber } from './exact-number.js';
import { firstKeys, wideMemberCount } from './wide-objects.js';

export interface TruncatedValue {
  readonly value: unknown;
  /** Something was left out. */
  readonly isCut: boolean;
  readonly notShown: OmittedCounts;
}

/** How much was left out. */
export interface OmittedCounts {
  /** Characters of texts and names that are shown in part. */
  readonly characters: number;
  /** Members and items that are not shown at all. */
  readonly members: number;
}

/** Removes secrets, part by part; `hidden`: it is under a secret's name. */
export interface PartRedaction {
  readonly hides: (name: string, hidden: boolean) => boolean;
  readonly leaf: (value: unknown, hidden: boolean) => unknown;
  /** For values that are not plain data. */
  readonly other: (value: object, place: ValuePosition) => unknown;
}

interface ValuePosition {
  readonly depth: number;
  readonly hidden: boolean;
}

const ELLIPSIS = '…';
const MAX_DEPTH = 64;
const MAX_NAME_LENGTH = 256;
/** This much more of a text is checked than shown, so that a secret at the edge is found whole and removed. */
export const SECRET_MARGIN = 2_048;
/** Checking takes time: for this many texts that do not fit, the beginning is shown, for others only their length. */
const MAX_CUT_TEXTS = 32;

const NO_REDACTION: PartRedaction = {
  hides: () => false,
  leaf: (value) => value,
  other: (value) => value,
};

/**
 * A copy of about this many characters at most, with a mark wherever something is left out; numbers by their digits
 * become texts. Reads little more than it shows.
 */
export function truncateValue(
  value: unknown,
  maxLength: number,
  redaction: PartRedaction = NO_REDACTION,
): TruncatedValue {
  const shortening = new Truncator(redaction);
  const shown = shortening.show(value, maxLength, { depth: 0, hidden: false });
  const { characters, members } = shortening;
  return { value: shown, isCut: characters + members > 0, notShown: { characters, members } };
}

class Truncator {
  characters = 0;
  members = 0;
  readonly #redaction: PartRedaction;
  #cutTexts = 0;

  constructor(redaction: PartRedaction) {
    this.#redaction = redaction;
  }

  show(value: unknown, room: number, place: ValuePosition): unknown {
    const left = room - PART_CHARACTERS;
    if (typeof value === 'string') return this.#text(value, left, place.hidden);
    if (value instanceof ExactNumber) return this.#text(value.text, left, place.hidden);
    if (typeof value !== 'object' || value === null) return this.#redaction.leaf(value, place.hidden);
    const isList = Array.isArray(value);
    // A date or similar, from a calling program.
    if (!isList && Object.getPrototypeOf(value) !== Object.prototype)
      return this.#redaction.other(value, place);
    if (place.depth >= MAX_DEPTH) {
      this.members += 1;
      return ELLIPSIS;
    }
    // What fits is shown unchanged.
    const inside = estimateSize(value, room) <= room ? Number.POSITIVE_INFINITY : left;
    return isList ? this.#list(value, inside, place) : this.#object(value, inside, place);
  }

  #text(text: string, room: number, hidden: boolean): unknown {
    const { leaf } = this.#redaction;
    if (text.length <= Math.max(room, 0)) return leaf(text, hidden);
    const isLooked = this.#cutTexts < MAX_CUT_TEXTS;
    if (isLooked) this.#cutTexts += 1;
    const shown = isLooked ? Math.max(Math.floor(room), 0) : 0;
    const looked = text.slice(0, isLooked || hidden ? shown + SECRET_MARGIN : 0);
    const clean = leaf(looked, hidden);
    // All of it is secret.
    if (hidden && clean !== looked) return clean;
    this.characters += text.length - shown;
    // A secret cut in half at the end of the checked part is not recognized: that end is never shown.
    const left =
      typeof clean === 'string' ? clean.slice(0, Math.min(shown, safeLength(clean, looked, text))) : '';
    return `${left}${ELLIPSIS} (${text.length - shown} more characters)`;
  }

  #list(list: readonly unknown[], room: number, { depth, hidden }: ValuePosition): unknown[] {
    const shares = divideBudget(list, room);
    const shown = shares.map((share, index) => this.show(list[index], share, { depth: depth + 1, hidden }));
    const missing = list.length - shown.length;
    this.members += missing;
    return missing === 0 ? shown : [...shown, `${ELLIPSIS} (${missing} more)`];
  }

  #object(object: object, room: number, { depth, hidden }: ValuePosition): object {
    const keys = firstKeys(object);
    const count = wideMemberCount(object) ?? keys.length;
    const values = { length: keys.length, at: (index: number) => Reflect.get(object, keys[index] ?? '') };
    const shares = divideBudget(values, room, (index) => Math.min(keys[index]?.length ?? 0, MAX_NAME_LENGTH));
    const shown = {};
    const names = new Map<string, number>();
    for (const [index, share] of shares.entries()) {
      const key = keys[index] ?? '';
      const name = this.#text(key, room === Number.POSITIVE_INFINITY ? room : MAX_NAME_LENGTH, false);
      const under = {
        depth: depth + 1,
        hidden: this.#redaction.hides(key.slice(0, MAX_NAME_LENGTH + SECRET_MARGIN), hidden),
      };
      define(
        shown,
        uniqueName(shown, String(name), names),
        this.show(Reflect.get(object, key), share, under),
      );
    }
    const missing = count - shares.length;
    this.members += missing;
    if (missing > 0) define(shown, uniqueName(shown, ELLIPSIS, names), `${missing} more`);
    return shown;
  }
}

const safeLength = (clean: string, looked: string, text: string): number =>
  looked.length === text.length ? clean.length : clean.length - SECRET_MARGIN;

/** If two names become the same, both are kept. */
function uniqueName(target: object, name: string, names: Map<string, number>): string {
  let free = name;
  let count = names.get(name) ?? 1;
  for (; Object.hasOwn(target, free); free = `${name} ${count}`) count += 1;
  names.set(name, count);
  return free;
}

/** Works for names such as `__proto__` too. */
const define = (target: object, name: string, value: unknown): unknown =>
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
