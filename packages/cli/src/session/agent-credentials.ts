/** Agents that have credentials of their own at a server. */
import { type ServerStatus, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { showLine } from '../terminal/untrusted-text.js';

/** Whether an agent has its own at a server. */
export const hasCredentials = ({ config }: ServerStatus, agent: string): boolean =>
  Object.hasOwn(Object(config?.credentials), agent);

/** The agent that --agent names; undefined: the sign-in of the server itself. ARGUMENTS_INVALID for an empty name. */
export function agentFromFlags({ flags }: CommandContext): string | undefined {
  const { agent } = flags;
  if (agent === undefined || (typeof agent === 'string' && agent.trim() !== '')) return agent;
  throw new TurnbuckleError('ARGUMENTS_INVALID', '--agent requires the name of an agent.', {
    hint: `The names are under "credentials" in the server's configuration: turnbuckle config <server>`,
  });
}

/** ` for "helper"`, behind the name of a server; empty without an agent. */
export const forAgent = (agent: string | undefined): string =>
  agent === undefined ? '' : ` for "${showLine(agent, 60)}"`;
