import type { SignInPrompts } from './auth/sign-in-prompts.js';
import type { VaultSource } from './auth/sign-in-store.js';
import type { NamingPreset } from './catalog/names.js';
import type { ParsedServers } from './config/parse.js';
import type { FlowMode, PinMode, PlacedRule, Rule } from './config/rule-schema.js';
import type { ServerConfig, ServersInput } from './config/schema.js';
import type { ServerRequestAnswers } from './connection/server-requests.js';
import type { RuntimeLimits } from './limits.js';
import type { Approve } from './policy/approval-request.js';
import type { ApprovalHint } from './policy/approvals.js';
import type { Action } from './policy/decide.js';
import type { BreakerOptions } from './resilience/breaker.js';

/** How a runtime is set up. Everything has a default; the last group exists so that tests can be exact. */
export interface RuntimeOptions {
  readonly servers?: ServersInput | ParsedServers | undefined;
  /**
   * Fills in what a server's configuration leaves open (placeholders), each time it is connected. What it gives
   * to `learn` never appears in errors, events and `status()`.
   */
  readonly resolve?:
    | ((server: string, config: ServerConfig, learn: (secret: string) => void) => Promise<ServerConfig>)
    | undefined;
  readonly naming?: NamingPreset | undefined;
  /** Puts `[MCP:server]` before each tool's description. */
  readonly describePrefix?: boolean | undefined;
  /** What holds for a call when nothing more special does. Absent: allow for the host, ask for agents. */
  readonly defaultDecision?: Action | undefined;
  /** Who may call what: the first rule that fits decides. */
  readonly rules?: readonly Rule[] | undefined;
  /** Answers for a person when a call has to be asked for. */
  readonly approve?: Approve | undefined;
  /** `queue`: without `approve`, such calls wait for `approvals.answer()` instead of failing. */
  readonly approvals?: 'queue' | undefined;
  /** What to do where nobody can be asked, for whoever reads the error: a text, or one made of what was called. */
  readonly approvalHint?: ApprovalHint | undefined;
  /** Silence is a no after this time; 120,000 unless told otherwise. */
  readonly approvalTimeoutMs?: number | undefined;
  /**
   * How long an agent's call waits for its approval before it ends with APPROVAL_PENDING; the question stays open, and
   * the same call goes on with it. Absent: as long as the question is open.
   */
  readonly approvalWaitMs?: number | undefined;
  /** Keeps what was answered with "always": the rule to write, and the one that asked, which it has to precede. */
  readonly onAlways?: ((rule: Rule, asked: PlacedRule | undefined) => Promise<void> | void) | undefined;
  /** Which tools are held to the definition that was approved; those answered with "always" unless told otherwise. */
  readonly pins?: PinMode | undefined;
  /** What becomes of an agent's call that could carry private data out for a stranger; `ask` unless told otherwise. */
  readonly flows?: FlowMode | undefined;
  /** Answers to what servers ask the host. What is absent is not offered to them. */
  readonly handlers?: ServerRequestAnswers | undefined;
  /** True: servers are offered what their configuration allows, because calls bring a respondent of their own. */
  readonly callersAnswer?: boolean | undefined;
  /** How a person signs in when a call needs it. Absent: such calls fail with AUTH_REQUIRED. */
  readonly signIn?: SignInPrompts | undefined;
  /** Where tokens are kept. Absent: the encrypted vault in the state directory. */
  readonly vault?: VaultSource | undefined;
  /** Offers resources and prompts to agents as tools too. */
  readonly resourceTools?: boolean | undefined;
  readonly limits?: Partial<RuntimeLimits> | undefined;
  readonly breaker?: Partial<BreakerOptions> | undefined;
  /** False: hot requests go through the SDK's client. */
  readonly expressLane?: boolean | undefined;
  /** Of a gateway: what it is told from others by, made up at its start. Servers that lead back to it are refused. */
  readonly instance?: string | undefined;
  /** Where it remembers things between runs. */
  readonly stateDir?: string | undefined;
  readonly clientInfo?: { readonly name: string; readonly version: string } | undefined;

  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  readonly now?: (() => number) | undefined;
  readonly random?: (() => number) | undefined;
}
