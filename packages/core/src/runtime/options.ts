import type { SignInPrompts } from '../auth/sign-in-prompts.js';
import type { VaultSource } from '../auth/sign-in-store.js';
import type { AuthorizationSettings } from '../calls/authorization/authorization-settings.js';
import type { NamingPreset } from '../catalog/names.js';
import type { ParsedServers } from '../config/layers/parse.js';
import type { Rule } from '../config/schema/rule-schema.js';
import type { ServersInput } from '../config/schema/schema.js';
import type { RuntimeLimits } from '../servers/limits.js';
import type { ServerSettings } from '../servers/server-settings.js';

/** The options of a runtime. All have defaults; the last group is for tests. */
export interface RuntimeOptions extends AuthorizationSettings, ServerSettings {
  readonly servers?: ServersInput | ParsedServers | undefined;
  readonly naming?: NamingPreset | undefined;
  /** Adds `[MCP:server]` before each tool's description. */
  readonly describePrefix?: boolean | undefined;
  /** Who may call what: the first matching rule decides. */
  readonly rules?: readonly Rule[] | undefined;
  /** The prompts for an interactive sign-in. Absent: calls that need one fail with AUTH_REQUIRED. */
  readonly signIn?: SignInPrompts | undefined;
  /** Where tokens are stored. Absent: the encrypted vault in the state directory. */
  readonly vault?: VaultSource | undefined;
  /** Offers resources and prompts to agents as tools too. */
  readonly resourceTools?: boolean | undefined;
  readonly limits?: Partial<RuntimeLimits> | undefined;
  /** Replaces both clocks: the one for timestamps, and the one for durations. */
  readonly now?: (() => number) | undefined;
}

/** Reads servers in any form that a host may pass. */
export type ParseServers = (servers: ServersInput | ParsedServers) => ParsedServers;
