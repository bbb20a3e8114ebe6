/** What the loop is made of. Everything that is not a function of data is passed in. */

import type { ChatModel } from '@turnbuckle/model';
import type { Runtime } from 'turnbuckle';
import type { AgentStore } from '../conversations/agent-store.js';
import type { AgentConfig } from '../settings/agent-settings.js';
import type { StewardLink } from './steward-link.js';

export interface LoopClock {
  /** Milliseconds since 1970: energy is replenished while the daemon does not run, too. */
  now(): number;
  /** Resolves after this time, or when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** The events of the agent, with their data. */
export type AgentEvents = {
  /** A conversation has something new. */
  'agent.conversation': { readonly conversation: string };
  /** The range of energy has changed. */
  'agent.energy': { readonly level: number; readonly range: string };
  /** The agent has paused, resumed or cancelled the work of the steward. */
  'agent.steward': { readonly action: string; readonly level: number };
  /** The model, the store or the steward failed. */
  'agent.failed': { readonly code: string; readonly message: string; readonly hint?: string | undefined };
};

/** The loop has no way to answer approvals or to change servers and rules: this is all that it sees of the runtime. */
export type AgentRuntime = Pick<
  Runtime,
  'execute' | 'knowsSecret' | 'on' | 'redact' | 'redactSteps' | 'visibleTools'
>;

export interface LoopParts {
  readonly store: AgentStore;
  readonly runtime: AgentRuntime;
  /** Both as they are now: the configuration can change. */
  readonly config: () => AgentConfig;
  readonly model: () => ChatModel;
  readonly steward: StewardLink | undefined;
  readonly clock: LoopClock;
  /** Unique, also across restarts. Letters, digits and dashes. */
  readonly createId: () => string;
  publish<Name extends keyof AgentEvents>(name: Name, data: AgentEvents[Name]): void;
}
