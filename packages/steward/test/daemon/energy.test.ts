/** What ordinary requests cost, and that what is taken for them is what they have consumed, over restarts. */
import { timeBound, waitUntil } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { QueueClient } from '../../src/queue/queue-client.js';
import { openStewardStage } from './stage.js';

// requirement E4
it('requests cost what their kind should, and the energy is taken once, over restarts', async () => {
  const stage = await openStewardStage();
  let consumed = 0;
  let taken = 0;
  /** As the loop of an agent does, which may end at any time. */
  const take = async (): Promise<void> => {
    const client = new QueueClient({ file: stage.home.file('state/work.db'), refreshMs: 20 });
    await waitUntil(() => {
      taken += client.getSubAgentEnergyConsumption();
      return Math.abs(taken - consumed) < 1e-6;
    });
    await client.close();
  };
  const costs = async (type: string, params: Record<string, unknown>): Promise<number> => {
    const status = await stage.approveAll(await stage.request(type, params));
    expect(status).toMatchObject({ state: 'completed' });
    consumed += Number(status.energyConsumed);
    return Number(status.energyConsumed);
  };
  const expectBetween = (cost: number, least: number, most: number): void => {
    expect(cost).toBeGreaterThanOrEqual(least);
    // Two units a second, and a busy machine takes longer.
    expect(cost).toBeLessThanOrEqual(timeBound(most));
  };
  try {
    expectBetween(await costs('search_servers', { purpose: 'count words' }), 20, 50);
    expectBetween(await costs('add_server', { purpose: 'files' }), 5, 10);
    await take();
    expectBetween(await costs('test_server', { serverName: 'files' }), 10, 20);
    await stage.restart();
    await take();
    const changes = { description: 'changed' };
    expectBetween(await costs('modify_server', { serverName: 'files', changes }), 2, 5);
    expectBetween(await costs('remove_server', { serverName: 'files' }), 2, 5);
    await stage.restart();
    await take();
    await take();
    expect(taken).toBeCloseTo(consumed, 6);
  } finally {
    await stage.close();
  }
});
