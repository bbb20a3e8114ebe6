import type { LoadedConfig } from 'turnbuckle/host';

/** Explains at startup whether agent calls require approval. */
export const describeAgentPolicy = ({ settings }: Pick<LoadedConfig, 'settings'>): string =>
  settings.toolApprovalRequired === false
    ? 'Agent calls do not require approval (toolApprovalRequired is false), unless a rule requires approval. Show the rules: turnbuckle rules'
    : 'Agent calls require your approval unless a rule allows them (turnbuckle rules). To approve or deny calls: turnbuckle approvals watch';
