/** Reflection: in a quiet period the agent reviews a conversation that has ended, and may add one message to it. */

import type { ChatMessage, StepOutcome } from '@turnbuckle/model';
import { cut, type MessageContent } from '../conversations/message.js';
import { parseBuiltIn } from './built-in-tools.js';

const INSTRUCTION = `This conversation has ended. Review it: if something important is missing or wrong, call "respond" once with a short follow-up for the user. Otherwise reply "nothing" without calling a tool.`;

const MAX_FOLLOW_UP_CHARACTERS = 4_000;

export const reviewPrompt = (prompt: readonly ChatMessage[]): ChatMessage[] => [
  ...prompt,
  { role: 'user', text: INSTRUCTION },
];

/** The first call of `respond`; plain text is no follow-up. */
export function followUpOf({ toolCalls }: Pick<StepOutcome, 'toolCalls'>): MessageContent | undefined {
  const call = toolCalls.find(({ name }) => name === 'respond');
  const parsed = call === undefined ? undefined : parseBuiltIn('respond', call.input);
  if (parsed === undefined || typeof parsed === 'string' || parsed.name !== 'respond') return undefined;
  return { kind: 'reply', text: cut(parsed.input.text, MAX_FOLLOW_UP_CHARACTERS), isFollowUp: true };
}
