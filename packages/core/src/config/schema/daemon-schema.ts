/** How the daemon runs: a user's own matter, or the administrator's; never a project's. */
import * as z from 'zod/mini';
import { counted, list } from './counted.js';
import { RULES_SCHEMA } from './rule-schema.js';

const DAY_MS = 24 * 3_600_000;

const short = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));
const names = list(short(256), 1_000);
const whole = (least: number, most: number) => z.number().check(z.int(), z.gte(least), z.lte(most));

const view = z.strictObject({
  /** The servers in it; absent: all. */
  servers: z.optional(names),
  /** Their tools in it, by the names at their servers; absent: all. */
  tools: z.optional(names),
  /** How tools are called here: with their server's name, or as their server calls them where that is unique. */
  names: z.optional(z.enum(['prefixed', 'plain'])),
  /** Callers have no more than these capabilities here, whatever their token says. */
  capabilities: z.optional(names),
  /** Rules beside the ordinary ones: the stricter of the two decisions holds here, for the owner too. */
  rules: z.optional(RULES_SCHEMA),
});

const bridge = z.strictObject({
  /** Commands, word for word, that may be started for an endpoint that is given in a request. */
  commands: z.optional(
    list(counted(200, z.array(short(4_096)).check(z.minLength(1), z.maxLength(200))), 200),
  ),
  /** Addresses that every token may name in a request; the owner's may name any. */
  urls: z.optional(list(short(2_048), 200)),
  /** How many such endpoints may be open at once (50). */
  maxEndpoints: z.optional(whole(1, 1_000)),
});

const access = list(z.enum(['call', 'look', 'manage']), 3);

const issuer = z.strictObject({
  /** The authorization server, as it names itself. */
  url: short(2_048),
  /** The address of the daemon as clients know it: whom the tokens must be for. */
  resource: short(2_048),
  /** For each scope what it is good for; others are good for nothing. */
  scopes: counted(
    1_000,
    z.record(short(256), z.strictObject({ access: z.optional(access), can: z.optional(names) })),
  ),
  /** Where its keys are, if its metadata do not say. */
  jwksUri: z.optional(short(2_048)),
});

const log = z.strictObject({
  /** False: nothing is recorded. */
  enabled: z.optional(z.boolean()),
  keepDays: z.optional(whole(1, 3_650)),
  maxMegabytes: z.optional(whole(1, 1_000_000)),
  /** True: a record is on the disk, not only with the kernel, before its answer leaves. */
  durable: z.optional(z.boolean()),
});

/** Of one daemon. */
const MAX_VIEWS = 200;

export const DAEMON_SCHEMA = z.strictObject({
  host: z.optional(short(256)),
  port: z.optional(whole(0, 65_535)),
  /** Names by which this machine may be addressed, beyond the loopback ones. */
  hosts: z.optional(names),
  /** Web pages that may use it: exact origins. */
  origins: z.optional(names),
  issuer: z.optional(issuer),
  bridge: z.optional(bridge),
  views: z.optional(
    counted(MAX_VIEWS, z.record(z.string().check(z.regex(/^[a-z0-9][a-z0-9-]{0,63}$/)), view)),
  ),
  log: z.optional(log),
  /** Sessions of older clients end when unused for so long. */
  sessionIdleMs: z.optional(whole(1_000, DAY_MS)),
  /** How long an agent's call waits for its approval before its client is told how to give it. */
  approvalWaitMs: z.optional(whole(1_000, 600_000)),
  /** What clients that can show forms are for an approval: nothing, told of it and able to refuse, or able to give it. */
  approvalForms: z.optional(z.enum(['off', 'inform', 'approve'])),
  /** Where OpenTelemetry traces are sent (OTLP over HTTP). */
  traces: z.optional(
    z.strictObject({
      endpoint: short(2_048),
      headers: z.optional(counted(200, z.record(short(256), short(4_096)))),
    }),
  ),
});

export type DaemonSettings = z.output<typeof DAEMON_SCHEMA>;
