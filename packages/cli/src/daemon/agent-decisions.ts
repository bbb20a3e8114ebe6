import type { LoadedConfig } from 'turnbuckle';

/** In a sentence or two, what becomes of calls of agents: said before the first of them surprises anybody. */
export const agentDecisions = ({ settings }: Pick<LoadedConfig, 'settings'>): string =>
  settings.toolApprovalRequired === false
    ? 'Agents may call tools without asking you (toolApprovalRequired is false), unless a rule says otherwise: turnbuckle rules.'
    : 'Calls of agents wait for your approval unless a rule allows them: turnbuckle approvals watch asks you, turnbuckle rules shows the rules.';
