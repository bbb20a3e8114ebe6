/** The parts that the daemon of the command line runs with: the steward, and the agent if it is configured. */
import { createAgentPart } from '@turnbuckle/agent';
import type { DaemonPart } from '@turnbuckle/gateway';
import { type AgentLink, createStewardPart } from '@turnbuckle/steward';

export interface PartsOptions {
  /** The directory of the daemon. */
  readonly cwd?: string | undefined;
  readonly files?: readonly string[] | undefined;
}

export function createParts({ cwd = process.cwd(), files }: PartsOptions): readonly DaemonPart[] {
  let link: AgentLink | undefined;
  const onLink = (made: AgentLink): void => {
    link = made;
  };
  return [createStewardPart({ cwd, files, onLink }), createAgentPart({ steward: () => link })];
}
