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
it('pays for what the steward used while the agent ran, and not for what it used before', async () => {
  let unconfirmed: { ref: string; thousandths: number; at: number }[] = [];
  const steward = (clock: { now: number }): StewardLink => {
    unconfirmed = [{ ref: 'before', thousandths: 50_000, at: clock.now - 3_600_000 }];
    return {
      ...talkative([]),
      poll: async ({ after }) => ({
        news: [],
        readTo: after,
        energy: [...unconfirmed],
        hasWork: false,
        hasOwnWork: false,
      }),
      confirmEnergy: async (refs) => {
        unconfirmed = unconfirmed.filter(({ ref }) => !refs.includes(ref));
      },
    };
  };
  const agent = await simulate({ model: () => IDLE, steward });
  onTestFinished(agent.close);
  const spend = (ref: string, at: number): void => void unconfirmed.push({ ref, thousandths: 1_000, at });
  const paid = async (): Promise<number> => {
    await agent.loop.cycle();
    expect(unconfirmed).toEqual([]);
    return (await agent.store.run('energyTotals')).bySource.steward;
  };
  expect(await paid()).toBe(0);
  spend('while it ran', agent.clock.now);
  expect(await paid()).toBe(1_000);
  const stoppedAt = agent.clock.now;
  agent.clock.now += 86_400_000;
  spend('just before its end', stoppedAt + 1_000);
  spend('while it was disabled', stoppedAt + 7_200_000);
  await agent.restart();
  expect(await paid()).toBe(2_000);
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
