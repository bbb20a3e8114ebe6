/** Several workers of one daemon share requests that all change the same file. */
import { fixture, waitUntil } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { openQueue } from '../queue/open-queue.js';
import { type Json, openStewardStage } from './stage.js';
import { workerPids } from './worker-processes.js';

const COUNT = 20;

// requirement E8
it('three workers run 20 requests, each exactly once, although one of them is killed', async () => {
  const names = Array.from({ length: COUNT }, (_, at) => `server${at}`);
  const servers = Object.fromEntries(names.map((name) => [name, { ...fixture('echo'), enabled: false }]));
  const stage = await openStewardStage({ settings: { workers: 3 }, config: { servers } });
  try {
    const change = (serverName: string) =>
      stage.request('modify_server', { serverName, changes: { description: `changed ${serverName}` } });
    const ids = await Promise.all(names.map(change));
    await waitUntil(() => workerPids(stage.home.path).length === 3);
    const all = Promise.all(ids.map((id) => stage.approveAll(id)));
    await waitUntil(() => JSON.stringify(stage.config()).includes('changed'));
    const [victim] = workerPids(stage.home.path);
    if (victim === undefined) throw new Error('no worker is running');
    process.kill(victim, 'SIGKILL');
    expect((await all).map(({ state }) => state)).toEqual(ids.map(() => 'completed'));
    const changed = stage.config().servers as Record<string, Json>;
    for (const name of names) expect(changed[name]?.description).toBe(`changed ${name}`);
    const { queue, database } = await openQueue(stage.home.file('state/work.db'));
    const completions = queue.messagesAfter(0, 1_000).filter(({ type }) => type === 'completion');
    expect(completions.map(({ requestId }) => requestId).sort()).toEqual([...ids].sort());
    const applied = database.prepare("SELECT ref FROM energy_spent WHERE ref LIKE '%:apply:%'").all();
    expect(applied).toHaveLength(COUNT);
  } finally {
    await stage.close();
  }
});
