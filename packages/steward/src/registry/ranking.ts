/**
 * Ranks the servers that match a purpose. The same records and the same purpose give the same ranking, and each candidate
 * says why it is where it is. Nothing is selected here: a person does that.
 */
import { inSlices, type Steps } from 'turnbuckle/host';
import { type Machine, missingFor } from './machine.js';
import { describeAge } from './record-source.js';
import { compareTexts, newestOf } from './record-versions.js';
import { buildSearchIndex, type Match, type SearchIndex } from './search-index.js';
import type { ServerRecord } from './server-record.js';
import { type FindSimilar, popularityOf, prepareSimilarNames } from './similar-names.js';
import { verificationOf } from './verified-namespace.js';

export interface Candidate {
  readonly record: ServerRecord;
  /** Only for comparison within one search. */
  readonly score: number;
  /** Why it has this score, one short sentence each. */
  readonly reasons: readonly string[];
  /** What this machine lacks to run it; empty if it can. */
  readonly missing: readonly string[];
  /** Its namespace is that of its domain or of the owner of its source. */
  readonly verified: boolean;
  /** The name of a better known server that it resembles. */
  readonly similarTo?: string;
}

/** The records of all sources, prepared for searching. */
export interface RecordSignals extends Pick<Candidate, 'verified' | 'similarTo'> {
  readonly isDeprecated: boolean;
}

export interface RankedRecords {
  readonly index: SearchIndex;
  readonly findSimilar: FindSimilar;
}

export interface RankOptions {
  readonly purpose: string;
  readonly limit: number;
  readonly machine: Machine;
  readonly now: number;
}

const RELEVANCE_POINTS = 100;
const VERIFIED_POINTS = 6;
const MAX_POPULARITY_POINTS = 12;
const TRANSPORT_POINTS = 2;
const MISSING_POINTS = -15;
const SIMILAR_POINTS = -40;
const NEW_POINTS = -5;
const NEW_MS = 7 * 86_400_000;

/** Leaves out old versions, and servers that are deprecated, deleted, or have nothing that can be run or reached. */
export function prepareRecords(records: readonly ServerRecord[]): Promise<RankedRecords> {
  return inSlices(prepare(records));
}

function* prepare(records: readonly ServerRecord[]): Steps<RankedRecords> {
  const versions = new Map<string, ServerRecord[]>();
  for (const record of records) {
    const same = versions.get(record.name);
    if (same === undefined) versions.set(record.name, [record]);
    else same.push(record);
  }
  yield;
  const usable = [...versions.values()]
    .flatMap((all) => newestOf(all.filter(({ status }) => status !== 'deleted')) ?? [])
    .filter(({ status, packages, remotes }) => status === 'active' && packages.length + remotes.length > 0)
    .sort((left, right) => compareTexts(left.name, right.name));
  yield;
  return { index: yield* buildSearchIndex(usable), findSimilar: yield* prepareSimilarNames(usable) };
}

/** The best candidates, best first. */
export function rank(records: RankedRecords, options: RankOptions): Promise<Candidate[]> {
  return inSlices(rankInSteps(records, options));
}

function* rankInSteps({ index, findSimilar }: RankedRecords, options: RankOptions): Steps<Candidate[]> {
  const candidates: Candidate[] = [];
  for (const match of yield* index.search(options.purpose)) {
    candidates.push(toCandidate(match, findSimilar, options));
    yield;
  }
  return candidates
    .sort((left, right) => right.score - left.score || compareTexts(left.record.name, right.record.name))
    .slice(0, options.limit);
}

interface Signal {
  readonly points: number;
  readonly reason: string;
}

function toCandidate(match: Match, findSimilar: FindSimilar, { machine, now }: RankOptions): Candidate {
  const { record, relevance, found } = match;
  const verification = verificationOf(record);
  const missing = missingFor(record, machine);
  const similar = findSimilar(record);
  const signals: readonly Signal[] = [
    { points: relevance * RELEVANCE_POINTS, reason: `matches ${found.join(', ')}` },
    ...(verification === undefined
      ? []
      : [{ points: VERIFIED_POINTS, reason: VERIFIED_REASONS[verification] }]),
    ...popularitySignal(record),
    transportSignal(record),
    ...missing.map((what) => ({ points: MISSING_POINTS, reason: `needs ${what}, which is not installed` })),
    ...newSignal(record, now),
    ...(similar === undefined ? [] : [{ points: SIMILAR_POINTS, reason: `similar to ${similar}` }]),
  ];
  const score = signals.reduce((sum, { points }) => sum + points, 0);
  return {
    record,
    score: Math.round(score * 100) / 100,
    reasons: signals.map(({ reason }) => reason),
    missing,
    verified: verification !== undefined,
    ...(similar !== undefined && { similarTo: similar }),
  };
}

/** What a person should know of exactly this record, whether or not a search finds it. */
export function judgeRecord({ findSimilar }: RankedRecords, record: ServerRecord): RecordSignals {
  const similarTo = findSimilar(record);
  return {
    verified: verificationOf(record) !== undefined,
    isDeprecated: record.status === 'deprecated',
    ...(similarTo !== undefined && { similarTo }),
  };
}

const VERIFIED_REASONS = {
  domain: 'is hosted on the domain in its name',
  owner: 'its source repository belongs to the owner in its name',
} as const;

function popularitySignal(record: ServerRecord): Signal[] {
  const points = Math.min(popularityOf(record), MAX_POPULARITY_POINTS);
  const { stars, downloads } = record.popularity;
  const counts = [
    ...(stars === undefined ? [] : [`${stars} stars`]),
    ...(downloads === undefined ? [] : [`${downloads} downloads`]),
  ];
  return counts.length === 0 ? [] : [{ points, reason: `${counts.join(', ')}, according to the registry` }];
}

function transportSignal({ remotes, packages }: ServerRecord): Signal {
  const isSseOnly = remotes.every(({ type }) => type === 'sse');
  if (remotes.length > 0)
    return {
      points: isSseOnly ? 0 : TRANSPORT_POINTS,
      reason: isSseOnly
        ? 'a remote server that uses the older transport SSE'
        : 'a remote server: nothing to install',
    };
  const types = [...new Set(packages.map(({ registryType }) => registryType))];
  return {
    points: types.includes('npm') || types.includes('mcpb') ? TRANSPORT_POINTS : 0,
    reason: `a package (${types.join(', ')})`,
  };
}

/** Harm is usually found in the first days. */
function newSignal({ publishedAt }: ServerRecord, now: number): Signal[] {
  const ageMs = publishedAt === undefined ? undefined : now - Date.parse(publishedAt);
  if (ageMs === undefined || ageMs >= NEW_MS) return [];
  return [{ points: NEW_POINTS, reason: `published ${describeAge(Math.max(ageMs, 0))} ago` }];
}
