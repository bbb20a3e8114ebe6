/** Finds servers whose names could be mistaken for those of servers that are much better known. */
import { distanceBelow, type Steps } from 'turnbuckle/host';
import { compareTexts } from './record-versions.js';
import type { ServerRecord } from './server-record.js';
import { verificationOf } from './verified-namespace.js';

/** The name of the better known server that this one resembles; undefined if there is none. */
export type FindSimilar = (record: ServerRecord) => string | undefined;

interface KnownServer {
  readonly name: string;
  readonly namespace: string;
  readonly renown: number;
  /** The parts that are compared: the name, and the npm packages. */
  readonly words: readonly ComparedName[];
}

interface ComparedName {
  readonly full: string;
  /** Without the words that most names have. */
  readonly core: string;
}

const MAX_KNOWN = 2_000;
const RECORDS_PER_STEP = 50;
/** Less renown is nothing that anybody would imitate. */
const MIN_RENOWN = 4;
/** Much better known: so much more renown. */
const RENOWN_GAP = 4;
const VERIFIED_RENOWN = { domain: 4, owner: 2 } as const;
/** The namespaces of the protocol's own servers. */
const REFERENCE_NAMESPACES = new Set(['io.modelcontextprotocol', 'io.github.modelcontextprotocol']);
const REFERENCE_RENOWN = 6;
const MIN_EQUAL_LENGTH = 8;
const GENERIC = new Set(['mcp-server', 'server-mcp', 'mcpserver', 'mcp-remote']);

/** How well known a server is: what the registry counted, and who publishes it. */
function renownOf(record: ServerRecord): number {
  const verification = verificationOf(record);
  return (
    popularityOf(record) +
    (verification === undefined ? 0 : VERIFIED_RENOWN[verification]) +
    (REFERENCE_NAMESPACES.has(namespaceOf(record)) ? REFERENCE_RENOWN : 0)
  );
}

/** A logarithm: ten times as many stars or downloads are two or one more. */
export function popularityOf({ popularity: { stars = 0, downloads = 0 } }: ServerRecord): number {
  return 2 * Math.log10(1 + stars) + Math.log10(1 + downloads);
}

/** Prepares the comparison with the best known of these records. */
export function* prepareSimilarNames(records: readonly ServerRecord[]): Steps<FindSimilar> {
  const renowned: Array<{ readonly record: ServerRecord; readonly renown: number }> = [];
  for (const [at, record] of records.entries()) {
    const renown = renownOf(record);
    if (renown >= MIN_RENOWN) renowned.push({ record, renown });
    if (at % RECORDS_PER_STEP === 0) yield;
  }
  const known = renowned
    .sort((left, right) => right.renown - left.renown || compareTexts(left.record.name, right.record.name))
    .slice(0, MAX_KNOWN)
    .map(({ record, renown }) => toKnown(record, renown));
  return (record) => {
    // Whoever runs the server on the domain of its name is not an imitator.
    if (verificationOf(record) === 'domain') return undefined;
    const own = toKnown(record, renownOf(record));
    return known.find((other) => isImitation(own, other))?.name;
  };
}

const isImitation = (own: KnownServer, other: KnownServer): boolean =>
  other.renown - own.renown >= RENOWN_GAP &&
  other.namespace !== own.namespace &&
  (areSimilarNamespaces(own, other) || areSimilarWords(own.words, other.words));

function toKnown(record: ServerRecord, renown: number): KnownServer {
  const { name, packages } = record;
  const identifiers = packages.flatMap(({ registryType, identifier }) =>
    registryType === 'npm' ? [identifier.slice(identifier.indexOf('/') + 1)] : [],
  );
  const words = [...new Set([name.slice(name.indexOf('/') + 1), ...identifiers])].map(toCompared);
  return { name, namespace: namespaceOf(record), renown, words };
}

const namespaceOf = ({ name }: ServerRecord): string => name.slice(0, name.indexOf('/')).toLowerCase();

function toCompared(text: string): ComparedName {
  const full = text.toLowerCase().replace(/[._]/g, '-');
  const core = full
    .split('-')
    .filter((part) => part !== 'mcp' && part !== 'server')
    .join('-');
  return { full, core };
}

/** `modelcontextprotoco1` for `modelcontextprotocol`, with the same server in it. */
function areSimilarNamespaces(own: KnownServer, other: KnownServer): boolean {
  const [ownCore, otherCore] = [own.words[0]?.core, other.words[0]?.core];
  return ownCore === otherCore && areClose(lastLabel(own.namespace), lastLabel(other.namespace));
}

const lastLabel = (namespace: string): string => namespace.slice(namespace.lastIndexOf('.') + 1);

function areSimilarWords(own: readonly ComparedName[], others: readonly ComparedName[]): boolean {
  return own.some(({ full, core }) =>
    others.some(
      (other) =>
        (full === other.full && full.length >= MIN_EQUAL_LENGTH && !GENERIC.has(full)) ||
        (core !== other.core && areClose(core, other.core)),
    ),
  );
}

/** Names of a few letters are too often similar by accident. */
function areClose(left: string, right: string): boolean {
  const length = Math.min(left.length, right.length);
  const limit = length < 5 ? 0 : length < 10 ? 1 : 2;
  if (left === right || Math.abs(left.length - right.length) > limit) return false;
  return limit > 0 && distanceBelow(limit + 1, [left, right]) !== undefined;
}
