/**
 * From what somebody wrote to validated servers: one bad entry is a problem with its key path, value and
 * what was expected; the rest of the entries are still good.
 */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { isSecretName } from '../text/secret-names.js';
import { isWhole } from './counted.js';
import { describeIssue as describeFault, expectedOnly, unknownKey, unknownKeyIn } from './issue-text.js';
import { nearest } from './nearest.js';
import {
  SERVER_SCHEMAS,
  type ServerConfig,
  TRANSPORT_ALIASES,
  TRANSPORT_TYPES,
  type TransportType,
} from './schema.js';

export interface ParsedServers {
  readonly servers: ReadonlyMap<string, ServerConfig>;
  /** An error for each entry that was refused. A name that is a server too goes on as it was before. */
  readonly problems: ReadonlyMap<string, TurnbuckleError>;
  /** What else decides what becomes of a server, as a text: with another one it is another server. */
  readonly surroundings?: ReadonlyMap<string, string>;
}

/** Never throws: what cannot be used is in `problems`, under the entry's name or position. */
export function parseServers(input: unknown): ParsedServers {
  const servers = new Map<string, ServerConfig>();
  const problems = new Map<string, TurnbuckleError>();
  for (const [key, name, value] of entries(input, problems)) {
    try {
      if (servers.has(name) || problems.has(name))
        throw invalid(name, [{ path: key, text: `the name "${name}" is used twice` }]);
      servers.set(name, parseServer(name, value, key));
    } catch (error) {
      if (!(error instanceof TurnbuckleError)) throw error;
      problems.set(servers.has(name) ? `${name} (${key})` : name, error);
    }
  }
  return { servers, problems };
}

/** One server, or a CONFIG_INVALID error that names every wrong key. */
export function parseServer(name: string, value: unknown, path = `servers.${name}`): ServerConfig {
  const nameProblem = checkName(name);
  if (nameProblem !== undefined) throw invalid(name, [{ path, text: nameProblem }]);
  if (!isRecord(value)) throw invalid(name, [{ path, text: `expected an object, found ${show(value)}` }]);
  const type = transportOf(name, value, path);
  const parsed = SERVER_SCHEMAS[type].safeParse(
    { ...patience(value), ...value, type },
    { error: describeFault },
  );
  if (parsed.success) return parsed.data;
  const known = Object.keys(SERVER_SCHEMAS[type].shape);
  throw invalid(name, ...describeIssues(parsed.error.issues, { value, path, known }));
}

/** Programs that may fetch a package before the server even starts. */
const LAUNCHERS = /(^|[\\/])(npx|npm|pnpm|pnpx|yarn|bunx|bun|uvx|uv|pipx|docker|podman|deno)(\.(cmd|exe))?$/;
const LAUNCHER_PATIENCE_MS = 60_000;

function patience({ command }: Record<string, unknown>): { connectTimeoutMs?: number } {
  return typeof command === 'string' && LAUNCHERS.test(command)
    ? { connectTimeoutMs: LAUNCHER_PATIENCE_MS }
    : {};
}

type Entry = readonly [key: string, name: string, value: unknown];

function entries(input: unknown, problems: Map<string, TurnbuckleError>): Entry[] {
  if (Array.isArray(input))
    return input.flatMap((value: unknown, index) => namedEntry(value, `servers[${index}]`, problems));
  if (isRecord(input)) return Object.entries(input).map(([name, value]) => [`servers.${name}`, name, value]);
  problems.set(
    'servers',
    invalid('servers', [
      { path: 'servers', text: `expected a map or a list of servers, found ${show(input)}` },
    ]),
  );
  return [];
}

function namedEntry(value: unknown, key: string, problems: Map<string, TurnbuckleError>): Entry[] {
  if (!isRecord(value)) {
    problems.set(key, invalid(key, [{ path: key, text: `expected an object, found ${show(value)}` }]));
    return [];
  }
  // A hosted-proxy entry has an `id` of its own, so its name can only be `name`.
  const { name, ...rest } = value;
  if (typeof name === 'string') return [[key, name, rest]];
  const { id, ...withoutId } = rest;
  if (typeof id === 'string') return [[key, id, withoutId]];
  problems.set(
    key,
    invalid(key, [{ path: `${key}.name`, text: `expected the server's name, found ${show(name ?? id)}` }]),
  );
  return [];
}

function checkName(name: string): string | undefined {
  if (name === 'native') return 'the name "native" is kept for the functions of the host';
  if (name.trim() === '' || name !== name.trim()) return 'a server needs a name without spaces around it';
  if (name.length > 128) return `a server's name has at most 128 characters, this one has ${name.length}`;
  if (/[\p{Cc}\p{Cs}\p{Cf}]/u.test(name)) return "a server's name has no control or invisible characters";
  return undefined;
}

function transportOf(name: string, value: Record<string, unknown>, path: string): TransportType {
  const { type, command, url, server, baseUrl } = value;
  if (typeof type === 'string') {
    const unified = Object.hasOwn(TRANSPORT_ALIASES, type) ? TRANSPORT_ALIASES[type] : type;
    const known = TRANSPORT_TYPES.find((one) => one === unified);
    if (known !== undefined) return known;
    const names = [...Object.keys(SERVER_SCHEMAS), ...Object.keys(TRANSPORT_ALIASES)];
    throw invalid(name, [
      {
        path: `${path}.type`,
        text: `unknown transport ${show(type)}${meant(nearest(type, names))}`,
        keys: ['type'],
      },
    ]);
  }
  if (type !== undefined)
    throw invalid(name, [
      { path: `${path}.type`, text: `expected a transport's name, found ${show(type)}`, keys: ['type'] },
    ]);
  if (command !== undefined) return 'stdio';
  if (server !== undefined) return 'in-process';
  if (baseUrl !== undefined) return 'proxy';
  if (typeof url === 'string') return /^wss?:/i.test(url) ? 'websocket' : 'http';
  if (url !== undefined) return 'http';
  const close = Object.keys(value)
    .slice(0, MAX_FAULTS)
    .flatMap((key) => {
      const meantKey = nearest(key, ['command', 'url', 'type', 'server', 'baseUrl']);
      return meantKey === undefined ? [] : [`"${key}" may be meant as "${meantKey}"`];
    });
  const guess = close.length === 0 ? '' : `; ${close.join(', ')}`;
  throw invalid(name, [
    { path, text: `has neither "command" (a local server) nor "url" (a remote one)${guess}` },
  ]);
}

/** One thing that is wrong, and where: for people as a path, for programs as keys below the server. */
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

/** Keys whose values may be secrets: an error tells their type only. */
const SECRET_KEYS = new Set<PropertyKey>(['env', 'headers', 'args']);

interface IssuesOf {
  readonly value: unknown;
  readonly path: string;
  readonly known: readonly string[];
}

/** The first faults, and how many there are in all. */
function describeIssues(
  issues: readonly Issue[],
  { value, path, known }: IssuesOf,
): [faults: ConfigFault[], count: number] {
  const faults: ConfigFault[] = [];
  let count = 0;
  for (const issue of issues) {
    const { keys } = issue;
    count += keys?.length ?? 1;
    if (faults.length >= MAX_FAULTS) continue;
    const first = keys === undefined ? issue : { ...issue, keys: keys.slice(0, MAX_FAULTS) };
    faults.push(...describeIssue(first, value, path, known));
  }
  return [faults, count];
}

function describeIssue(issue: Issue, value: unknown, path: string, known: readonly string[]): ConfigFault[] {
  const at = keyPath(path, issue.path);
  if (issue.code === 'unrecognized_keys' && issue.keys !== undefined) {
    return issue.keys.map((key, index) => ({
      path: `${at}.${key}`,
      text:
        issue.path.length > 0
          ? unknownKeyIn(issue.message, index, key)
          : (bothKinds(key, value) ?? unknownKey(key, known)),
      keys: [...issue.path, key],
    }));
  }
  const found = issue.path.reduce<unknown>(
    (part, key) => (isRecord(part) || Array.isArray(part) ? Reflect.get(part, key) : undefined),
    value,
  );
  const secret =
    issue.path.some((part) => SECRET_KEYS.has(part)) || isSecretName(String(issue.path.at(-1) ?? ''));
  return [
    {
      path: at,
      keys: issue.path,
      text: isWhole(issue) ? issue.message : `${expectedOnly(issue.message)}, found ${show(found, secret)}`,
    },
  ];
}

/** What makes a server one of its kind, in the order in which they count. */
const KIND_KEYS: readonly string[] = ['command', 'server', 'baseUrl', 'url'];

/** A key that belongs to another kind of server than the one that it is: no typing mistake. */
function bothKinds(key: string, value: unknown): string | undefined {
  const kinds = isRecord(value) ? KIND_KEYS.filter((one) => value[one] !== undefined) : [];
  const first = kinds.find((one) => one !== key);
  if (!KIND_KEYS.includes(key) || first === undefined) return undefined;
  return `a server has "${first}" or "${key}", not both: take one of them out`;
}

/** Kept for programs. */
const MAX_FAULTS = 50;
const MAX_TOLD = 10;

/** The faults as one text, the first ones if there are very many. */
export function tellFaults(faults: readonly ConfigFault[], count = faults.length): string {
  const told = faults.slice(0, MAX_TOLD).map(({ path, text }) => `${path}: ${text}`);
  const untold = count - told.length;
  return [...told, ...(untold === 0 ? [] : [`and ${untold} more`])].join('; ');
}

function invalid(server: string, faults: readonly ConfigFault[], count = faults.length): TurnbuckleError {
  const text = tellFaults(faults, count);
  return new TurnbuckleError(
    'CONFIG_INVALID',
    `The configuration of server "${server}" cannot be used: ${text}.`,
    {
      server,
      hint: 'Correct the named keys. The other servers are not affected.',
      data: { problems: faults, ...(count > faults.length && { count }) },
    },
  );
}

const meant = (word: string | undefined): string => (word === undefined ? '' : ` (did you mean "${word}"?)`);

/** What a mistake looks like, without what may be a secret: the inside of lists and objects, later words. */
function show(value: unknown, secret = false): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  if (secret) return `a ${typeof value}`;
  // Its beginning is all that is shown.
  const [word = ''] = typeof value === 'string' ? value.trim().slice(0, 200).split(/\s/) : [];
  const short = typeof value === 'string' && word !== value.trim() ? `${word} …` : value;
  // An address may carry a credential before its host or in its query.
  const json = (JSON.stringify(short) ?? String(short)).replace(
    /(:\/\/)(?:[^/@"]*@)?([^?"]*)(\?[^"]*)?/g,
    (_, scheme: string, rest: string, query?: string) =>
      `${scheme}${rest}${query === undefined ? '' : '?[redacted]'}`,
  );
  return json.length > 80 ? `${json.slice(0, 77)}...` : json;
}
