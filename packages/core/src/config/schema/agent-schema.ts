/** The `agent` of a file: its model, who it is for rules and the log, and how it regulates its effort. */
import * as z from 'zod/mini';
import { list } from './max-entries.js';
import { MODEL_SCHEMA } from './model-schema.js';

const text = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));
const number = (least: number, most: number) => z.number().check(z.gte(least), z.lte(most));
const integer = (least: number, most: number) => z.number().check(z.int(), z.gte(least), z.lte(most));

const LOW_ENERGY_WAYS = ['finish', 'pause', 'cancel'] as const;

const energy = z.strictObject({
  full: z.optional(number(1, 1_000_000)),
  floor: z.optional(number(-1_000_000, 0)),
  /** Never 0: an agent that used everything up would wait forever. */
  replenishPerSecond: z.optional(number(0.001, 1_000_000)),
  /** What a second of the model costs (2). */
  modelCostPerSecond: z.optional(number(0, 1_000)),
});

/** Names that stand for the host in rules and in the log: an agent must not have one of them. */
const HOST_NAMES = ['host', 'owner'];

export const AGENT_SCHEMA = z.strictObject({
  /** False: the daemon runs without it. */
  enabled: z.optional(z.boolean()),
  model: z.optional(MODEL_SCHEMA),
  /** Its name in rules, approvals and the call log ("agent"). */
  caller: z.optional(
    text(128).check(z.refine((name) => !HOST_NAMES.includes(name), { error: 'this name means you' })),
  ),
  /** What it may see (["mcp_integration"]); its calls need approval like those of any other agent. */
  capabilities: z.optional(list(text(256), 200)),
  energy: z.optional(energy),
  /** The most energy that a conversation can use (100). */
  conversationBudget: z.optional(number(0, 1_000_000)),
  /** What happens to the work of the steward below energy 10 ("pause"). */
  lowEnergy: z.optional(z.enum(LOW_ENERGY_WAYS)),
  /** How long it is quiet before the agent reviews finished conversations (300); 0: never. */
  idleReflectionSeconds: z.optional(integer(0, 31_536_000)),
  /** The most conversations that have not ended (100). */
  maxConversations: z.optional(integer(1, 10_000)),
  /** The most tool calls in one step while energy is high (4); fewer below. */
  maxCallsPerStep: z.optional(integer(1, 32)),
  /** How long a step of the model may take (120). */
  modelTimeoutSeconds: z.optional(integer(1, 3_600)),
});

export type AgentSettings = z.output<typeof AGENT_SCHEMA>;
