/** What the output of a model means: pure. The model is untrusted: everything it writes is bounded and checked. */

import type { StepOutcome, ToolCall, ToolOutput } from '@turnbuckle/model';
import { type Conversation, MAX_STEPS } from '../conversations/conversation.js';
import type { CommittedStep } from '../conversations/conversation-store.js';
import { cut, type MessageContent } from '../conversations/message.js';
import type { AgentConfig } from '../settings/agent-settings.js';
import { type BuiltInCall, isBuiltIn, parseBuiltIn } from './built-in-tools.js';
import type { StepLimits } from './cycle.js';

export interface StepContext {
  readonly conversation: Conversation;
  /** All that have not ended. */
  readonly conversations: readonly Conversation[];
  readonly limits: StepLimits;
  /** The MCP tools that were offered. */
  readonly tools: ReadonlySet<string>;
  readonly config: AgentConfig;
  readonly now: number;
  readonly createId: () => string;
}

export interface PlannedCall {
  /** Its request id. */
  readonly id: string;
  readonly modelId: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface InterpretedStep {
  readonly messages: readonly MessageContent[];
  readonly calls: readonly PlannedCall[];
  readonly change: CommittedStep['change'];
  /** Another conversation to work on next. */
  readonly selected: string | undefined;
}

const MAX_TOOL_CALLS = 32;
const MAX_TEXT_CHARACTERS = 32_000;
const MAX_INPUT_CHARACTERS = 64_000;
const MS_PER_MINUTE = 60_000;

/** What the calls of a step add up to. */
class StepEffects {
  readonly replies: string[] = [];
  readonly calls: PlannedCall[] = [];
  ends = false;
  snoozedUntil: number | undefined;
  awaitedLevel: number | undefined;
  selected: string | undefined;
}

export function interpretStep(outcome: StepOutcome, context: StepContext): InterpretedStep {
  const { conversation, limits, now } = context;
  const effects = new StepEffects();
  const text = cut(outcome.text, MAX_TEXT_CHARACTERS);
  const calls = outcome.toolCalls
    .slice(0, MAX_TOOL_CALLS)
    .map((call) => toSafeCall(call, context.createId()));
  const outputs = calls.flatMap((call) => applyCall(call, context, effects) ?? []);
  // Many models answer with plain text.
  if (calls.length === 0 && text.trim() !== '') effects.replies.push(text);
  const isLast = conversation.steps >= MAX_STEPS - 1;
  const isStuck = isLast && effects.replies.length === 0 && !effects.ends;
  const messages: MessageContent[] = [
    { kind: 'step', text, calls, outputs },
    ...effects.replies.map((reply) => ({ kind: 'reply' as const, text: reply })),
    ...(isStuck ? [NO_ANSWER] : []),
  ];
  return {
    messages,
    calls: effects.calls,
    selected: effects.selected,
    change: {
      at: now,
      hasReplied: effects.replies.length > 0 || isStuck,
      isUrgent: limits.range === 'urgent',
      startedCalls: effects.calls.length,
      ends: effects.ends,
      snoozedUntil: isLast ? undefined : effects.snoozedUntil,
      awaitedLevel: isLast ? undefined : effects.awaitedLevel,
      awaitedUntil:
        effects.awaitedLevel === undefined || isLast ? undefined : now + longestWaitMs(context.config),
    },
  };
}

const NO_ANSWER: MessageContent = {
  kind: 'failure',
  code: 'RESULT_INVALID',
  text: `The model did not reply within ${MAX_STEPS} steps. Send your message again, or rephrase it.`,
};

/** Ids of the model may repeat; ours do not. Input that is too large or no data is replaced. */
function toSafeCall({ name, input }: ToolCall, id: string): ToolCall {
  return { id, name: cut(String(name), 128), input: toSafeInput(input) };
}

function toSafeInput(input: unknown): unknown {
  try {
    const text = JSON.stringify(input ?? {});
    return text.length > MAX_INPUT_CHARACTERS ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

/** The output of a call that is answered at once; undefined for a call to a server, which is answered later. */
function applyCall(call: ToolCall, context: StepContext, effects: StepEffects): ToolOutput | undefined {
  const { id, name } = call;
  const output = (text: string): ToolOutput => ({ id, name, text });
  const { limits, tools } = context;
  if (isBuiltIn(name)) {
    if (limits.builtIn?.includes(name) === false)
      return output(`${name} is not available at the current energy level.`);
    const parsed = parseBuiltIn(name, call.input);
    return output(typeof parsed === 'string' ? parsed : applyBuiltIn(parsed, context, effects));
  }
  if (limits.maxCalls === 0) return output('Not called: no tools can be called in this step.');
  if (!tools.has(name)) return output(`There is no tool "${name}".`);
  if (effects.calls.length >= limits.maxCalls)
    return output(
      `Not called: only ${limits.maxCalls} calls per step are allowed at the current energy level.`,
    );
  if (!isObject(call.input))
    return output('Not called: the input must be an object of at most 64,000 characters.');
  effects.calls.push({ id: `agent-${id}`, modelId: id, tool: name, input: call.input });
  return undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function applyBuiltIn({ name, input }: BuiltInCall, context: StepContext, effects: StepEffects): string {
  const { conversation, conversations, config, now } = context;
  switch (name) {
    case 'respond':
      effects.replies.push(input.text);
      return 'Sent.';
    case 'think':
      return 'Noted.';
    case 'await_energy':
      // More than full is never reached.
      effects.awaitedLevel = Math.min(input.level, config.regulator.full);
      return 'Waiting for energy.';
    case 'select_conversation': {
      const { conversation: wanted } = input;
      if (wanted === conversation.id || !conversations.some(({ id }) => id === wanted))
        return 'There is no other conversation with this id.';
      effects.selected = wanted;
      return 'The selected conversation is next.';
    }
    case 'end_conversation':
      effects.ends = true;
      return 'Ended.';
    case 'snooze_conversation':
      effects.snoozedUntil = now + input.minutes * MS_PER_MINUTE;
      return 'Snoozed.';
  }
}

/** Others may use the energy up again and again: after the time from the floor to full, the wait ends anyway. */
const longestWaitMs = ({ regulator: { full, floor, replenishPerSecond } }: AgentConfig): number =>
  Math.ceil(((full - floor) / replenishPerSecond) * 1_000);
