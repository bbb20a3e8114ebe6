import { describe, expect, it } from 'vitest';
import {
  type Conversation,
  createConversation,
  MAX_STEPS,
  withUserMessage,
} from '../../src/conversations/conversation.js';
import { type CycleFacts, type CyclePlan, planCycle } from '../../src/loop/cycle.js';
import { toAgentConfig } from '../../src/settings/agent-settings.js';

const NOW = 1_000_000;
const conversation = (id: string, more: Partial<Conversation> = {}): Conversation => ({
  ...withUserMessage(createConversation(id, 'hello', { at: NOW, budget: 100_000 }), NOW),
  ...more,
});
const plan = (more: Partial<CycleFacts>): CyclePlan =>
  planCycle({
    now: NOW,
    level: 100,
    conversations: [conversation('a')],
    unreviewed: undefined,
    lastActivity: NOW,
    config: toAgentConfig({}),
    ...more,
  });
const ended = conversation('z', { isEnded: true, needsStep: false, unansweredSince: undefined });

// requirement E7
describe('a step', () => {
  it('with high energy has the full model and all calls', () => {
    for (const level of [100, 50.001])
      expect(plan({ level })).toMatchObject({
        kind: 'step',
        limits: {
          range: 'high',
          effort: { size: 'full', maxOutputTokens: 4_096 },
          maxCalls: 4,
          builtIn: undefined,
        },
      });
  });

  it('with medium energy has the full model and half of the calls', () => {
    for (const level of [50, 20.001])
      expect(plan({ level })).toMatchObject({
        limits: { range: 'medium', effort: { size: 'full', maxOutputTokens: 2_048 }, maxCalls: 2 },
      });
  });

  it('with low energy has the small model, a short answer and one call', () => {
    for (const level of [20, 0.001])
      expect(plan({ level })).toMatchObject({
        limits: { range: 'low', effort: { size: 'small', maxOutputTokens: 512 }, maxCalls: 1 },
      });
  });

  it('with no energy answers a waiting user once, with the small model and without tools', () => {
    expect(plan({ level: 0 })).toMatchObject({
      kind: 'step',
      limits: {
        range: 'urgent',
        effort: { size: 'small' },
        maxCalls: 0,
        builtIn: ['respond', 'await_energy'],
      },
    });
    const answered = [conversation('a', { isAnsweredInUrgency: true })];
    expect(plan({ level: -10, conversations: answered })).toEqual({
      kind: 'wait',
      reason: 'energy',
      until: NOW + 10_001,
    });
    const results = [conversation('a', { unansweredSince: undefined })];
    expect(plan({ level: -1, conversations: results })).toMatchObject({ kind: 'wait', reason: 'energy' });
  });

  it('is for users first, then for who was not served for longest', () => {
    const conversations = [
      conversation('result', { unansweredSince: undefined }),
      conversation('served', { lastStepAt: NOW - 1, unansweredSince: NOW - 9_999, steps: 1 }),
      conversation('new'),
    ];
    expect(plan({ conversations })).toMatchObject({ conversation: { id: 'new' } });
    expect(plan({ conversations: conversations.slice(0, 2) })).toMatchObject({
      conversation: { id: 'served' },
    });
    const selected = { conversations: conversations.slice(0, 2), selected: 'result' };
    expect(plan(selected)).toMatchObject({ conversation: { id: 'result' } });
    expect(plan({ conversations, selected: 'result' })).toMatchObject({ conversation: { id: 'new' } });
  });

  it('can only respond if it is the last one that a message may take', () => {
    const conversations = [conversation('a', { steps: MAX_STEPS - 1 })];
    expect(plan({ conversations })).toMatchObject({ limits: { maxCalls: 0, builtIn: ['respond'] } });
  });

  it('is not made in a conversation that has used up its budget', () => {
    expect(plan({ conversations: [conversation('a', { used: 100_000 })] })).toMatchObject({
      kind: 'exhausted',
    });
  });
});

describe('a conversation that waits', () => {
  it('for calls gets no step, unless the user writes', () => {
    const waiting = conversation('a', { openCalls: 1, steps: 1 });
    expect(plan({ conversations: [waiting] })).toMatchObject({ kind: 'wait', until: undefined });
    expect(plan({ conversations: [withUserMessage(waiting, NOW)] })).toMatchObject({ kind: 'step' });
  });

  it('for a time or for energy gets a step then', () => {
    const snoozed = conversation('a', { snoozedUntil: NOW + 60_000 });
    expect(plan({ conversations: [snoozed] })).toMatchObject({ kind: 'wait', until: NOW + 60_000 });
    expect(plan({ conversations: [snoozed], now: NOW + 60_000 })).toMatchObject({ kind: 'step' });
    const tired = conversation('a', { awaitedLevel: 80, awaitedUntil: NOW + 150_000 });
    const facts = { conversations: [tired], level: 60 };
    expect(plan(facts)).toEqual({ kind: 'wait', until: NOW + 20_000, reason: 'energy' });
    expect(plan({ ...facts, level: 80 })).toMatchObject({ kind: 'step' });
    // Others used the energy up again and again.
    expect(plan({ ...facts, now: NOW + 150_000 })).toMatchObject({ kind: 'step' });
  });
});

describe('a review', () => {
  const idle = { conversations: [], unreviewed: ended };

  it('happens after a quiet period, with the small model and only to respond', () => {
    expect(plan({ ...idle, now: NOW + 299_999 })).toMatchObject({ kind: 'wait', until: NOW + 300_000 });
    for (const level of [100, 21])
      expect(plan({ ...idle, level, now: NOW + 300_000 })).toMatchObject({
        kind: 'review',
        conversation: { id: 'z' },
        limits: { effort: { size: 'small' }, maxCalls: 0, builtIn: ['respond'] },
      });
  });

  it('does not happen with low energy, during calls, or if it is switched off', () => {
    const now = NOW + 400_000;
    for (const level of [20, 0]) expect(plan({ ...idle, level, now })).toMatchObject({ kind: 'wait' });
    const conversations = [conversation('a', { openCalls: 1, steps: 1 })];
    expect(plan({ ...idle, conversations, now })).toMatchObject({ kind: 'wait', until: undefined });
    const config = toAgentConfig({ idleReflectionSeconds: 0 });
    expect(plan({ ...idle, config, now })).toMatchObject({ kind: 'wait', until: undefined });
  });
});
