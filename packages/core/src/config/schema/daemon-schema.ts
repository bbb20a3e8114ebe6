/** The settings of the daemon: in the user's or the administrator's file, never in a project's. */
import * as z from 'zod/mini';
import { ACCESS_SCHEMA } from './access-schema.js';
import { list, withMaxEntries } from './max-entries.js';
import { RULES_SCHEMA } from './rule-schema.js';

const DAY_MS = 24 * 3_600_000;

const short = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));
const names = list(short(256), 1_000);
const integer = (least: number, most: number) => z.number().check(z.int(), z.gte(least), z.lte(most));

const view = z.strictObject({
  /** Its servers; absent: all. */
  servers: z.optional(names),
  /** Its tools, by their original names; absent: all. */
  tools: z.optional(names),
  /** Tool names in this view: prefixed with the server's name, or the original ones where they are unique. */
  names: z.optional(z.enum(['prefixed', 'plain'])),
  /** Whether resources and prompts are offered as tools in this view; absent: as in the rest of the daemon. */
  resourceTools: z.optional(z.boolean()),
  /** The maximum capabilities of callers in this view, whatever their token has. */
  capabilities: z.optional(names),
  /** Additional rules: the stricter decision applies in this view, also to the owner. */
  rules: z.optional(RULES_SCHEMA),
});

const bridge = z.strictObject({
  /** Exact commands that may be started for a server that is named in a request. */
  commands: z.optional(
    list(withMaxEntries(200, z.array(short(4_096)).check(z.minLength(1), z.maxLength(200))), 200),
  ),
  /** URLs that every token may name in a request; the owner's may name any. */
  urls: z.optional(list(short(2_048), 200)),
  /** Maximum number of such servers at a time (50). */
  maxEndpoints: z.optional(integer(1, 1_000)),
});

const access = list(ACCESS_SCHEMA, 3);

const issuer = z.strictObject({
  /** The issuer of the authorization server. */
  url: short(2_048),
  /** The public URL of the daemon: the audience of tokens. */
  resource: short(2_048),
  /** The access that each scope grants; other scopes grant nothing. */
  scopes: withMaxEntries(
    1_000,
    z.record(short(256), z.strictObject({ access: z.optional(access), can: z.optional(names) })),
  ),
  /** The JWKS URL, if its metadata does not have it. */
  jwksUri: z.optional(short(2_048)),
});

const log = z.strictObject({
  /** False: nothing is recorded. */
  enabled: z.optional(z.boolean()),
  keepDays: z.optional(integer(1, 3_650)),
  maxMegabytes: z.optional(integer(1, 1_000_000)),
  /** True: a record is flushed to disk before its response is sent. */
  durable: z.optional(z.boolean()),
});

/** Levels of the operator's log, the most serious first. */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Limits of one daemon. */
const MAX_VIEWS = 200;

export const DAEMON_SCHEMA = z.strictObject({
  host: z.optional(short(256)),
  port: z.optional(integer(0, 65_535)),
  /** Host names of this machine besides the loopback ones. */
  hosts: z.optional(names),
  /** Allowed web pages: exact origins. */
  origins: z.optional(names),
  issuer: z.optional(issuer),
  bridge: z.optional(bridge),
  views: z.optional(
    withMaxEntries(MAX_VIEWS, z.record(z.string().check(z.regex(/^[a-z0-9][a-z0-9-]{0,63}$/)), view)),
  ),
  log: z.optional(log),
  /** The least serious messages of the operator's log (info). */
  logLevel: z.optional(z.enum(LOG_LEVELS)),
  /** Sessions of older clients end after this time without use. */
  sessionIdleMs: z.optional(integer(1_000, DAY_MS)),
  /** How long an agent's call waits for approval before its client gets instructions for it. */
  approvalWaitMs: z.optional(integer(1_000, 600_000)),
  /** The role of clients with forms in approvals: none, can see and deny, or can approve. */
  approvalForms: z.optional(z.enum(['off', 'inform', 'approve'])),
  /** The OTLP/HTTP endpoint for OpenTelemetry traces. */
  traces: z.optional(
    z.strictObject({
      endpoint: short(2_048),
      headers: z.optional(withMaxEntries(200, z.record(short(256), short(4_096)))),
    }),
  ),
});

export type DaemonSettings = z.output<typeof DAEMON_SCHEMA>;
