/** The settings of the agent with all defaults. */
import type { AgentSettings } from 'turnbuckle/host';
import { DEFAULT_REGULATOR, type RegulatorSettings } from 'turnbuckle/light';

export type { AgentSettings } from 'turnbuckle/host';

export type LowEnergyWay = NonNullable<AgentSettings['lowEnergy']>;

/** The settings with all defaults. */
export interface AgentConfig {
  readonly caller: string;
  readonly capabilities: readonly string[];
  readonly regulator: RegulatorSettings;
  readonly modelCostPerSecond: number;
  readonly conversationBudget: number;
  readonly lowEnergy: LowEnergyWay;
  readonly idleReflectionSeconds: number;
  readonly maxConversations: number;
  readonly maxCallsPerStep: number;
  readonly modelTimeoutMs: number;
}

export function toAgentConfig(settings: AgentSettings): AgentConfig {
  const { full, floor, replenishPerSecond, modelCostPerSecond = 2 } = settings.energy ?? {};
  return {
    caller: settings.caller ?? 'agent',
    capabilities: settings.capabilities ?? ['mcp_integration'],
    regulator: {
      full: full ?? DEFAULT_REGULATOR.full,
      floor: floor ?? DEFAULT_REGULATOR.floor,
      replenishPerSecond: replenishPerSecond ?? DEFAULT_REGULATOR.replenishPerSecond,
    },
    modelCostPerSecond,
    conversationBudget: settings.conversationBudget ?? 100,
    lowEnergy: settings.lowEnergy ?? 'pause',
    idleReflectionSeconds: settings.idleReflectionSeconds ?? 300,
    maxConversations: settings.maxConversations ?? 100,
    maxCallsPerStep: settings.maxCallsPerStep ?? 4,
    modelTimeoutMs: (settings.modelTimeoutSeconds ?? 120) * 1_000,
  };
}
