/** The settings of a configuration file besides the servers. The servers are in schema.ts. */
import * as z from 'zod/mini';
import { AGENT_SCHEMA } from './agent-schema.js';
import { DAEMON_SCHEMA } from './daemon-schema.js';
import { ENERGY_SCHEMA } from './energy-schema.js';
import { LIMITS_SCHEMA } from './limits-schema.js';
import { list, withMaxEntries } from './max-entries.js';
import { FLOWS_SCHEMA, PINS_SCHEMA, RULES_SCHEMA } from './rule-schema.js';
import { DEFAULTS_SCHEMA } from './schema.js';
import { STEWARD_SCHEMA } from './steward-schema.js';

const short = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));

const input = z.strictObject({
  id: short(128),
  type: z._default(z.enum(['promptString', 'pickString']), 'promptString'),
  description: z.optional(z.string().check(z.maxLength(1_000))),
  password: z._default(z.boolean(), false),
  default: z.optional(z.string().check(z.maxLength(4_096))),
  options: z.optional(list(z.string(), 200)),
});

/** Keys for any file. */
const common = {
  $schema: z.optional(z.string()),
  inputs: z.optional(list(input, 200)),
  naming: z.optional(z.enum(['mcp__server__tool', 'mcp_server_tool', 'server_tool'])),
  describePrefix: z.optional(z.boolean()),
  /** Offers resources and prompts as tools too. They show a caller only what it may see. */
  resourceTools: z.optional(z.boolean()),
  /** Rules; read one by one in read-rules.ts. A project can only ask and deny. */
  rules: z.optional(RULES_SCHEMA),
};

/** Keys that relax a guard or have a wider effect: a project cannot set them, or only as in `tightening`. */
const privileged = {
  /** False: agent calls do not require approval. */
  toolApprovalRequired: z.optional(z.boolean()),
  /** Which tools are pinned to their approved definition. */
  pins: z.optional(PINS_SCHEMA),
  /** What to do with a call that could leak private data of a run. */
  flows: z.optional(FLOWS_SCHEMA),
  /** False: the steward is off. */
  subAgentEnabled: z.optional(z.boolean()),
  autoDiscoveryEnabled: z.optional(z.boolean()),
  /** What to do with a project server when a file in its command changed: `ask` (default) or `warn`. */
  changedScripts: z.optional(z.enum(['ask', 'warn'])),
  /** Values for keys that a server does not set. */
  defaults: z.optional(DEFAULTS_SCHEMA),
  /** Limits of the runtime, for all servers together. */
  limits: z.optional(LIMITS_SCHEMA),
  /** What calls cost, and the budgets of runs, callers and servers. */
  energy: z.optional(ENERGY_SCHEMA),
  /** The agent that runs in the daemon. */
  agent: z.optional(AGENT_SCHEMA),
  /** Where the steward looks for servers, and what it may install. */
  steward: z.optional(STEWARD_SCHEMA),
  /** Settings of the daemon. */
  daemon: z.optional(DAEMON_SCHEMA),
  /** The command that prints a secret; `{name}` in it is the name. For example ["op", "read", "op://dev/{name}"]. */
  secretCommand: z.optional(withMaxEntries(50, z.array(short(4_096)).check(z.minLength(1), z.maxLength(50)))),
};

/** A switch that a project can only set to this value, because the other one lowers a guard. */
const strictSwitch = (strict: boolean) =>
  z
    .boolean()
    .check(
      z.refine(
        (value) => value === strict,
        `a project file can set this only to ${strict}, because ${!strict} is less safe; to use ${!strict}, set it in your user file (turnbuckle config shows its path)`,
      ),
    );

/** Settings that a project can only make stricter; load.ts enforces it where the schema does not. */
const tightening = {
  flows: z.optional(z.enum(['ask', 'deny'], { error: `expected "ask" or "deny" in a project file` })),
  toolApprovalRequired: z.optional(strictSwitch(true)),
  subAgentEnabled: z.optional(z.boolean()),
  autoDiscoveryEnabled: z.optional(strictSwitch(false)),
};

const managed = {
  /** Forbidden servers: names, or patterns with `*`. */
  forbid: z.optional(list(short(256), 1_000)),
  /** If present, only these servers are allowed. */
  allowOnly: z.optional(list(short(256), 1_000)),
};

export const FILE_SCHEMAS = {
  project: z.strictObject({ ...common, ...tightening }),
  user: z.strictObject({ ...common, ...privileged }),
  managed: z.strictObject({ ...common, ...privileged, ...managed }),
} as const;

/** Keys that contain servers, in all supported spellings. */
export const SERVER_KEYS = ['servers', 'mcpServers'] as const;

export type InputDeclaration = z.output<typeof input>;
export type FileSettings = z.output<typeof FILE_SCHEMAS.managed>;
export type SettingName = Exclude<keyof FileSettings, '$schema'>;
