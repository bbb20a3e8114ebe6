/** What the agent does in a cycle: a pure choice from its energy and its conversations. */

import type { Effort } from '@turnbuckle/model';
import { type EnergyRange, EnergyRegulator, rangeOf, toThousandths } from 'turnbuckle/light';
import { type Conversation, isReady, MAX_STEPS, readyAt } from '../conversations/conversation.js';
import type { AgentConfig } from '../settings/agent-settings.js';
import type { BuiltInName } from './built-in-tools.js';

export interface CycleFacts {
  readonly now: number;
  readonly level: number;
  readonly conversations: readonly Conversation[];
  readonly unreviewed: Conversation | undefined;
  /** When something last happened in any conversation. */
  readonly lastActivity: number;
  readonly config: AgentConfig;
  /** The model chose it for this cycle. */
  readonly selected?: string | undefined;
}

/** What the model may do in a step. */
export interface StepLimits {
  readonly range: EnergyRange;
  readonly effort: Effort;
  /** 0: MCP tools are not offered. */
  readonly maxCalls: number;
  readonly builtIn: readonly BuiltInName[] | undefined;
}

export type CyclePlan =
  | { readonly kind: 'step'; readonly conversation: Conversation; readonly limits: StepLimits }
  /** Its budget is used up: it gets a fixed answer. */
  | { readonly kind: 'exhausted'; readonly conversation: Conversation }
  | { readonly kind: 'review'; readonly conversation: Conversation; readonly limits: StepLimits }
  /** Until that time, or until something happens. */
  | { readonly kind: 'wait'; readonly until: number | undefined; readonly reason: 'energy' | 'idle' };

const RESPOND_ONLY: readonly BuiltInName[] = ['respond'];
const URGENT_ONLY: readonly BuiltInName[] = ['respond', 'await_energy'];
const FULL_TOKENS = 4_096;
const MEDIUM_TOKENS = 2_048;
const SHORT_TOKENS = 512;

/** The effort that each range of energy permits. */
export function limitsFor(range: EnergyRange, maxCalls: number): StepLimits {
  switch (range) {
    case 'high':
      return { range, effort: { size: 'full', maxOutputTokens: FULL_TOKENS }, maxCalls, builtIn: undefined };
    case 'medium': {
      const effort = { size: 'full', maxOutputTokens: MEDIUM_TOKENS } as const;
      return { range, effort, maxCalls: Math.ceil(maxCalls / 2), builtIn: undefined };
    }
    case 'low':
      return {
        range,
        effort: { size: 'small', maxOutputTokens: SHORT_TOKENS },
        maxCalls: 1,
        builtIn: undefined,
      };
    case 'urgent':
      return {
        range,
        effort: { size: 'small', maxOutputTokens: SHORT_TOKENS },
        maxCalls: 0,
        builtIn: URGENT_ONLY,
      };
  }
}

export function planCycle(facts: CycleFacts): CyclePlan {
  const { now, level, conversations, config } = facts;
  const range = rangeOf(level, config.regulator);
  const ready = conversations.filter((one) => isReady(one, now, level)).sort(byUrgency);
  const exhausted = ready.find(isExhausted);
  if (exhausted !== undefined) return { kind: 'exhausted', conversation: exhausted };
  const candidates = range === 'urgent' ? ready.filter(mayAnswerInUrgency) : ready;
  const next = selectedOf(candidates, facts.selected) ?? candidates[0];
  if (next !== undefined)
    return { kind: 'step', conversation: next, limits: stepLimits(next, range, config) };
  if (ready.length > 0) return { kind: 'wait', until: now + msUntilPositive(facts), reason: 'energy' };
  return planIdle(facts, range);
}

/** Users first; then who was not served for longest, so that nobody waits for a conversation with many steps. */
function byUrgency(one: Conversation, other: Conversation): number {
  const waits = Number(other.unansweredSince !== undefined) - Number(one.unansweredSince !== undefined);
  if (waits !== 0) return waits;
  if (one.lastStepAt !== other.lastStepAt) return one.lastStepAt - other.lastStepAt;
  return (one.unansweredSince ?? one.updatedAt) - (other.unansweredSince ?? other.updatedAt);
}

/** The choice of the model counts, unless a user has just written elsewhere. */
function selectedOf(
  candidates: readonly Conversation[],
  selected: string | undefined,
): Conversation | undefined {
  const isNew = ({ id, unansweredSince, steps }: Conversation): boolean =>
    id !== selected && unansweredSince !== undefined && steps === 0;
  return candidates.some(isNew) ? undefined : candidates.find(({ id }) => id === selected);
}

const isExhausted = ({ used, budget }: Conversation): boolean => used >= budget;

const mayAnswerInUrgency = ({ unansweredSince, isAnsweredInUrgency }: Conversation): boolean =>
  unansweredSince !== undefined && !isAnsweredInUrgency;

/** The last step that a message may take can only respond. */
function stepLimits(
  { steps }: Conversation,
  range: EnergyRange,
  { maxCallsPerStep }: AgentConfig,
): StepLimits {
  const limits = limitsFor(range, maxCallsPerStep);
  return steps < MAX_STEPS - 1 ? limits : { ...limits, maxCalls: 0, builtIn: RESPOND_ONLY };
}

function planIdle(facts: CycleFacts, range: EnergyRange): CyclePlan {
  const { now, level, conversations, unreviewed, lastActivity, config } = facts;
  const quietMs = config.idleReflectionSeconds * 1_000;
  const isRested = range === 'high' || range === 'medium';
  const isReviewable = unreviewed !== undefined && quietMs > 0;
  const reviewAt = lastActivity + quietMs;
  const isBusy = conversations.some(({ openCalls }) => openCalls > 0);
  if (isReviewable && isRested && !isBusy && now >= reviewAt) {
    const limits = { ...limitsFor('low', 0), range, maxCalls: 0, builtIn: RESPOND_ONLY };
    return { kind: 'review', conversation: unreviewed, limits };
  }
  const at = (target: number): number => now + msUntil(facts, target);
  const times = [
    ...conversations.map((one) => readyAt(one, at)),
    ...(isReviewable && !isBusy ? [isRested ? reviewAt : Math.max(reviewAt, at(restedLevel(config)))] : []),
  ].filter((time) => time !== undefined);
  const isForEnergy = conversations.some(
    ({ awaitedLevel }) => awaitedLevel !== undefined && awaitedLevel > level,
  );
  const until = times.length === 0 ? undefined : Math.max(Math.min(...times), now + 1);
  return { kind: 'wait', until, reason: isForEnergy ? 'energy' : 'idle' };
}

/** Just above the beginning of the medium range. */
const restedLevel = ({ regulator: { full } }: AgentConfig): number => full * 0.2 + 0.001;

const msUntilPositive = (facts: CycleFacts): number => Math.max(msUntil(facts, 0.001), 1);

function msUntil({ now, level, config: { regulator } }: CycleFacts, target: number): number {
  const state = { level: toThousandths(level), at: now, deducted: 0 };
  return new EnergyRegulator(() => now, regulator, state).msUntil(Math.min(target, regulator.full));
}
