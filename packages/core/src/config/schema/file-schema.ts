/** What stands beside the servers in a configuration file. The servers themselves are in schema.ts. */
import * as z from 'zod/mini';
import { counted, list } from './counted.js';
import { DAEMON_SCHEMA } from './daemon-schema.js';
import { FLOWS_SCHEMA, PINS_SCHEMA, RULES_SCHEMA } from './rule-schema.js';

const short = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));

const input = z.strictObject({
  id: short(128),
  type: z._default(z.enum(['promptString', 'pickString']), 'promptString'),
  description: z.optional(z.string().check(z.maxLength(1_000))),
  password: z._default(z.boolean(), false),
  default: z.optional(z.string().check(z.maxLength(4_096))),
  options: z.optional(list(z.string(), 200)),
});

/** Keys that any file may have. */
const common = {
  $schema: z.optional(z.string()),
  inputs: z.optional(list(input, 200)),
  naming: z.optional(z.enum(['mcp__server__tool', 'mcp_server_tool', 'server_tool'])),
  describePrefix: z.optional(z.boolean()),
  subAgentEnabled: z.optional(z.boolean()),
  /** Who may call what; read one by one in read-rules.ts. A project's may only ask and deny. */
  rules: z.optional(RULES_SCHEMA),
};

/** Keys that lower a guard or reach further: a project cannot set them for its user. */
const privileged = {
  /** False: agents' calls are not asked for. */
  toolApprovalRequired: z.optional(z.boolean()),
  /** Which tools are held to the definition that was approved. */
  pins: z.optional(PINS_SCHEMA),
  /** What becomes of a call by which a run could carry private data out for a stranger. */
  flows: z.optional(FLOWS_SCHEMA),
  autoDiscoveryEnabled: z.optional(z.boolean()),
  /** What becomes of a project's server when a file that its command names has changed: `ask` (the default) or `warn`. */
  changedScripts: z.optional(z.enum(['ask', 'warn'])),
  /** How the daemon runs. */
  daemon: z.optional(DAEMON_SCHEMA),
  /** The command that prints a secret; `{name}` in it is the name. For example ["op", "read", "op://dev/{name}"]. */
  secretCommand: z.optional(counted(50, z.array(short(4_096)).check(z.minLength(1), z.maxLength(50)))),
};

/** What a project may set only to raise the guard; load.ts sees to it that it does. */
const tightening = {
  flows: z.optional(z.enum(['ask', 'deny'], { error: `a project's file may only say "ask" or "deny"` })),
};

const managed = {
  /** Servers that may not be used: names, or patterns with `*`. */
  forbid: z.optional(list(short(256), 1_000)),
  /** If present, only these may be used. */
  allowOnly: z.optional(list(short(256), 1_000)),
};

export const FILE_SCHEMAS = {
  project: z.strictObject({ ...common, ...tightening }),
  user: z.strictObject({ ...common, ...privileged }),
  managed: z.strictObject({ ...common, ...privileged, ...managed }),
} as const;

/** Keys of a file that hold servers, in the spellings that are understood. */
export const SERVER_KEYS = ['servers', 'mcpServers'] as const;

export type InputDeclaration = z.output<typeof input>;
export type FileSettings = z.output<typeof FILE_SCHEMAS.managed>;
export type SettingName = Exclude<keyof FileSettings, '$schema'>;
