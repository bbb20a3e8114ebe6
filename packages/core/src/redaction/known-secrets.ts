/**
 * Finds known secrets in a text, however many there are: each is searched only where four of its letters or digits
 * occur. One alternation of all of them would try each one at every character.
 */

import { unescapeText } from './escaped-text.js';
import { REDACTED } from './redact-shapes.js';
import { createTruncatedRedactor } from './redact-truncated.js';
import { ANCHOR_LENGTH, formsOf, type SecretForm } from './secret-forms.js';

/**
 * The source of a secret. Each source has its own limit: tokens that change during the life of a process do not
 * displace configured secrets.
 */
export type SecretSource = 'configured' | 'signed-in' | 'brought';

const MAX_SECRETS: Readonly<Record<SecretSource, number>> = {
  configured: 10_000,
  'signed-in': 1_000,
  // Outsiders control these: more of one kind would make searching slow.
  brought: 250,
};
/** The index is built again for each new one, in time proportional to all of them. */
const MAX_BROUGHT_CHARACTERS = 64 * 1_024;

const SOURCES: readonly SecretSource[] = ['configured', 'signed-in', 'brought'];

/** Forms that share an anchor, compiled when the anchor first occurs. */
interface Candidate extends SecretForm {
  compiled?: { readonly before: RegExp | undefined; readonly after: RegExp } | undefined;
}

type Span = readonly [start: number, end: number];

/** The characters of a token. */
const TOKEN = '[\\w.~+/=%-]';
const TOKEN_END = new RegExp(TOKEN.replace('[', '[^'), 'g');
const FILTER_SIZE = 2 ** 16;
/**
 * Ordinary text is not like that: a text that causes this many attempts is made of the characters of secrets, and
 * counts as one.
 */
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
  /** One for each source: what changes often must not rebuild what hardly changes. */
  readonly #indexes = new Map<SecretSource, SecretIndex>();
  /** Only for secrets that are recognizable on their own. */
  readonly #distinctiveIndexes = new Map<SecretSource, SecretIndex>();
  /** Who brought each of the secrets that came with requests. */
  readonly #bringers = new Map<string, string>();
  #broughtCharacters = 0;

  /**
   * Beyond this number per source, the oldest is forgotten. Of those that came with requests, the oldest of whoever
   * brought most: nobody makes us forget what another one brought.
   */
  learn(secret: string, source: SecretSource, bringer?: string): void {
    const secrets = this.#secrets[source];
    if (source === 'brought' && (bringer !== undefined || !this.#bringers.has(secret)))
      this.#bringers.set(secret, bringer ?? '');
    const known = secrets.get(secret);
    secrets.delete(secret);
    secrets.set(secret, known ?? this.#anchor(secret));
    if (known !== undefined) return;
    if (source === 'brought') this.#broughtCharacters += secret.length;
    while (this.#isFull(source)) this.#forget(source, this.#leastNeeded(source));
    this.#indexes.delete(source);
    this.#distinctiveIndexes.delete(source);
  }

  #isFull(source: SecretSource): boolean {
    const { size } = this.#secrets[source];
    const isLong = source === 'brought' && this.#broughtCharacters > MAX_BROUGHT_CHARACTERS;
    return size > MAX_SECRETS[source] || (isLong && size > 1);
  }

  get isEmpty(): boolean {
    for (const source of SOURCES) if (this.#secrets[source].size > 0) return false;
    return true;
  }

  #anchor(secret: string): readonly Candidate[] {
    const forms = formsOf(secret, (anchor) => this.#anchors.get(anchor) ?? 0);
    for (const { anchor } of forms) this.#anchors.set(anchor, (this.#anchors.get(anchor) ?? 0) + 1);
    return forms;
  }

  #leastNeeded(source: SecretSource): string {
    const secrets = [...this.#secrets[source].keys()];
    const [oldest = ''] = secrets;
    if (source !== 'brought') return oldest;
    const isLong = this.#broughtCharacters > MAX_BROUGHT_CHARACTERS;
    const amounts = new Map<string, number>();
    const bringerOf = (secret: string): string => this.#bringers.get(secret) ?? '';
    for (const secret of secrets)
      amounts.set(bringerOf(secret), (amounts.get(bringerOf(secret)) ?? 0) + (isLong ? secret.length : 1));
    const [most = ''] = [...amounts].reduce((left, right) => (right[1] > left[1] ? right : left), ['', 0]);
    return secrets.find((secret) => bringerOf(secret) === most) ?? oldest;
  }

  #forget(source: SecretSource, oldest: string): void {
    const secrets = this.#secrets[source];
    if (source === 'brought') {
      this.#broughtCharacters -= oldest.length;
      this.#bringers.delete(oldest);
    }
    for (const { anchor } of secrets.get(oldest) ?? []) {
      const count = (this.#anchors.get(anchor) ?? 0) - 1;
      if (count > 0) this.#anchors.set(anchor, count);
      else this.#anchors.delete(anchor);
    }
    secrets.delete(oldest);
  }

  /** The indexes of all sources that have secrets. */
  #indexed(indexes: Map<SecretSource, SecretIndex>, isWanted: (secret: string) => boolean): SecretIndex[] {
    return SOURCES.filter((source) => this.#secrets[source].size > 0).map((source) => {
      const known = indexes.get(source);
      if (known !== undefined) return known;
      const index = createIndex(new Map([...this.#secrets[source]].filter(([secret]) => isWanted(secret))));
      indexes.set(source, index);
      return index;
    });
  }

  #all(): SecretIndex[] {
    return this.#indexed(this.#indexes, () => true);
  }

  /** Whether the text contains one of them as a whole. Everyday words and numbers are not searched for. */
  containsDistinctive(text: string): boolean {
    const indexes = this.#indexed(this.#distinctiveIndexes, isDistinctive);
    return indexes.some((index) => index.find(text, 1).length > 0);
  }

  /** Whether anything in the text would be redacted. */
  containsAny(text: string): boolean {
    return this.#all().some((index) => index.find(text, 1).length > 0 || index.redactEnds(text) !== text);
  }

  /** The text without them; the same text if there are none. */
  redact(text: string): string {
    const indexes = this.#all();
    const spans = indexes.flatMap((index) => index.find(text));
    const found = spans.length === 0 ? text : replaceSpans(text, spans);
    return indexes.reduce((rest, index) => index.redactEnds(rest), found);
  }
}

/** A password such as "postgres" occurs in many harmless texts. */
const isDistinctive = (secret: string): boolean =>
  secret.length >= 12 || (secret.length >= 8 && /[^A-Za-z]/.test(secret));

interface SecretIndex {
  /** Stops soon after `most`: a caller that only needs to know whether there is one does not wait for all. */
  find(text: string, most?: number): Span[];
  redactEnds(text: string): string;
}

function createIndex(secrets: ReadonlyMap<string, readonly Candidate[]>): SecretIndex {
  const byAnchor = new Map<string, Candidate[]>();
  const unanchored: Candidate[] = [];
  // One bit for many anchors: it rejects nearly every character at almost no cost.
  const filter = new Uint8Array(FILTER_SIZE);
  for (const candidate of [...secrets.values()].flat()) {
    const { anchor } = candidate;
    const same = anchor === '' ? unanchored : (byAnchor.get(anchor) ?? []);
    same.push(candidate);
    if (anchor === '') continue;
    byAnchor.set(anchor, same);
    filter[hashAt(anchor, 0)] = 1;
  }
  const wholeOf = ({ after, isTruncated }: SecretForm): string => (isTruncated ? `${after}${TOKEN}*` : after);
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
        if (span !== undefined) spans.push(candidate.isTruncated ? [span[0], endOfToken(span[1])] : span);
      }
    }
    if (rest !== undefined && spans.length < most)
      for (const match of text.matchAll(rest)) spans.push([match.index, match.index + match[0].length]);
    return spans;
  };
  return {
    redactEnds: createTruncatedRedactor(secrets.keys()),
    find(text, most = Infinity) {
      const spans = find(text, most);
      const plain = spans.length < most ? unescapeText(text) : undefined;
      if (plain === undefined) return spans;
      const hidden = find(plain.text, most).map(
        ([from, to]): Span => [plain.originalIndex(from), plain.originalIndex(to)],
      );
      return [...spans, ...hidden];
    },
  };
}

/** The end of the token that continues at a position. Each token is read once, however many matches start in it. */
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
    // Matches backwards from the anchor, as far as it fits.
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

/** One mark for each range that secrets cover, even if they overlap. */
function replaceSpans(text: string, spans: Span[]): string {
  let result = '';
  let end = 0;
  for (const [from, to] of spans.sort((left, right) => left[0] - right[0])) {
    if (from >= end) result += `${text.slice(end, from)}${REDACTED}`;
    end = Math.max(end, to);
  }
  return result + text.slice(end);
}
