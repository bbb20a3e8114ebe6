import type { NamingPreset } from './catalog/names.js';
import type { ParsedServers } from './config/parse.js';
import type { ServerConfig, ServersInput } from './config/schema.js';
import type { ServerRequestAnswers } from './connection/input-rounds.js';
import type { RuntimeLimits } from './limits.js';
import type { Approve } from './policy/approve.js';
import type { Action } from './policy/decide.js';
import type { BreakerOptions } from './resilience/breaker.js';

/** How a runtime is set up. Everything has a default; the last group exists so that tests can be exact. */
export interface RuntimeOptions {
  readonly servers?: ServersInput | ParsedServers | undefined;
  /** Fills in what a server's configuration leaves open (placeholders), each time it is connected. */
  readonly resolve?: ((server: string, config: ServerConfig) => Promise<ServerConfig>) | undefined;
  readonly naming?: NamingPreset | undefined;
  /** Puts `[MCP:server]` before each tool's description. */
  readonly describePrefix?: boolean | undefined;
  /** What holds for a call when nothing more special does. Absent: allow for the host, ask for agents. */
  readonly defaultDecision?: Action | undefined;
  readonly approve?: Approve | undefined;
  readonly approvalTimeoutMs?: number | undefined;
  /** Answers to what servers ask the host. What is absent is not offered to them. */
  readonly handlers?: ServerRequestAnswers | undefined;
  /** Offers resources and prompts to agents as tools too. */
  readonly resourceTools?: boolean | undefined;
  readonly limits?: Partial<RuntimeLimits> | undefined;
  readonly breaker?: Partial<BreakerOptions> | undefined;
  /** False: hot requests go through the SDK's client. */
  readonly expressLane?: boolean | undefined;
  /** Where it remembers things between runs. */
  readonly stateDir?: string | undefined;
  readonly clientInfo?: { readonly name: string; readonly version: string } | undefined;

  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  readonly now?: (() => number) | undefined;
  readonly random?: (() => number) | undefined;
}
