/**
 * Validates servers. An invalid entry is a problem with its key path, value and what was expected; it does not affect
 * the others.
 */
import * as z from 'zod/mini';
import { TurnbuckleError } from '../../errors.js';
import { isRecord } from '../../json/is-record.js';
import { isSecretName } from '../../redaction/secret-names.js';
import { nearest } from '../../text/nearest.js';
import {
  describeIssue as describeFault,
  expectedOnly,
  unknownKey,
  unknownKeyIn,
} from '../schema/issue-text.js';
import { isCountIssue } from '../schema/max-entries.js';
import {
  SERVER_SCHEMAS,
  type ServerConfig,
  TRANSPORT_ALIASES,
  TRANSPORT_TYPES,
  type TransportType,
} from '../schema/schema.js';
import { impliedTransport, namedEntry, toTransportType, unifyKeys, writtenKey } from './spellings.js';

export interface ParsedServers {
  readonly servers: ReadonlyMap<string, ServerConfig>;
  /** An error for each invalid entry. If the name is also a server, that server keeps its previous configuration. */
  readonly problems: ReadonlyMap<string, TurnbuckleError>;
  /** Other inputs that make a server a different one when they change, as text. */
  readonly contextKeys?: ReadonlyMap<string, string>;
  /** True: servers that the host added are not part of this, and stay. */
  readonly isFromFiles?: true;
}

/** Never throws: invalid entries are in `problems`, by name or position. `complete` fills in what an entry leaves out. */
export function parseServers(
  input: unknown,
  complete: (entry: unknown) => unknown = (entry) => entry,
): ParsedServers {
  const servers = new Map<string, ServerConfig>();
  const problems = new Map<string, TurnbuckleError>();
  for (const [key, name, value] of entries(input, problems)) {
    try {
      if (servers.has(name) || problems.has(name))
        throw invalid(name, [{ path: key, text: `duplicate name "${name}"` }]);
      servers.set(name, parseServer(name, complete(value), key));
    } catch (error) {
      if (!(error instanceof TurnbuckleError)) throw error;
      problems.set(servers.has(name) ? `${name} (${key})` : name, error);
    }
  }
  return { servers, problems };
}

/** One server, or a CONFIG_INVALID error that names every invalid key. */
export function parseServer(name: string, value: unknown, path = `servers.${name}`): ServerConfig {
  const nameProblem = checkName(name);
  if (nameProblem !== undefined) throw invalid(name, [{ path, text: nameProblem }]);
  if (!isRecord(value))
    throw invalid(name, [{ path, text: `expected an object, found ${describeValue(value)}` }]);
  const entry = unifyKeys(value);
  const type = transportOf(name, entry, path);
  const parsed = SERVER_SCHEMAS[type].safeParse(
    { ...defaultConnectTimeout(entry), ...entry, share: shareOf(entry), type },
    { error: describeFault },
  );
  if (
    parsed.success &&
    'credentials' in parsed.data &&
    parsed.data.credentials &&
    parsed.data.share === 'shared'
  )
    throw invalid(name, [{ path: `${path}.share`, text: SHARED_CREDENTIALS, keys: ['share'] }]);
  if (parsed.success) return parsed.data;
  const known = Object.keys(SERVER_SCHEMAS[type].shape);
  throw invalid(name, ...describeIssues(parsed.error.issues, { value, path, known }));
}

/** CONFIG_INVALID if no server could have these keys, whatever the others are. */
export function checkPart(name: string, value: Readonly<Record<string, unknown>>, path: string): void {
  const entry = unifyKeys(value);
  const hasType = entry.type !== undefined || entry.transport !== undefined;
  const first = hasType ? transportOf(name, entry, path) : (impliedTransport(entry) ?? 'stdio');
  const types = hasType ? [first] : [first, ...TRANSPORT_TYPES.filter((one) => one !== first)];
  const faults = types.map((type) => {
    const part = z.partial(SERVER_SCHEMAS[type]).safeParse({ ...entry, type }, { error: describeFault });
    return part.error?.issues ?? [];
  });
  // The kind of server that it fits best.
  const fewest = faults.reduce((best, one) => (one.length < best.length ? one : best));
  if (fewest.length === 0) return;
  const known = types.flatMap((type) => Object.keys(SERVER_SCHEMAS[type].shape));
  throw invalid(name, ...describeIssues(fewest, { value, path, known }));
}

/** Callers with different credentials cannot share a connection. */
const shareOf = ({ share, credentials }: Record<string, unknown>): unknown =>
  share === undefined && credentials !== undefined ? 'agent' : share;

const SHARED_CREDENTIALS =
  'callers with their own "credentials" cannot share a connection (set "share" to "agent" or "session", or remove it)';

/** Programs that may download a package before the server starts. */
const LAUNCHERS = /(^|[\\/])(npx|npm|pnpm|pnpx|yarn|bunx|bun|uvx|uv|pipx|docker|podman|deno)(\.(cmd|exe))?$/;
const LAUNCHER_CONNECT_TIMEOUT_MS = 60_000;

function defaultConnectTimeout({ command }: Record<string, unknown>): { connectTimeoutMs?: number } {
  return typeof command === 'string' && LAUNCHERS.test(command)
    ? { connectTimeoutMs: LAUNCHER_CONNECT_TIMEOUT_MS }
    : {};
}

type Entry = readonly [key: string, name: string, value: unknown];

function entries(input: unknown, problems: Map<string, TurnbuckleError>): Entry[] {
  if (Array.isArray(input))
    return input.flatMap((value: unknown, index) => listEntry(value, `servers[${index}]`, problems));
  if (isRecord(input)) return Object.entries(input).map(([name, value]) => [`servers.${name}`, name, value]);
  problems.set(
    'servers',
    invalid('servers', [
      { path: 'servers', text: `expected a map or a list of servers, found ${describeValue(input)}` },
    ]),
  );
  return [];
}

function listEntry(value: unknown, key: string, problems: Map<string, TurnbuckleError>): Entry[] {
  const named = namedEntry(value);
  if (named !== undefined) return [[key, named.name, named.entry]];
  const fault = isRecord(value)
    ? {
        path: `${key}.name`,
        text: `expected the server's name, found ${describeValue(value.name ?? value.id)}`,
      }
    : { path: key, text: `expected an object, found ${describeValue(value)}` };
  problems.set(key, invalid(key, [fault]));
  return [];
}

function checkName(name: string): string | undefined {
  if (name === 'native') return 'the name "native" is reserved';
  if (name.trim() === '' || name !== name.trim())
    return 'a server name cannot be empty or start or end with a space';
  if (name.length > 128) return `a server name can have at most 128 characters, found ${name.length}`;
  if (/[\p{Cc}\p{Cs}\p{Cf}]/u.test(name))
    return 'a server name cannot contain control or invisible characters';
  return undefined;
}

function transportOf(name: string, entry: Readonly<Record<string, unknown>>, path: string): TransportType {
  const { type, transport } = entry;
  // `unifyKeys` leaves a `transport` only if it is invalid, or contradicts `type`.
  const [key, given] = transport === undefined ? ['type', type] : ['transport', transport];
  const found = given === undefined ? impliedTransport(entry) : toTransportType(given);
  const fault = (text: string): TurnbuckleError =>
    invalid(name, [{ path: `${path}.${key}`, text, keys: [key] }]);
  if (found !== undefined && (transport === undefined || type === undefined)) return found;
  if (found !== undefined)
    throw fault(
      `"transport" is ${describeValue(transport)}, but "type" is ${describeValue(type)} (remove one of them)`,
    );
  if (typeof given === 'string') {
    const names = [...Object.keys(SERVER_SCHEMAS), ...Object.keys(TRANSPORT_ALIASES)];
    throw fault(`unknown transport ${describeValue(given)}${didYouMean(nearest(given, names))}`);
  }
  if (given !== undefined) throw fault(`expected a transport name, found ${describeValue(given)}`);
  throw withoutTransport(name, entry, path);
}

function withoutTransport(
  name: string,
  entry: Readonly<Record<string, unknown>>,
  path: string,
): TurnbuckleError {
  const close = Object.keys(entry)
    .slice(0, MAX_FAULTS)
    .flatMap((key) => {
      const meantKey = nearest(key, ['command', 'url', 'type', 'server', 'baseUrl']);
      return meantKey === undefined ? [] : [`"${key}" may be a misspelling of "${meantKey}"`];
    });
  const guess = close.length === 0 ? '' : `; ${close.join(', ')}`;
  return invalid(name, [
    {
      path,
      text: `the server has neither "command" (for a local server) nor "url" (for a remote server)${guess}`,
    },
  ]);
}

/** One error with its location: a path for people, keys below the server for programs. */
export interface ConfigFault {
  readonly path: string;
  readonly text: string;
  readonly keys?: readonly PropertyKey[];
}

/** Keys in the way people write them: `servers.files.args[1]`. */
export function keyPath(start: string, keys: readonly PropertyKey[]): string {
  return keys.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, start);
}

interface Issue {
  readonly code: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

/** Keys whose values may be secrets: errors only name their type. */
const SECRET_KEYS = new Set<PropertyKey>(['env', 'headers', 'args', 'credentials']);

interface IssueContext {
  readonly value: unknown;
  readonly path: string;
  readonly known: readonly string[];
}

/** The first faults, and the total number. */
function describeIssues(
  issues: readonly Issue[],
  context: IssueContext,
): [faults: ConfigFault[], count: number] {
  const faults: ConfigFault[] = [];
  let count = 0;
  for (const issue of issues) {
    const { keys } = issue;
    count += keys?.length ?? 1;
    if (faults.length >= MAX_FAULTS) continue;
    const first = keys === undefined ? issue : { ...issue, keys: keys.slice(0, MAX_FAULTS) };
    faults.push(...describeIssue(first, context));
  }
  return [faults, count];
}

function describeIssue(issue: Issue, { value, path, known }: IssueContext): ConfigFault[] {
  const keys = issue.path.map((key, depth) =>
    depth === 0 && isRecord(value) ? writtenKey(value, key) : key,
  );
  const at = keyPath(path, keys);
  if (issue.code === 'unrecognized_keys' && issue.keys !== undefined) {
    return issue.keys.map((key, index) => ({
      path: `${at}.${key}`,
      text:
        issue.path.length > 0
          ? unknownKeyIn(issue.message, index, key)
          : (describeConflict(key, value) ?? unknownKey(key, known)),
      keys: [...issue.path, key],
    }));
  }
  const found = keys.reduce<unknown>(
    (part, key) => (isRecord(part) || Array.isArray(part) ? Reflect.get(part, key) : undefined),
    value,
  );
  const secret = keys.some((part) => SECRET_KEYS.has(part)) || isSecretName(String(keys.at(-1) ?? ''));
  return [
    {
      path: at,
      keys,
      text: isCountIssue(issue)
        ? issue.message
        : `${expectedOnly(issue.message)}, found ${describeValue(found, secret)}`,
    },
  ];
}

/** The keys that determine the kind of a server, in order of precedence. */
const KIND_KEYS: readonly string[] = ['command', 'server', 'baseUrl', 'url'];

/** A key of another kind of server: not a misspelling. */
function describeConflict(key: string, value: unknown): string | undefined {
  const kinds = isRecord(value) ? KIND_KEYS.filter((one) => value[one] !== undefined) : [];
  const first = kinds.find((one) => one !== key);
  if (!KIND_KEYS.includes(key) || first === undefined) return undefined;
  return `a server cannot have both "${first}" and "${key}" (remove one of them)`;
}

/** Included in `data`. */
const MAX_FAULTS = 50;
const MAX_REPORTED_FAULTS = 10;

/** The faults as one text, truncated if there are many. */
export function formatFaults(faults: readonly ConfigFault[], count = faults.length): string {
  const reported = faults.slice(0, MAX_REPORTED_FAULTS).map(({ path, text }) => `${path}: ${text}`);
  const omittedCount = count - reported.length;
  return [...reported, ...(omittedCount === 0 ? [] : [`and ${omittedCount} more`])].join('; ');
}

function invalid(server: string, faults: readonly ConfigFault[], count = faults.length): TurnbuckleError {
  const text = formatFaults(faults, count);
  return new TurnbuckleError('CONFIG_INVALID', `Invalid configuration for server "${server}": ${text}.`, {
    server,
    hint: 'Correct these keys. Other servers are not affected.',
    data: { problems: faults, ...(count > faults.length && { count }) },
  });
}

const didYouMean = (word: string | undefined): string =>
  word === undefined ? '' : ` (did you mean "${word}"?)`;

/** A description of an invalid value without possible secrets: contents of lists and objects, later words. */
function describeValue(value: unknown, secret = false): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  if (secret) return `a ${typeof value}`;
  // Only its beginning is shown.
  const [word = ''] = typeof value === 'string' ? value.trim().slice(0, 200).split(/\s/) : [];
  const short = typeof value === 'string' && word !== value.trim() ? `${word} …` : value;
  // A URL may contain a credential before the host or in the query.
  const json = (JSON.stringify(short) ?? String(short)).replace(
    /(:\/\/)(?:[^/@"]*@)?([^?"]*)(\?[^"]*)?/g,
    (_, ...[scheme, rest, query]: Array<string | undefined>) =>
      `${scheme}${rest}${query === undefined ? '' : '?[redacted]'}`,
  );
  return json.length > 80 ? `${json.slice(0, 77)}...` : json;
}
