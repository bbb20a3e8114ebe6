/** What stands beside the servers in a configuration file. The servers themselves are in schema.ts. */
import { z } from 'zod';

const input = z.strictObject({
  id: z.string().min(1).max(128),
  type: z.enum(['promptString', 'pickString']).default('promptString'),
  description: z.string().max(1_000).optional(),
  password: z.boolean().default(false),
  default: z.string().max(4_096).optional(),
  options: z.array(z.string()).max(200).optional(),
});

/** Keys that any file may have. */
const common = {
  $schema: z.string().optional(),
  inputs: z.array(input).max(200).optional(),
  naming: z.enum(['mcp__server__tool', 'mcp_server_tool', 'server_tool']).optional(),
  describePrefix: z.boolean().optional(),
  subAgentEnabled: z.boolean().optional(),
};

/** Keys that lower a guard or reach further: a project cannot set them for its user. */
const privileged = {
  /** False: agents' calls are not asked for. */
  toolApprovalRequired: z.boolean().optional(),
  autoDiscoveryEnabled: z.boolean().optional(),
  /** The command that prints a secret; `{name}` in it is the name. For example ["op", "read", "op://dev/{name}"]. */
  secretCommand: z.array(z.string().min(1)).min(1).max(50).optional(),
};

const managed = {
  /** Servers that may not be used: names, or patterns with `*`. */
  forbid: z.array(z.string().min(1).max(256)).max(1_000).optional(),
  /** If present, only these may be used. */
  allowOnly: z.array(z.string().min(1).max(256)).max(1_000).optional(),
};

export const FILE_SCHEMAS = {
  project: z.strictObject(common),
  user: z.strictObject({ ...common, ...privileged }),
  managed: z.strictObject({ ...common, ...privileged, ...managed }),
} as const;

/** Keys of a file that hold servers, in the spellings that are understood. */
export const SERVER_KEYS = ['servers', 'mcpServers'] as const;

export type InputDeclaration = z.output<typeof input>;
export type FileSettings = z.output<typeof FILE_SCHEMAS.managed>;
export type SettingName = Exclude<keyof FileSettings, '$schema'>;
