/**
 * Finds known secrets in a text, however many there are: each is looked for only where four letters or digits
 * of it stand. One alternation of all of them would try each one at every character.
 */
import { REDACTED } from '../text/redact-shapes.js';
import { unescaped } from './escaped-text.js';
import { createEndCutter } from './redact-ends.js';
import { ANCHOR_LENGTH, type Form, formsOf } from './redact-forms.js';

/**
 * Where a secret is known from. Each has places of its own: tokens that change for as long as a process lives do not make
 * it forget what was configured.
 */
export type SecretSource = 'configured' | 'signed-in' | 'brought';

const MAX_SECRETS: Readonly<Record<SecretSource, number>> = {
  configured: 10_000,
  'signed-in': 1_000,
  // Strangers choose them: more of a kind would take long to look for.
  brought: 250,
};

/** Forms that share an anchor, compiled when the anchor is first met. */
interface Candidate extends Form {
  compiled?: { readonly before: RegExp | undefined; readonly after: RegExp } | undefined;
}

type Span = readonly [start: number, end: number];

/** What a token may be made of. */
const TOKEN = '[\\w.~+/=%-]';
const TOKEN_END = new RegExp(TOKEN.replace('[', '[^'), 'g');
const FILTER_SIZE = 2 ** 16;
/** Texts are not like that: one that keeps us trying is made of what secrets are made of, and counts as one. */
const MAX_TRIES_PER_CHARACTER = 4;
const MIN_TRIES = 1_000;

export class KnownSecrets {
  readonly #secrets: Readonly<Record<SecretSource, Map<string, readonly Candidate[]>>> = {
    configured: new Map(),
    'signed-in': new Map(),
    brought: new Map(),
  };
  /** How many forms have each anchor. */
  readonly #anchors = new Map<string, number>();
  #index: Index | undefined;
  /** Of those alone that give themselves away. */
  #telling: Index | undefined;

  /** Beyond so many of one source the oldest is forgotten. */
  learn(secret: string, source: SecretSource): void {
    const secrets = this.#secrets[source];
    const known = secrets.get(secret);
    secrets.delete(secret);
    secrets.set(secret, known ?? this.#anchor(secret));
    if (known !== undefined) return;
    const [oldest] = secrets.keys();
    if (secrets.size > MAX_SECRETS[source] && oldest !== undefined) this.#forget(secrets, oldest);
    this.#index = undefined;
    this.#telling = undefined;
  }

  get isEmpty(): boolean {
    return Object.values(this.#secrets).every(({ size }) => size === 0);
  }

  #anchor(secret: string): readonly Candidate[] {
    const forms = formsOf(secret, (anchor) => this.#anchors.get(anchor) ?? 0);
    for (const { anchor } of forms) this.#anchors.set(anchor, (this.#anchors.get(anchor) ?? 0) + 1);
    return forms;
  }

  #forget(secrets: Map<string, readonly Candidate[]>, secret: string): void {
    for (const { anchor } of secrets.get(secret) ?? []) {
      const count = (this.#anchors.get(anchor) ?? 0) - 1;
      if (count > 0) this.#anchors.set(anchor, count);
      else this.#anchors.delete(anchor);
    }
    secrets.delete(secret);
  }

  #all(): Map<string, readonly Candidate[]> {
    return new Map(Object.values(this.#secrets).flatMap((secrets) => [...secrets]));
  }

  /** Whether one of them stands in the text as a whole. What may be an everyday word or number is not looked for. */
  isIn(text: string): boolean {
    this.#telling ??= createIndex(new Map([...this.#all()].filter(([secret]) => isTelling(secret))));
    return this.#telling.find(text, 1).length > 0;
  }

  /** Whether anything of them would be taken out of the text. */
  isAnyIn(text: string): boolean {
    if (this.isEmpty) return false;
    this.#index ??= createIndex(this.#all());
    return this.#index.find(text, 1).length > 0 || this.#index.cutEnds(text) !== text;
  }

  /** The text without them; the same text when there is none in it. */
  takeOut(text: string): string {
    if (this.isEmpty) return text;
    this.#index ??= createIndex(this.#all());
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
  const wholeOf = ({ after, isCut }: Form): string => (isCut ? `${after}${TOKEN}*` : after);
  const rest = unanchored.length === 0 ? undefined : new RegExp(unanchored.map(wholeOf).join('|'), 'g');
  const find = (text: string, most: number): Span[] => {
    const spans: Span[] = [];
    const endOfToken = createTokenEnds(text);
    let triesLeft = MIN_TRIES + text.length * MAX_TRIES_PER_CHARACTER;
    for (let at = 0; at + ANCHOR_LENGTH <= text.length && spans.length < most; at += 1) {
      if (filter[hashAt(text, at)] !== 1) continue;
      const candidates = byAnchor.get(text.slice(at, at + ANCHOR_LENGTH)) ?? [];
      triesLeft -= candidates.length;
      if (triesLeft < 0) return [[0, text.length]];
      for (const candidate of candidates) {
        const span = matchAround(candidate, text, at);
        if (span !== undefined) spans.push(candidate.isCut ? [span[0], endOfToken(span[1])] : span);
      }
    }
    if (rest !== undefined && spans.length < most)
      for (const match of text.matchAll(rest)) spans.push([match.index, match.index + match[0].length]);
    return spans;
  };
  return {
    cutEnds: createEndCutter(secrets.keys()),
    find(text, most = Infinity) {
      const spans = find(text, most);
      const plain = spans.length < most ? unescaped(text) : undefined;
      if (plain === undefined) return spans;
      const hidden = find(plain.text, most).map(([from, to]): Span => [plain.place(from), plain.place(to)]);
      return [...spans, ...hidden];
    },
  };
}

/** Where a token ends that goes on at a place. Each is gone through once, however many begin in it. */
function createTokenEnds(text: string): (from: number) => number {
  let [begin, end] = [0, 0];
  return (from) => {
    if (from >= begin && from < end) return end;
    TOKEN_END.lastIndex = from;
    begin = from;
    end = TOKEN_END.exec(text)?.index ?? text.length;
    return end;
  };
}

/** The whole secret around its anchor, if it is there. */
function matchAround(candidate: Candidate, text: string, at: number): Span | undefined {
  candidate.compiled ??= {
    // Read backwards from the anchor, as far as it fits and no further.
    before: candidate.before === '' ? undefined : new RegExp(`(?<=(${candidate.before}))`, 'y'),
    after: new RegExp(candidate.after, 'y'),
  };
  const { before, after } = candidate.compiled;
  after.lastIndex = at + ANCHOR_LENGTH;
  if (!after.test(text)) return undefined;
  const end = after.lastIndex;
  if (before === undefined) return [at, end];
  before.lastIndex = at;
  const match = before.exec(text);
  return match === null ? undefined : [at - (match[1]?.length ?? 0), end];
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
