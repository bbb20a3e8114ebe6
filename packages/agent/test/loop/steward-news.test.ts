import type { ChatModel } from '@turnbuckle/model';
import { expect, it, onTestFinished } from 'vitest';
import type { StewardLink, StewardNews } from '../../src/loop/steward-link.js';
import { simulate } from './simulated-agent.js';

const PAGE = 100;
const IDLE: ChatModel = {
  step: async () => ({ text: 'ok', toolCalls: [], usage: { inputTokens: 0, outputTokens: 0 }, ms: 1 }),
};

/** A steward that has told a lot at once, and hands it over in pages. */
const talkative = (news: readonly StewardNews[]): StewardLink => ({
  poll: async ({ after }) => {
    const page = news.filter(({ number }) => number > after).slice(0, PAGE);
    return {
      news: page,
      readTo: page.at(-1)?.number ?? after,
      energy: [],
      hasWork: false,
      hasOwnWork: false,
    };
  },
  confirmEnergy: async () => {},
  pause: async () => {},
  resume: async () => {},
  cancelAllOf: async () => {},
});

// requirement E7
it('every news of the steward reaches its conversation once and in order, over restarts', async () => {
  const news: StewardNews[] = [];
  const tell = (count: number): void => {
    for (let at = 0; at < count; at += 1)
      news.push({ number: news.length + 1, type: 'completion', requestId: 'r', data: news.length + 1 });
  };
  const agent = await simulate({ model: () => IDLE, steward: () => talkative(news) });
  onTestFinished(agent.close);
  const added = await agent.say('find something');
  const id = 'conversation' in added ? added.conversation : '';
  await agent.store.run('linkRequest', 'r', id);
  tell(150);
  await agent.loop.cycle();
  await agent.restart();
  tell(40);
  await agent.loop.cycle();
  await agent.loop.cycle();
  const history = await agent.store.run('history', id);
  const notes = history?.messages.flatMap((one) => (one.kind === 'note' ? [one.text] : [])) ?? [];
  expect(notes).toEqual(news.map(({ data }) => `Request r: completion. ${String(data)}`));
});
