/**
 * The one declaration of what a server's configuration may be. Everything that crosses into the runtime
 * as configuration passes through `parse.ts`, which uses these schemas; the types are inferred.
 */
import { z } from 'zod';

const milliseconds = z
  .number()
  .int()
  .positive()
  .max(24 * 3_600_000);
const text = z.string().max(32_768);
const noControl = /^[^\p{Cc}\p{Cs}]*$/u;
const textMap = z.record(z.string().min(1).max(256).regex(noControl), text);

const reconnect = z.strictObject({
  initialMs: milliseconds.optional(),
  factor: z.number().min(1).max(10).optional(),
  maxMs: milliseconds.optional(),
  tries: z.number().int().min(0).max(100).optional(),
  probeMs: z
    .number()
    .int()
    .min(0)
    .max(24 * 3_600_000)
    .optional(),
  jitter: z.number().min(0).max(1).optional(),
});

const shared = {
  description: text.optional(),
  /** False: not started at start-up; a live one is kept and its tools are hidden. */
  enabled: z.boolean().default(true),
  start: z.enum(['eager', 'lazy']).default('eager'),
  /** True: what its tools say about themselves (annotations) may lower the guard. */
  trusted: z.boolean().default(false),
  /** Capabilities that a caller needs beyond the one for the server or tool. */
  requires: z.array(z.string().min(1).max(256)).max(50).default([]),
  era: z.enum(['auto', 'legacy', 'modern']).default('auto'),
  scope: z.enum(['project', 'user', 'local', 'managed', 'claudeai']).default('user'),
  connectTimeoutMs: milliseconds.default(10_000),
  listTimeoutMs: milliseconds.default(15_000),
  /** Longest silence in a call: a progress notification starts it anew. */
  callTimeoutMs: milliseconds.default(60_000),
  /** Longest duration of a call, whatever progress it reports. */
  maxCallMs: milliseconds.default(600_000),
  /** Only these tools of it, by their own names. */
  includeTools: z.array(text).max(10_000).optional(),
  /** All but these. */
  excludeTools: z.array(text).max(10_000).default([]),
  maxInFlight: z.number().int().min(1).max(10_000).default(64),
  pingMs: z
    .number()
    .int()
    .min(0)
    .max(24 * 3_600_000)
    .default(30_000),
  reconnect: reconnect.default({}),
};

/** An address, or one with a placeholder in it, which is looked at again when it has been filled in. */
const address = (protocol: RegExp, expected: string) =>
  z
    .string()
    .max(8_192)
    .refine(
      (value) => value.includes('${') || (URL.canParse(value) && protocol.test(new URL(value).protocol)),
      expected,
    );

const httpUrl = address(/^https?:$/, 'expected an http:// or https:// address');
const headers = textMap.default({});

const stdio = z.strictObject({
  ...shared,
  type: z.literal('stdio'),
  command: z.string().min(1).max(4_096).regex(noControl),
  args: z.array(text).max(1_000).default([]),
  env: textMap.default({}),
  /** Names of variables of the host that this server's process may see beyond the standard few. */
  inheritEnv: z.array(z.string().min(1).max(256)).max(200).default([]),
  cwd: z.string().min(1).max(4_096).optional(),
});

const http = z.strictObject({ ...shared, type: z.literal('http'), url: httpUrl, headers });
const sse = z.strictObject({ ...shared, type: z.literal('sse'), url: httpUrl, headers });

const websocket = z.strictObject({
  ...shared,
  type: z.literal('websocket'),
  url: address(/^wss?:$/, 'expected a ws:// or wss:// address'),
  headers,
});

/** What `in-process` accepts: an SDK server, a function that makes one, or a fetch-style MCP endpoint. */
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
    error: 'expected an MCP server object, a function that makes one, or an object with fetch(request)',
  }),
});

const proxy = z.strictObject({
  ...shared,
  type: z.literal('proxy'),
  baseUrl: httpUrl,
  id: z
    .string()
    .min(1)
    .max(256)
    .regex(/^([\w.-]|\$\{[^}]*\})+$/, 'expected letters, digits, dots, dashes and underscores'),
  /** The proxy's credential, sent as a bearer token; the proxy adds the server's own. */
  token: text.optional(),
  headers,
});

export const SERVER_SCHEMAS = { stdio, http, sse, websocket, 'in-process': inProcess, proxy } as const;

export type TransportType = keyof typeof SERVER_SCHEMAS;

export const TRANSPORT_TYPES = Object.keys(SERVER_SCHEMAS) as readonly TransportType[];

/** Other spellings of a transport's name that people write. */
export const TRANSPORT_ALIASES: Readonly<Record<string, TransportType>> = {
  'streamable-http': 'http',
  streamableHttp: 'http',
  streamable_http: 'http',
  ws: 'websocket',
  sdk: 'in-process',
  'claudeai-proxy': 'proxy',
};

export type StdioServer = z.output<typeof stdio>;
export type HttpServer = z.output<typeof http>;
export type SseServer = z.output<typeof sse>;
export type WebSocketServer = z.output<typeof websocket>;
export type InProcessServer = z.output<typeof inProcess>;
export type ProxyServer = z.output<typeof proxy>;

/** A server's configuration after validation: defaults filled in, spellings unified. */
export type ServerConfig =
  | StdioServer
  | HttpServer
  | SseServer
  | WebSocketServer
  | InProcessServer
  | ProxyServer;

type Loose<T> = T extends unknown ? Omit<T, 'type'> & { readonly type?: string } : never;

/** What a user may write for one server. */
export type ServerInput = Loose<
  | z.input<typeof stdio>
  | z.input<typeof http>
  | z.input<typeof sse>
  | z.input<typeof websocket>
  | z.input<typeof inProcess>
  | z.input<typeof proxy>
>;

/** Servers as a map by name, or as a list whose entries carry their name. */
export type ServersInput =
  | Readonly<Record<string, ServerInput>>
  | readonly (ServerInput & { readonly name?: string; readonly id?: string })[];
