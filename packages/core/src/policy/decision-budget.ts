/**
 * Limits the work of one decision. Arguments can be of any length, and every rule interprets them in many ways.
 * Each value is interpreted once for all rules, and a value that exceeds the budget matches every `ask` and `deny`.
 */
import { isAddress, pathsIn, possibleAddresses } from './possible-addresses.js';
import { isAmbiguousPath, possiblePaths } from './possible-paths.js';
import { foldKey, hasOnlyKey } from './similar-keys.js';

/** What else a text may mean; undefined if that cannot be determined. */
type PossibleMeanings = readonly string[] | undefined;

/**
 * In characters. A character that is interpreted as part of an address counts several times, because it is read
 * that often.
 */
const MAX_DECISION_CHARACTERS = 8_388_608;
const COST_PER_VALUE = 16;
const ADDRESS_COST_FACTOR = 16;
const PATH_COST_FACTOR = 8;

export class DecisionBudget {
  #left = MAX_DECISION_CHARACTERS;
  #meanings: Map<string, PossibleMeanings> | undefined;
  #lastValue: object | undefined;
  #lastKey: string | undefined;
  #lastSpellings: readonly string[] | undefined;
  #spellings: Map<object, ReadonlyMap<string, readonly string[]> | undefined> | undefined;

  /** The work done so far. */
  get spent(): number {
    return MAX_DECISION_CHARACTERS - this.#left;
  }

  /** False if the cost exceeds what is left: nothing more may be searched then. */
  spend(characters: number): boolean {
    if (this.#left <= 0) return false;
    this.#left -= characters + COST_PER_VALUE;
    return this.#left > 0;
  }

  /** The other paths or addresses that the text may resolve to. */
  possibleMeanings(text: string): PossibleMeanings {
    const known = this.#meanings?.get(text);
    if (known !== undefined || this.#meanings?.has(text)) return known;
    const meant = this.#read(text);
    this.#meanings ??= new Map();
    this.#meanings.set(text, meant);
    return meant;
  }

  /** The other keys of the object that a server may take for this one; undefined if that cannot be determined. */
  otherSpellings(value: Readonly<Record<string, unknown>>, key: string): readonly string[] | undefined {
    // Most rules look at the same argument.
    if (this.#lastValue !== value || this.#lastKey !== key) {
      this.#lastSpellings = this.#findSpellings(value, key);
      this.#lastValue = value;
      this.#lastKey = key;
    }
    return this.#lastSpellings;
  }

  #findSpellings(value: Readonly<Record<string, unknown>>, key: string): readonly string[] | undefined {
    if (hasOnlyKey(value, key)) return NO_KEYS;
    this.#spellings ??= new Map();
    if (!this.#spellings.has(value)) this.#spellings.set(value, this.#keysByFold(value));
    const found = this.#spellings.get(value)?.get(foldKey(key));
    if (found === undefined) return this.#spellings.get(value) === undefined ? undefined : NO_KEYS;
    return found.length === 1 && found[0] === key ? NO_KEYS : found.filter((one) => one !== key);
  }

  #keysByFold(value: Readonly<Record<string, unknown>>): ReadonlyMap<string, readonly string[]> | undefined {
    const keys = new Map<string, string[]>();
    for (const key of Object.keys(value)) {
      if (!this.spend(key.length)) return undefined;
      const fold = foldKey(key);
      const same = keys.get(fold);
      if (same === undefined) keys.set(fold, [key]);
      else same.push(key);
    }
    return keys;
  }

  #read(text: string): PossibleMeanings {
    if (!this.spend(text.length)) return undefined;
    let paths = NO_PATHS;
    if (isAmbiguousPath(text)) {
      if (!this.spend(text.length * PATH_COST_FACTOR)) return undefined;
      paths = possiblePaths(text);
    }
    if (!isAddress(text)) return paths;
    if (!this.spend(text.length * ADDRESS_COST_FACTOR)) return undefined;
    const forms = possibleAddresses(text);
    if (forms === undefined) return undefined;
    const characters = forms.reduce((sum, form) => sum + form.length, 0);
    if (!this.spend(characters * ADDRESS_COST_FACTOR)) return undefined;
    return [...new Set([...paths, ...forms, ...forms.flatMap(pathsIn)])];
  }
}

const NO_PATHS: readonly string[] = [];
const NO_KEYS: readonly string[] = [];
