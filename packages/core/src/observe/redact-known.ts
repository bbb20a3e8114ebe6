/**
 * Finds known secrets in a text, however many there are: each is looked for only where four letters or digits
 * of it stand. One alternation of all of them would try each one at every character.
 */
import { REDACTED } from '../text/redact-shapes.js';
import { createEndCutter } from './redact-ends.js';
import { ANCHOR_LENGTH, type Form, formsOf } from './redact-forms.js';

/** Forms that share an anchor, compiled when the anchor is first met. */
interface Candidate extends Form {
  compiled?: { readonly before: RegExp | undefined; readonly after: RegExp } | undefined;
}

type Span = readonly [start: number, end: number];

/** The longest text before an anchor that is looked at. */
const REACH = 1_024;
const FILTER_SIZE = 2 ** 16;

export class KnownSecrets {
  readonly #secrets = new Map<string, readonly Candidate[]>();
  readonly #most: number;
  #index: Index | undefined;
  /** Of those alone that give themselves away. */
  #telling: Index | undefined;

  /** Beyond so many the oldest is forgotten. */
  constructor(most: number) {
    this.#most = most;
  }

  learn(secret: string): void {
    const known = this.#secrets.get(secret);
    this.#secrets.delete(secret);
    this.#secrets.set(secret, known ?? formsOf(secret));
    if (known !== undefined) return;
    const [oldest] = this.#secrets.keys();
    if (this.#secrets.size > this.#most && oldest !== undefined) this.#secrets.delete(oldest);
    this.#index = undefined;
    this.#telling = undefined;
  }

  get size(): number {
    return this.#secrets.size;
  }

  /** Whether one of them stands in the text as a whole. What may be an everyday word or number is not looked for. */
  isIn(text: string): boolean {
    this.#telling ??= createIndex(new Map([...this.#secrets].filter(([secret]) => isTelling(secret))));
    return this.#telling.find(text, 1).length > 0;
  }

  /** Whether anything of them would be taken out of the text. */
  isAnyIn(text: string): boolean {
    if (this.#secrets.size === 0) return false;
    this.#index ??= createIndex(this.#secrets);
    return this.#index.find(text, 1).length > 0 || this.#index.cutEnds(text) !== text;
  }

  /** The text without them; the same text when there is none in it. */
  takeOut(text: string): string {
    if (this.#secrets.size === 0) return text;
    this.#index ??= createIndex(this.#secrets);
    const spans = this.#index.find(text);
    return this.#index.cutEnds(spans.length === 0 ? text : replaceSpans(text, spans));
  }
}

/** A password such as "postgres" stands in many texts that give nothing away. */
const isTelling = (secret: string): boolean =>
  secret.length >= 12 || (secret.length >= 8 && /[^A-Za-z]/.test(secret));

interface Index {
  /** Not many more than `most`: who only wants to know whether there is one need not wait for all. */
  find(text: string, most?: number): Span[];
  cutEnds(text: string): string;
}

function createIndex(secrets: ReadonlyMap<string, readonly Candidate[]>): Index {
  const byAnchor = new Map<string, Candidate[]>();
  const unanchored: Candidate[] = [];
  // One bit for many anchors: it says no at nearly every character, at next to no cost.
  const filter = new Uint8Array(FILTER_SIZE);
  for (const candidate of [...secrets.values()].flat()) {
    const { anchor } = candidate;
    const same = anchor === '' ? unanchored : (byAnchor.get(anchor) ?? []);
    same.push(candidate);
    if (anchor === '') continue;
    byAnchor.set(anchor, same);
    filter[hashAt(anchor, 0)] = 1;
  }
  const rest =
    unanchored.length === 0 ? undefined : new RegExp(unanchored.map(({ after }) => after).join('|'), 'g');
  return {
    cutEnds: createEndCutter(secrets.keys()),
    find(text, most = Infinity) {
      const spans: Span[] = [];
      for (let at = 0; at + ANCHOR_LENGTH <= text.length && spans.length < most; at += 1) {
        if (filter[hashAt(text, at)] !== 1) continue;
        for (const candidate of byAnchor.get(text.slice(at, at + ANCHOR_LENGTH)) ?? []) {
          const span = matchAround(candidate, text, at);
          if (span !== undefined) spans.push(span);
        }
      }
      if (rest !== undefined && spans.length < most)
        for (const match of text.matchAll(rest)) spans.push([match.index, match.index + match[0].length]);
      return spans;
    },
  };
}

/** The whole secret around its anchor, if it is there. */
function matchAround(candidate: Candidate, text: string, at: number): Span | undefined {
  candidate.compiled ??= {
    before: candidate.before === '' ? undefined : new RegExp(`(?:${candidate.before})$`),
    after: new RegExp(candidate.after, 'y'),
  };
  const { before, after } = candidate.compiled;
  after.lastIndex = at + ANCHOR_LENGTH;
  if (!after.test(text)) return undefined;
  const end = after.lastIndex;
  if (before === undefined) return [at, end];
  const match = before.exec(text.slice(Math.max(0, at - REACH), at));
  return match === null ? undefined : [at - match[0].length, end];
}

const hashAt = (text: string, at: number): number =>
  (((text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) * 31 + text.charCodeAt(at + 2)) * 31 +
    text.charCodeAt(at + 3)) &
  (FILTER_SIZE - 1);

/** One mark for each stretch that secrets cover, also where they overlap. */
function replaceSpans(text: string, spans: Span[]): string {
  let result = '';
  let end = 0;
  for (const [from, to] of spans.sort((left, right) => left[0] - right[0])) {
    if (from >= end) result += `${text.slice(end, from)}${REDACTED}`;
    end = Math.max(end, to);
  }
  return result + text.slice(end);
}
