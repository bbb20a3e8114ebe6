/** What `_meta` of a record says. Its namespaces are open: known keys are looked for, and everything else is ignored. */
import { firstKeys, isRecord } from 'turnbuckle/host';

export const RECORD_STATES = ['active', 'deprecated', 'deleted'] as const;
export type RecordState = (typeof RECORD_STATES)[number];

/** Counted by the registry, never by the publisher. */
export interface Popularity {
  readonly stars?: number;
  readonly downloads?: number;
}

export interface RecordMeta {
  readonly status: RecordState;
  readonly isLatest?: boolean;
  /** ISO 8601. */
  readonly publishedAt?: string;
  readonly updatedAt?: string;
  readonly keywords: readonly string[];
  readonly popularity: Popularity;
  /** The least major version of Node that its package needs. */
  readonly minimumNode?: number;
}

type Members = Readonly<Record<string, unknown>>;

const OFFICIAL = 'io.modelcontextprotocol.registry/official';
const PUBLISHER = 'io.modelcontextprotocol.registry/publisher-provided';
/** For what is written to a file and read again. */
const OWN = 'turnbuckle/record';

const MAX_NAMESPACES = 20;
const MAX_MEMBERS = 50;
const MAX_KEYWORDS = 30;
const MAX_KEYWORD_LENGTH = 60;
const MAX_COUNT = 1e12;

const STARS = ['stars', 'starCount', 'stargazerCount', 'stargazers_count', 'githubStars'];
const DOWNLOADS = ['downloads', 'downloadCount', 'weeklyDownloads', 'installs', 'useCount'];
const KEYWORDS = ['keywords', 'tags', 'topics', 'categories'];

/** `ofRecord` is written by the publisher, `ofRegistry` by the registry. */
export function readMeta(ofRegistry: unknown, ofRecord: unknown, status: unknown): RecordMeta {
  const official = isRecord(ofRegistry) ? memberOf(ofRegistry, OFFICIAL) : {};
  const counted = namespacesOf(ofRegistry).filter(([name]) => name !== PUBLISHER);
  const all = [...namespacesOf(ofRegistry), ...namespacesOf(ofRecord)];
  const isLatest = official.isLatest;
  const minimumNode = first(all, ({ engines }) => minimumNodeOf(engines));
  const stars = first(counted, (members) => countOf(members, STARS));
  const downloads = first(counted, (members) => countOf(members, DOWNLOADS));
  return {
    status: RECORD_STATES.find((one) => one === (official.status ?? status)) ?? 'active',
    ...(typeof isLatest === 'boolean' && { isLatest }),
    ...timeOf('publishedAt', official.publishedAt),
    ...timeOf('updatedAt', official.updatedAt),
    keywords: keywordsOf(all),
    popularity: { ...(stars !== undefined && { stars }), ...(downloads !== undefined && { downloads }) },
    ...(minimumNode !== undefined && { minimumNode }),
  };
}

/** `_meta` that reads as the same. */
export function writeMeta(meta: RecordMeta): Members {
  const { status, isLatest, publishedAt, updatedAt, keywords, popularity, minimumNode } = meta;
  const engines = minimumNode === undefined ? undefined : { node: `>=${minimumNode}` };
  return {
    [OFFICIAL]: { status, isLatest, publishedAt, updatedAt },
    [OWN]: { keywords, ...popularity, engines },
  };
}

/** Each namespace, and the objects in it: some registries have one more level. */
function namespacesOf(meta: unknown): ReadonlyArray<readonly [string, Members]> {
  if (!isRecord(meta)) return [];
  return firstEntries(meta, MAX_NAMESPACES).flatMap(([name, members]) => {
    if (!isRecord(members)) return [];
    const inner = firstEntries(members, MAX_MEMBERS).flatMap(([, value]) => (isRecord(value) ? [value] : []));
    return [members, ...inner].map((one) => [name, one] as const);
  });
}

/** An object may have a million members. */
const firstEntries = (members: Members, max: number): ReadonlyArray<readonly [string, unknown]> =>
  firstKeys(members)
    .slice(0, max)
    .map((key) => [key, members[key]]);

function memberOf(members: Members, key: string): Members {
  const found = Object.hasOwn(members, key) ? members[key] : undefined;
  return isRecord(found) ? found : {};
}

function first<T>(
  namespaces: ReadonlyArray<readonly [string, Members]>,
  read: (members: Members) => T | undefined,
): T | undefined {
  for (const [, members] of namespaces) {
    const found = read(members);
    if (found !== undefined) return found;
  }
  return undefined;
}

function countOf(members: Members, keys: readonly string[]): number | undefined {
  return keys
    .map((key) => (Object.hasOwn(members, key) ? members[key] : undefined))
    .find((value): value is number => typeof value === 'number' && value >= 0 && value <= MAX_COUNT);
}

function timeOf<Key extends string>(key: Key, value: unknown): { readonly [K in Key]?: string } {
  if (typeof value !== 'string' || value.length > 40) return {};
  const time = Date.parse(value);
  // The fields of a date with more than four digits of a year sort differently.
  if (!(time >= 0 && time < 253_402_300_800_000)) return {};
  return { [key]: new Date(time).toISOString() } as { [K in Key]: string };
}

function keywordsOf(namespaces: ReadonlyArray<readonly [string, Members]>): readonly string[] {
  const found = new Set<string>();
  for (const [, members] of namespaces)
    for (const key of KEYWORDS) {
      const words = Object.hasOwn(members, key) ? members[key] : undefined;
      if (!Array.isArray(words)) continue;
      for (const word of words.slice(0, MAX_KEYWORDS))
        if (typeof word === 'string' && word !== '' && word.length <= MAX_KEYWORD_LENGTH) found.add(word);
    }
  return [...found].slice(0, MAX_KEYWORDS);
}

/** Of `>=22`, `^22.1` or `22`; a more complicated range says nothing here. */
function minimumNodeOf(engines: unknown): number | undefined {
  const node = isRecord(engines) ? engines.node : undefined;
  const [, major] = typeof node === 'string' ? (/^\s*(?:>=|\^|~)?\s*v?(\d{1,3})\b/.exec(node) ?? []) : [];
  return major === undefined ? undefined : Number(major);
}
