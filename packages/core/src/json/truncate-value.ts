/**
 * What a person is shown of a value: all of it, nearly always. Of what nobody can read, a part of everything: the room
 * is shared among the members, so that nothing large hides what stands beside it.
 */
import { ExactNumber } from './exact-number.js';
import { PART, sharesOf, sizeUpTo } from './shares.js';
import { firstKeys, wideMembers } from './wide-objects.js';

export interface Shown {
  readonly value: unknown;
  /** Something is left out. */
  readonly isCut: boolean;
  readonly notShown: NotShown;
}

/** How much is left out. */
export interface NotShown {
  /** Of texts and names that are shown in part. */
  readonly characters: number;
  /** Members and items that are not shown at all. */
  readonly members: number;
}

/** Takes secrets out, part by part; `hidden`: it stands under a secret's name. */
export interface PartRedaction {
  readonly hides: (name: string, hidden: boolean) => boolean;
  readonly leaf: (value: unknown, hidden: boolean) => unknown;
  /** Of what is no plain data. */
  readonly other: (value: object, place: Place) => unknown;
}

interface Place {
  readonly depth: number;
  readonly hidden: boolean;
}

const CUT = '…';
const DEEPEST = 64;
const MAX_NAME = 256;
/** So much more of a text is looked at than shown: a secret on the edge is seen whole, and taken out. */
export const MARGIN = 2_048;
/** Looking takes time: of so many texts that do not fit the beginning is shown, of others only how long they are. */
const MAX_CUT_TEXTS = 32;

const NOTHING: PartRedaction = {
  hides: () => false,
  leaf: (value) => value,
  other: (value) => value,
};

/**
 * A copy of at most about so many characters, with a mark wherever something is left out; numbers by their digits become
 * texts. Looks at little more than it shows.
 */
export function shortened(value: unknown, maxLength: number, redaction: PartRedaction = NOTHING): Shown {
  const shortening = new Shortening(redaction);
  const shown = shortening.show(value, maxLength, { depth: 0, hidden: false });
  const { characters, members } = shortening;
  return { value: shown, isCut: characters + members > 0, notShown: { characters, members } };
}

class Shortening {
  characters = 0;
  members = 0;
  readonly #redaction: PartRedaction;
  #cutTexts = 0;

  constructor(redaction: PartRedaction) {
    this.#redaction = redaction;
  }

  show(value: unknown, room: number, place: Place): unknown {
    const left = room - PART;
    if (typeof value === 'string') return this.#text(value, left, place.hidden);
    if (value instanceof ExactNumber) return this.#text(value.text, left, place.hidden);
    if (typeof value !== 'object' || value === null) return this.#redaction.leaf(value, place.hidden);
    const isList = Array.isArray(value);
    // A date or the like, of a program that calls.
    if (!isList && Object.getPrototypeOf(value) !== Object.prototype)
      return this.#redaction.other(value, place);
    if (place.depth >= DEEPEST) {
      this.members += 1;
      return CUT;
    }
    // What fits is shown as it is.
    const inside = sizeUpTo(value, room) <= room ? Number.POSITIVE_INFINITY : left;
    return isList ? this.#list(value, inside, place) : this.#object(value, inside, place);
  }

  #text(text: string, room: number, hidden: boolean): unknown {
    const { leaf } = this.#redaction;
    if (text.length <= Math.max(room, 0)) return leaf(text, hidden);
    const isLooked = this.#cutTexts < MAX_CUT_TEXTS;
    if (isLooked) this.#cutTexts += 1;
    const shown = isLooked ? Math.max(Math.floor(room), 0) : 0;
    const looked = text.slice(0, isLooked || hidden ? shown + MARGIN : 0);
    const clean = leaf(looked, hidden);
    // All of it is secret.
    if (hidden && clean !== looked) return clean;
    this.characters += text.length - shown;
    // What was cut in two at the end of what was looked at is not known for a secret: that end is never shown.
    const left =
      typeof clean === 'string' ? clean.slice(0, Math.min(shown, safeLength(clean, looked, text))) : '';
    return `${left}${CUT} (${text.length - shown} more characters)`;
  }

  #list(list: readonly unknown[], room: number, { depth, hidden }: Place): unknown[] {
    const shares = sharesOf(list, room);
    const shown = shares.map((share, index) => this.show(list[index], share, { depth: depth + 1, hidden }));
    const missing = list.length - shown.length;
    this.members += missing;
    return missing === 0 ? shown : [...shown, `${CUT} (${missing} more)`];
  }

  #object(object: object, room: number, { depth, hidden }: Place): object {
    const keys = firstKeys(object);
    const count = wideMembers(object) ?? keys.length;
    const values = { length: keys.length, at: (index: number) => Reflect.get(object, keys[index] ?? '') };
    const shares = sharesOf(values, room, (index) => Math.min(keys[index]?.length ?? 0, MAX_NAME));
    const shown = {};
    const names = new Map<string, number>();
    for (const [index, share] of shares.entries()) {
      const key = keys[index] ?? '';
      const name = this.#text(key, room === Number.POSITIVE_INFINITY ? room : MAX_NAME, false);
      const under = {
        depth: depth + 1,
        hidden: this.#redaction.hides(key.slice(0, MAX_NAME + MARGIN), hidden),
      };
      define(shown, freeName(shown, String(name), names), this.show(Reflect.get(object, key), share, under));
    }
    const missing = count - shares.length;
    this.members += missing;
    if (missing > 0) define(shown, freeName(shown, CUT, names), `${missing} more`);
    return shown;
  }
}

const safeLength = (clean: string, looked: string, text: string): number =>
  looked.length === text.length ? clean.length : clean.length - MARGIN;

/** Two names that became the same both stay. */
function freeName(target: object, name: string, names: Map<string, number>): string {
  let free = name;
  let count = names.get(name) ?? 1;
  for (; Object.hasOwn(target, free); free = `${name} ${count}`) count += 1;
  names.set(name, count);
  return free;
}

/** Also a name that means something to the language. */
const define = (target: object, name: string, value: unknown): unknown =>
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
