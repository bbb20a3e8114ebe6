/**
 * The schema of a server's configuration. All configuration passes through `parse.ts`, which uses these schemas; the
 * types are inferred.
 */
import * as z from 'zod/mini';
import { AUTH_SCHEMA } from './auth-schema.js';
import { credentialsBy } from './credentials-schema.js';
import { isCountIssue, list, withMaxEntries } from './max-entries.js';
import { integer } from './numbers.js';
import { SANDBOX_SCHEMA } from './sandbox-schema.js';

const DAY_MS = 24 * 3_600_000;

const fraction = (least: number, most: number) => z.number().check(z.gte(least), z.lte(most));
const milliseconds = integer(1, DAY_MS);
/** Processes and headers cannot have a NUL; Node's own error would repeat the value, which may be a secret. */
const text = z.string().check(
  z.maxLength(32_768),
  z.refine((value) => !value.includes('\0'), 'expected a string without a NUL character'),
);
const short = z.string().check(z.minLength(1), z.maxLength(256));
const noControl = /^[^\p{Cc}\p{Cs}]*$/u;
/** Limits per server. */
const MAX_MEMBERS = 1_000;
const textMap = withMaxEntries(MAX_MEMBERS, z.record(short.check(z.regex(noControl)), text));

const reconnect = z.strictObject({
  initialMs: z.optional(milliseconds),
  factor: z.optional(fraction(1, 10)),
  maxMs: z.optional(milliseconds),
  tries: z.optional(integer(0, 100)),
  probeMs: z.optional(integer(0, DAY_MS)),
  jitter: z.optional(fraction(0, 1)),
});

/** Requests that a server may send to the host. */
const mayAsk = list(z.enum(['elicitation', 'sampling', 'roots']), 3);

/** What a call brings into a run, or takes out of it. */
const label = z.enum(['untrusted', 'private', 'outbound', 'destructive']);
const labelList = list(label, 4);

/** The same list for everything, or lists by globs of names. */
const listOrMap = <List extends z.ZodMiniType>(values: List, expected: string) =>
  z.union([values, withMaxEntries(MAX_MEMBERS, z.record(short, values))], {
    error: (issue) => {
      const errors = issue.code === 'invalid_union' ? issue.errors : [];
      const first = errors.at(Array.isArray(issue.input) ? 0 : -1)?.[0];
      return first !== undefined && first.path.length === 0 && isCountIssue(first)
        ? first.message
        : `expected a list of ${expected}, or a map from tool names to such lists`;
    },
  });

const labels = listOrMap(labelList, '"untrusted", "private", "outbound" or "destructive"');
const requires = listOrMap(list(short, 50), 'at most 50 capabilities');

/** Keys that `defaults` can set for all servers: none names one server, and none is a guard. */
const defaultable = {
  start: z.enum(['eager', 'lazy']),
  connectTimeoutMs: milliseconds,
  listTimeoutMs: milliseconds,
  /** How long a list of tools, resources or prompts is fresh. 0: until the server reports a change. */
  listTtlMs: integer(0, DAY_MS),
  /** Maximum silence in a call; a progress notification resets it. */
  callTimeoutMs: milliseconds,
  /** Maximum duration of a call, whatever its progress. */
  maxCallMs: milliseconds,
  maxInFlight: integer(1, 10_000),
  /** Who shares a connection: all callers, or each agent or session has its own. */
  share: z.enum(['shared', 'agent', 'session']),
  /** Closed after this time without use, and reopened by the next call. 0: never. Absent: 5 minutes if not shared. */
  idleMs: integer(0, DAY_MS),
  pingMs: integer(0, DAY_MS),
  reconnect,
};

export const DEFAULTS_SCHEMA = z.partial(z.strictObject(defaultable));

export const DEFAULTABLE_KEYS = Object.keys(defaultable) as ReadonlyArray<keyof typeof defaultable>;

const shared = {
  description: z.optional(text),
  /** False: not connected at startup; an open connection is kept and its tools are hidden. */
  enabled: z._default(z.boolean(), true),
  start: z._default(defaultable.start, 'eager'),
  /** True: the annotations of its tools may lower the guard. */
  trusted: z._default(z.boolean(), false),
  /**
   * Which requests it may send to the host, if there is a handler. Absent: in a file none, in code all with a
   * handler.
   */
  mayAsk: z.optional(mayAsk),
  /** Labels of its tools: for all, or by globs of their names. */
  labels: z.optional(labels),
  /** True: its results are redacted. */
  redactResults: z._default(z.boolean(), false),
  /** Capabilities that a caller needs besides the one for the server or tool: for all, or by globs of names. */
  requires: z._default(requires, []),
  era: z._default(z.enum(['auto', 'legacy', 'modern']), 'auto'),
  scope: z._default(z.enum(['project', 'user', 'local', 'managed', 'claudeai']), 'user'),
  connectTimeoutMs: z._default(defaultable.connectTimeoutMs, 10_000),
  listTimeoutMs: z._default(defaultable.listTimeoutMs, 15_000),
  /** Absent: as long as the server says. */
  listTtlMs: z.optional(defaultable.listTtlMs),
  callTimeoutMs: z._default(defaultable.callTimeoutMs, 60_000),
  maxCallMs: z._default(defaultable.maxCallMs, 600_000),
  /** Only these tools, by their original names. */
  includeTools: z.optional(list(text, 10_000)),
  /** All tools except these. */
  excludeTools: z._default(list(text, 10_000), []),
  maxInFlight: z._default(defaultable.maxInFlight, 64),
  share: z._default(defaultable.share, 'shared'),
  idleMs: z.optional(defaultable.idleMs),
  pingMs: z._default(defaultable.pingMs, 30_000),
  reconnect: z._default(defaultable.reconnect, {}),
};

/** Keys that a file of higher precedence may override without repeating the entry. */
export const ADJUSTABLE_KEYS = [
  'enabled',
  'description',
  'includeTools',
  'excludeTools',
  'requires',
  'mayAsk',
  ...DEFAULTABLE_KEYS,
] as const satisfies ReadonlyArray<keyof typeof shared>;

/** A URL, or one with a placeholder, which is validated again after filling in. */
const address = (pattern: RegExp, expected: string) =>
  z.string().check(
    z.maxLength(8_192),
    z.regex(pattern, { error: expected, abort: true }),
    z.refine((value) => value.includes('${') || URL.canParse(value), expected),
  );

// Without flags: JSON Schema does not support them.
const httpUrl = address(/^[hH][tT][tT][pP][sS]?:|\$\{/, 'expected an http:// or https:// URL');
const auth = z.optional(AUTH_SCHEMA);
const path = z.string().check(z.minLength(1), z.maxLength(4_096), z.regex(noControl));

const stdio = z.strictObject({
  ...shared,
  type: z.literal('stdio'),
  command: path,
  args: z._default(list(text, 1_000), []),
  env: z._default(textMap, {}),
  /** Variables of one caller, merged over `env`. */
  credentials: credentialsBy(z.strictObject({ env: z.optional(textMap) })),
  /** Environment variables of the host that the process of this server inherits besides the default ones. */
  inheritEnv: z._default(list(short, 200), []),
  cwd: z.optional(path),
  /** What its process can access. If that cannot be enforced, the server is not started. */
  sandbox: z.optional(SANDBOX_SCHEMA),
  /** True: detached processes that it started (a daemon, an editor) are ended with it. */
  endDetached: z.optional(z.boolean()),
});

const remote = {
  headers: z._default(textMap, {}),
  auth,
  /** Headers of one caller, merged over `headers`, and an `auth` that replaces that of the server. */
  credentials: credentialsBy(z.strictObject({ headers: z.optional(textMap), auth })),
};

const http = z.strictObject({ ...shared, type: z.literal('http'), url: httpUrl, ...remote });
const sse = z.strictObject({ ...shared, type: z.literal('sse'), url: httpUrl, ...remote });

const websocket = z.strictObject({
  ...shared,
  type: z.literal('websocket'),
  url: address(/^[wW][sS][sS]?:|\$\{/, 'expected a ws:// or wss:// URL'),
  ...remote,
});

/** What `in-process` accepts: an SDK server, a function that returns one, or a fetch-style MCP endpoint. */
export type InProcessTarget =
  | { connect(transport: never): Promise<void> }
  | { fetch(request: Request): Promise<Response> }
  | (() =>
      | { connect(transport: never): Promise<void> }
      | Promise<{ connect(transport: never): Promise<void> }>);

const isInProcessTarget = (value: unknown): value is InProcessTarget =>
  typeof value === 'function' ||
  (typeof value === 'object' &&
    value !== null &&
    (typeof Reflect.get(value, 'connect') === 'function' ||
      typeof Reflect.get(value, 'fetch') === 'function'));

const inProcess = z.strictObject({
  ...shared,
  type: z.literal('in-process'),
  server: z.custom<InProcessTarget>(isInProcessTarget, {
    error: 'expected an MCP server object, a function that returns one, or an object with fetch(request)',
  }),
});

const proxy = z.strictObject({
  ...shared,
  type: z.literal('proxy'),
  baseUrl: httpUrl,
  id: short.check(
    z.regex(/^([\w.-]|\$\{[^}]*\})+$/, 'expected only letters, digits, dots, dashes and underscores'),
  ),
  /** The proxy's credential, sent as a bearer token; the proxy adds that of the server. */
  token: z.optional(text),
  headers: z._default(textMap, {}),
  /** The same for one caller: its headers are merged over `headers`. */
  credentials: credentialsBy(z.strictObject({ token: z.optional(text), headers: z.optional(textMap) })),
});

export const SERVER_SCHEMAS = { stdio, http, sse, websocket, 'in-process': inProcess, proxy } as const;

/** The keys of an entry that only overrides. */
export const ADJUSTMENT_SCHEMA = z.partial(
  z.strictObject(Object.fromEntries(ADJUSTABLE_KEYS.map((key) => [key, shared[key]]))),
);

/** What `defaults` sets for servers that leave it out. */
export type ServerDefaults = z.output<typeof DEFAULTS_SCHEMA>;

export type RequestKind = z.output<typeof mayAsk>[number];

export type Label = z.output<typeof label>;

export type TransportType = keyof typeof SERVER_SCHEMAS;

export const TRANSPORT_TYPES = Object.keys(SERVER_SCHEMAS) as readonly TransportType[];

/** Alternative spellings of transport names. */
export const TRANSPORT_ALIASES: Readonly<Record<string, TransportType>> = {
  'streamable-http': 'http',
  streamableHttp: 'http',
  streamable_http: 'http',
  ws: 'websocket',
  sdk: 'in-process',
  'claudeai-proxy': 'proxy',
};

/** The keys of each transport. */
export function namesOfTransport(type: TransportType | undefined): string[] {
  const others = Object.keys(TRANSPORT_ALIASES).filter((alias) => TRANSPORT_ALIASES[alias] === type);
  return type === undefined ? others : [type, ...others];
}

export type StdioServer = z.output<typeof stdio>;
export type HttpServer = z.output<typeof http>;
export type SseServer = z.output<typeof sse>;
export type WebSocketServer = z.output<typeof websocket>;
export type InProcessServer = z.output<typeof inProcess>;
export type ProxyServer = z.output<typeof proxy>;

/** A validated server configuration: with defaults and unified spellings. */
export type ServerConfig =
  | StdioServer
  | HttpServer
  | SseServer
  | WebSocketServer
  | InProcessServer
  | ProxyServer;

/** Used for connections that are not shared, if `idleMs` is absent. */
const DEFAULT_IDLE_MS = 300_000;

/** After how much time without use a connection is closed. 0: never. */
export const idleTimeOf = ({ idleMs, share }: Pick<ServerConfig, 'idleMs' | 'share'>): number =>
  idleMs ?? (share === 'shared' ? 0 : DEFAULT_IDLE_MS);

type Loose<T> = T extends unknown
  ? Omit<T, 'type'> & { readonly type?: string; readonly transport?: string }
  : never;

/** The configuration of one server as users write it. */
export type ServerInput = Loose<
  | z.input<typeof stdio>
  | z.input<typeof http>
  | z.input<typeof sse>
  | z.input<typeof websocket>
  | z.input<typeof inProcess>
  | z.input<typeof proxy>
  | (Omit<z.input<typeof proxy>, 'baseUrl'> & { readonly url: string; readonly auth?: never })
>;

/** Servers as a map by name, or as a list whose entries carry their name. */
export type ServersInput =
  | Readonly<Record<string, ServerInput>>
  | readonly (ServerInput & { readonly name?: string; readonly id?: string })[];
