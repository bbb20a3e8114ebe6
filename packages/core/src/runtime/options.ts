import type { SignInPrompts } from '../auth/sign-in-prompts.js';
import type { VaultSource } from '../auth/sign-in-store.js';
import type { AuthorizationSettings } from '../calls/authorization/authorization-settings.js';
import type { NamingPreset } from '../catalog/names.js';
import type { ParsedServers } from '../config/layers/parse.js';
import type { Rule } from '../config/schema/rule-schema.js';
import type { ServerDefaults, ServersInput } from '../config/schema/schema.js';
import type { ProcessTableOptions } from '../connection/processes/process-table.js';
import type { EnergyOptions } from '../energy/energy.js';
import type { RuntimeLimits } from '../servers/limits.js';
import type { ServerSettings } from '../servers/server-settings.js';
import type { TelemetryOption } from '../telemetry/find-telemetry.js';

/** The options of a runtime. All have defaults; the last group is for tests. */
export interface RuntimeOptions extends AuthorizationSettings, Omit<ServerSettings, 'telemetry'> {
  readonly servers?: ServersInput | ParsedServers | undefined;
  /** Values for keys that a server does not set, such as `callTimeoutMs`. */
  readonly defaults?: ServerDefaults | undefined;
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
  /** What calls cost, and the budgets of runs, callers and servers. Absent: calls have no cost. */
  readonly energy?: EnergyOptions | undefined;
  /** How long a process may take to exit before it is killed. Absent: 1 s by itself, then 2 s after SIGTERM. */
  readonly processStop?: ProcessTableOptions | undefined;
  /**
   * The host's `@opentelemetry/api`, for a span for each request to a server; false for none. Absent: the API is
   * loaded if the host has registered a tracer provider by now.
   */
  readonly telemetry?: TelemetryOption;
  /** Replaces both clocks: the one for timestamps, and the one for durations. */
  readonly now?: (() => number) | undefined;
}

/** The options of which the telemetry is known. */
export type WiredOptions = Omit<RuntimeOptions, 'telemetry'> & Pick<ServerSettings, 'telemetry'>;

/** Reads servers in any form that a host may pass. */
export type ParseServers = (servers: ServersInput | ParsedServers) => ParsedServers;
