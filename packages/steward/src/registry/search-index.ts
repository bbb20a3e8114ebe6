/** Full-text search over the records of a registry, on this machine. */
import MiniSearch, { type SearchOptions } from 'minisearch';
import type { Steps } from 'turnbuckle/host';
import type { RecordPackage } from './record-schema.js';
import { type SearchedWord, searchedWords, toTerm, wordsOf } from './search-words.js';
import type { ServerRecord } from './server-record.js';

export interface Match {
  readonly record: ServerRecord;
  /** 0 to 1; the best match of a search has the highest. */
  readonly relevance: number;
  /** The words of the purpose that were found, in its order. */
  readonly found: readonly string[];
}

export interface SearchIndex {
  search(purpose: string): Steps<readonly Match[]>;
}

const FIELDS = { name: 3, title: 2.5, keywords: 1.5, packages: 1.5, publisher: 1, description: 1 };
type Fields = Readonly<Record<keyof typeof FIELDS, string>>;
type Index = MiniSearch<Fields & { readonly id: number }>;

/** What another word for the same thing counts. */
const OTHER_WORD_WEIGHT = 0.5;
const MIN_PREFIX_LENGTH = 4;
const MIN_FUZZY_LENGTH = 6;
/** Less than this part of the best score is not a match. */
const MIN_SHARE = 0.02;
const MAX_MATCHES = 200;
/** How much of the relevance comes from how many of the words were found. */
const COVERAGE_SHARE = 0.4;
const RECORDS_PER_STEP = 5;
/** Labels of namespaces that say nothing about the publisher. */
const COMMON_LABELS = new Set(['io', 'com', 'org', 'net', 'dev', 'ai', 'app', 'co', 'github', 'gitlab']);

/** Builds the index, in steps. The order of the records has no influence on later results, except among equals. */
export function* buildSearchIndex(records: readonly ServerRecord[]): Steps<SearchIndex> {
  const index: Index = new MiniSearch({
    fields: Object.keys(FIELDS),
    tokenize: wordsOf,
    processTerm: (word) => toTerm(word) ?? null,
  });
  for (const [id, record] of records.entries()) {
    index.add({ id, ...fieldsOf(record) });
    if (id % RECORDS_PER_STEP === 0) yield;
  }
  return { search: (purpose) => findMatches(index, { words: searchedWords(purpose), records }) };
}

function fieldsOf({ name, title = '', description, keywords, packages }: ServerRecord): Fields {
  const [namespace = '', slug = ''] = name.split('/');
  return {
    name: slug,
    title,
    description,
    keywords: keywords.join(' '),
    packages: packages.map(packageName).join(' '),
    publisher: namespace
      .split('.')
      .filter((label) => !COMMON_LABELS.has(label))
      .join(' '),
  };
}

/** Without the host that it is loaded from, which says nothing about it. */
function packageName({ registryType, identifier }: RecordPackage): string {
  if (registryType === 'mcpb') return identifier.slice(identifier.lastIndexOf('/') + 1);
  return registryType === 'oci' ? identifier.slice(identifier.indexOf('/') + 1) : identifier;
}

/** The terms are already reduced. */
const optionsFor = (term: string): SearchOptions => ({
  tokenize: (text) => [text],
  processTerm: (text) => text,
  boost: FIELDS,
  prefix: term.length >= MIN_PREFIX_LENGTH,
  fuzzy: term.length >= MIN_FUZZY_LENGTH ? 1 : false,
  weights: { prefix: 0.6, fuzzy: 0.3 },
});

interface Search {
  readonly words: readonly SearchedWord[];
  readonly records: readonly ServerRecord[];
}

/** What was found of one record. */
interface Found {
  score: number;
  readonly words: Set<SearchedWord>;
}

function* findMatches(index: Index, { words, records }: Search): Steps<readonly Match[]> {
  const all = new Map<number, Found>();
  for (const word of words)
    for (const [id, score] of yield* scoresOf(index, word)) {
      const found = all.get(id) ?? { score: 0, words: new Set() };
      found.score += score;
      found.words.add(word);
      all.set(id, found);
    }
  yield;
  const total = words.reduce((sum, { weight }) => sum + weight, 0);
  let best = 0;
  for (const { score } of all.values()) best = Math.max(best, score);
  return [...all]
    .filter(([, { score }]) => score >= best * MIN_SHARE)
    .sort(([leftId, left], [rightId, right]) => right.score - left.score || leftId - rightId)
    .slice(0, MAX_MATCHES)
    .flatMap(([id, found]) => {
      const record = records[id];
      const matched = words.filter((word) => found.words.has(word));
      const coverage = matched.reduce((sum, { weight }) => sum + weight, 0) / total;
      const relevance = (1 - COVERAGE_SHARE) * (found.score / best) + COVERAGE_SHARE * coverage;
      return record === undefined ? [] : [{ record, relevance, found: matched.map(({ word }) => word) }];
    });
}

/** The score of one word in each record: that of the word itself, or of the best other word for the same thing. */
function* scoresOf(index: Index, { term, weight, others }: SearchedWord): Steps<Map<number, number>> {
  const scores = new Map<number, number>();
  for (const one of [term, ...others]) {
    const share = one === term ? weight : weight * OTHER_WORD_WEIGHT;
    for (const { id, score } of index.search(one, optionsFor(one)))
      scores.set(id, Math.max(scores.get(id) ?? 0, score * share));
    yield;
  }
  return scores;
}
