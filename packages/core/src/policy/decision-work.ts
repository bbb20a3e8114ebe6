/**
 * What one decision may look at. Arguments are as long as a caller likes, and every rule reads them in many ways: what
 * a value may mean is found once for all rules, and whoever sends more than can be looked at is taken by every guard.
 */
import { addressesMeant, isAddress, pathsIn } from './address.js';
import { canMeanAnotherPath, pathsMeant } from './path-meant.js';

/** What else a text may mean; undefined when there is no telling. */
type Meant = readonly string[] | undefined;

/** In characters; one that is read for what an address may mean counts for many, for it is read so often. */
const MAX_CHARACTERS = 8_388_608;
const PER_VALUE = 16;
const READING_FACTOR = 16;
const PATH_FACTOR = 8;

export class DecisionWork {
  #left = MAX_CHARACTERS;
  #meant: Map<string, Meant> | undefined;

  /** How much was looked at. */
  get done(): number {
    return MAX_CHARACTERS - this.#left;
  }

  /** False when that is more than there is left: then nothing is to be looked at any more. */
  spend(characters: number): boolean {
    if (this.#left <= 0) return false;
    this.#left -= characters + PER_VALUE;
    return this.#left > 0;
  }

  /** What the text comes to as a path or an address, beside itself. */
  meantBy(text: string): Meant {
    const known = this.#meant?.get(text);
    if (known !== undefined || this.#meant?.has(text)) return known;
    const meant = this.#read(text);
    this.#meant ??= new Map();
    this.#meant.set(text, meant);
    return meant;
  }

  #read(text: string): Meant {
    if (!this.spend(text.length)) return undefined;
    let paths = NOTHING;
    if (canMeanAnotherPath(text)) {
      if (!this.spend(text.length * PATH_FACTOR)) return undefined;
      paths = pathsMeant(text);
    }
    if (!isAddress(text)) return paths;
    if (!this.spend(text.length * READING_FACTOR)) return undefined;
    const forms = addressesMeant(text);
    if (forms === undefined) return undefined;
    const characters = forms.reduce((sum, form) => sum + form.length, 0);
    if (!this.spend(characters * READING_FACTOR)) return undefined;
    return [...new Set([...paths, ...forms, ...forms.flatMap(pathsIn)])];
  }
}

const NOTHING: readonly string[] = [];
