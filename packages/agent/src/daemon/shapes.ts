/** Conversations and messages as the API shows them. */
import { fromThousandths } from 'turnbuckle/light';
import * as z from 'zod/mini';
import { CONVERSATION_STATES, type Conversation, stateOf } from '../conversations/conversation.js';
import {
  MAX_USER_CHARACTERS,
  type StoredCall,
  type StoredMessage,
  VISIBLE_KINDS,
} from '../conversations/message.js';
import type { ModelFailure } from '../loop/model-failures.js';

const ID = z.string().check(z.minLength(1), z.maxLength(100));

export const MESSAGE_BODY = z.strictObject({
  /** Absent: a new conversation. */
  conversation: z.optional(ID),
  text: z.string().check(z.minLength(1), z.maxLength(MAX_USER_CHARACTERS)),
});
export const MESSAGE_RESPONSE = z.object({ conversation: z.string(), message: z.number() });

/** Why the user has no reply. */
const FAILURE = z.object({ code: z.string(), message: z.string(), hint: z.optional(z.string()) });

export const CONVERSATION_SHAPE = z.object({
  id: z.string(),
  title: z.string(),
  state: z.enum(CONVERSATION_STATES),
  /** Whether a call waits for a person. Absent in lists. */
  waitsForApproval: z.optional(z.boolean()),
  /** The user has not got a reply yet. */
  isUnanswered: z.boolean(),
  /** Of the model: while the user waits it is tried again. */
  failure: z.optional(FAILURE),
  createdAt: z.string(),
  updatedAt: z.string(),
  energy: z.object({ used: z.number(), budget: z.number() }),
});
export const MESSAGE_SHAPE = z.object({
  number: z.number(),
  kind: z.enum(VISIBLE_KINDS),
  at: z.string(),
  text: z.string(),
  tool: z.optional(z.string()),
  ok: z.optional(z.boolean()),
  code: z.optional(z.string()),
  isFollowUp: z.optional(z.boolean()),
});
export const STATS_SHAPE = z.object({
  failure: z.optional(FAILURE),
  energy: z.object({
    level: z.number(),
    range: z.enum(['high', 'medium', 'low', 'urgent']),
    deducted: z.number(),
    consumed: z.object({ model: z.number(), call: z.number(), steward: z.number() }),
  }),
  conversations: z.object({ open: z.number(), ended: z.number() }),
  steps: z.number(),
  cycles: z.number(),
  runningCalls: z.number(),
  steward: z.object({ hasWork: z.boolean(), isPaused: z.boolean() }),
});

export interface ShownFacts {
  readonly now: number;
  readonly failure: ModelFailure | undefined;
  readonly calls?: readonly StoredCall[] | undefined;
}

export const toShownFailure = ({ code, message, hint }: ModelFailure): z.output<typeof FAILURE> => ({
  code,
  message,
  ...(hint !== undefined && { hint }),
});

export function toShownConversation(
  conversation: Conversation,
  { now, failure, calls }: ShownFacts,
): z.output<typeof CONVERSATION_SHAPE> {
  const { id, title, createdAt, updatedAt, used, budget, unansweredSince } = conversation;
  return {
    id,
    title,
    state: stateOf(conversation, now),
    ...(calls !== undefined && { waitsForApproval: calls.some(({ state }) => state === 'approval') }),
    isUnanswered: unansweredSince !== undefined,
    ...(unansweredSince !== undefined && failure !== undefined && { failure: toShownFailure(failure) }),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    energy: { used: fromThousandths(used), budget: fromThousandths(budget) },
  };
}

/** Undefined for what people do not see. */
export function toShownMessage(message: StoredMessage): z.output<typeof MESSAGE_SHAPE> | undefined {
  const { number } = message;
  const at = new Date(message.at).toISOString();
  switch (message.kind) {
    case 'user':
      return { number, kind: 'user', at, text: message.text };
    case 'reply':
      return {
        number,
        kind: 'reply',
        at,
        text: message.text,
        ...(message.isFollowUp && { isFollowUp: true }),
      };
    case 'result':
      return { number, kind: 'result', at, text: message.text, tool: message.tool, ok: message.ok };
    case 'failure':
      return { number, kind: 'failure', at, text: message.text, code: message.code };
    case 'step':
    case 'note':
      return undefined;
  }
}
