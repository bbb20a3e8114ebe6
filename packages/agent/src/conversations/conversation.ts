/** A conversation as data, and how it changes: pure functions of what happened. Energy is in thousandths of a unit. */

export const CONVERSATION_STATES = ['open', 'waiting', 'snoozed', 'ended'] as const;
export type ConversationState = (typeof CONVERSATION_STATES)[number];

export interface Conversation {
  readonly id: string;
  /** The beginning of its first message. */
  readonly title: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly budget: number;
  readonly used: number;
  readonly isEnded: boolean;
  /** Something happened that the agent has not looked at. */
  readonly needsStep: boolean;
  /** When the oldest message without a reply arrived. */
  readonly unansweredSince: number | undefined;
  /** Calls that run or wait for approval. */
  readonly openCalls: number;
  readonly snoozedUntil: number | undefined;
  /** The agent waits for this level of energy, or for this time, whichever is first. */
  readonly awaitedLevel: number | undefined;
  readonly awaitedUntil: number | undefined;
  /** Steps since the last message of the user. */
  readonly steps: number;
  readonly lastStepAt: number;
  /** It got its one answer since energy was last above 0. */
  readonly isAnsweredInUrgency: boolean;
  /** It was reviewed after its end. */
  readonly isReviewed: boolean;
}

/** How many steps a message may take: the last one can only respond. */
export const MAX_STEPS = 12;
const MAX_TITLE_CHARACTERS = 80;

export const createConversation = (
  id: string,
  text: string,
  { at, budget }: { at: number; budget: number },
) =>
  ({
    id,
    title: toTitle(text),
    createdAt: at,
    updatedAt: at,
    budget,
    used: 0,
    isEnded: false,
    needsStep: false,
    unansweredSince: undefined,
    openCalls: 0,
    snoozedUntil: undefined,
    awaitedLevel: undefined,
    awaitedUntil: undefined,
    steps: 0,
    lastStepAt: 0,
    isAnsweredInUrgency: false,
    isReviewed: false,
  }) satisfies Conversation;

const toTitle = (text: string): string => {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length > MAX_TITLE_CHARACTERS ? `${line.slice(0, MAX_TITLE_CHARACTERS - 1)}…` : line;
};

export function stateOf({ isEnded, snoozedUntil, openCalls }: Conversation, now: number): ConversationState {
  if (isEnded) return 'ended';
  if (snoozedUntil !== undefined && snoozedUntil > now) return 'snoozed';
  return openCalls > 0 ? 'waiting' : 'open';
}

/** A message of the user ends every wait, and opens a conversation that had ended. */
export const withUserMessage = (before: Conversation, at: number): Conversation => ({
  ...before,
  updatedAt: at,
  isEnded: false,
  isReviewed: false,
  needsStep: true,
  unansweredSince: before.unansweredSince ?? at,
  snoozedUntil: undefined,
  awaitedLevel: undefined,
  awaitedUntil: undefined,
  steps: 0,
});

/** What a step of the agent changes. */
export interface StepChange {
  readonly at: number;
  readonly hasReplied: boolean;
  readonly isUrgent: boolean;
  readonly startedCalls: number;
  readonly ends: boolean;
  readonly snoozedUntil: number | undefined;
  readonly awaitedLevel: number | undefined;
  readonly awaitedUntil: number | undefined;
  /** What arrived during the step, which it could not see. */
  readonly isOvertakenBy: 'user' | 'other' | undefined;
}

export function withStep(before: Conversation, change: StepChange): Conversation {
  const { at, hasReplied, isUrgent, startedCalls, isOvertakenBy } = change;
  const isInterrupted = isOvertakenBy === 'user';
  const ends = change.ends && !isInterrupted;
  const waits = change.snoozedUntil !== undefined || change.awaitedLevel !== undefined;
  const unansweredSince = hasReplied ? (isInterrupted ? at : undefined) : before.unansweredSince;
  // A step that did none of these, such as one that only thought, is followed by another one.
  const isDone = hasReplied || startedCalls > 0;
  return {
    ...before,
    updatedAt: Math.max(before.updatedAt, at),
    isEnded: ends,
    unansweredSince: ends ? undefined : unansweredSince,
    openCalls: before.openCalls + startedCalls,
    needsStep: !ends && (isOvertakenBy !== undefined || waits || !isDone),
    snoozedUntil: isInterrupted ? undefined : change.snoozedUntil,
    awaitedLevel: isInterrupted ? undefined : change.awaitedLevel,
    awaitedUntil: isInterrupted ? undefined : change.awaitedUntil,
    steps: isInterrupted ? 0 : before.steps + 1,
    lastStepAt: at,
    isAnsweredInUrgency: before.isAnsweredInUrgency || (isUrgent && hasReplied),
  };
}

/** A call has its result. The agent looks at it when no other call of the step is open. */
export const withSettledCall = (before: Conversation, at: number): Conversation => ({
  ...before,
  updatedAt: Math.max(before.updatedAt, at),
  openCalls: Math.max(before.openCalls - 1, 0),
  needsStep: !before.isEnded,
});

/** Something that the agent should know, such as news of the steward. */
export const withNote = (before: Conversation, at: number): Conversation => ({
  ...before,
  updatedAt: Math.max(before.updatedAt, at),
  needsStep: !before.isEnded,
  steps: 0,
});

export const withEnd = (before: Conversation, at: number): Conversation => ({
  ...before,
  updatedAt: Math.max(before.updatedAt, at),
  isEnded: true,
  needsStep: false,
  unansweredSince: undefined,
  snoozedUntil: undefined,
  awaitedLevel: undefined,
  awaitedUntil: undefined,
});

/** Whether the agent can work on it now, apart from its energy. */
export function isReady(conversation: Conversation, now: number, level: number): boolean {
  const { isEnded, needsStep, openCalls, unansweredSince, snoozedUntil, awaitedLevel, awaitedUntil } =
    conversation;
  if (isEnded || !needsStep) return false;
  if (snoozedUntil !== undefined && snoozedUntil > now) return false;
  if (awaitedLevel !== undefined && level < awaitedLevel && (awaitedUntil ?? 0) > now) return false;
  // A user who writes while calls are open gets an answer; otherwise the agent waits for all results.
  return openCalls === 0 || (unansweredSince !== undefined && conversation.steps === 0);
}

/** When it may become ready by itself; undefined: only if something happens. */
export function readyAt(conversation: Conversation, msUntil: (level: number) => number): number | undefined {
  const { isEnded, needsStep, snoozedUntil, awaitedLevel, awaitedUntil } = conversation;
  if (isEnded || !needsStep) return undefined;
  if (awaitedLevel === undefined) return snoozedUntil;
  return Math.min(awaitedUntil ?? Number.POSITIVE_INFINITY, msUntil(awaitedLevel));
}
