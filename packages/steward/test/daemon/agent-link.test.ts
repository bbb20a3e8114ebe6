/** What the agent of the daemon can do to the steward: it pauses and cancels its own requests, and hears of those. */
import { startDaemon } from '@turnbuckle/gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentLink } from '../../src/daemon/agent-link.js';
import { createStewardPart } from '../../src/index.js';
import { RequestQueue } from '../../src/queue/queue.js';
import { openStewardDatabase } from '../../src/queue/steps.js';
import { makeRequest } from '../request-maker.js';
import { openStewardStage, type StewardStage } from './stage.js';

const TYPES = ['completion', 'error', 'tool_available'] as const;
const SEARCH = { type: 'search_servers', params: { purpose: 'count words' } } as const;

let stage: StewardStage;
let link: AgentLink;
beforeEach(async () => {
  stage = await openStewardStage({
    open: (place) =>
      startDaemon({
        version: '0.0.0',
        ...place,
        port: 0,
        parts: [createStewardPart({ cwd: place.cwd, onLink: (made) => (link = made) })],
      }),
  });
});
afterEach(() => stage.close());

/** As its tool does. */
async function askAsAgent(): Promise<string> {
  const database = await openStewardDatabase(stage.home.file('state/work.db'));
  const request = makeRequest({}, { ...SEARCH, requestedBy: 'agent' });
  new RequestQueue(database).enqueue(request, Date.now());
  database.close();
  return request.id;
}

const mode = async () => (await stage.api('GET', '/api/steward')).body;

// requirement E7
describe('the agent', () => {
  it('pauses its own requests, and resumes nothing that the owner has paused', async () => {
    const own = await stage.request(SEARCH.type, SEARCH.params);
    await stage.until(own, 'completed');
    await link.pause('agent');
    expect(await mode()).toMatchObject({ paused: false, pausedBy: ['agent'] });
    const held = await askAsAgent();
    const second = await stage.request(SEARCH.type, SEARCH.params);
    await stage.until(second, 'completed');
    expect(await stage.status(held)).toMatchObject({ state: 'queued' });
    await stage.api('POST', '/api/steward/pause');
    expect(await mode()).toMatchObject({ paused: true, pausedBy: ['owner', 'agent'] });
    await link.resume();
    expect(await mode()).toMatchObject({ paused: true, pausedBy: ['owner'] });
    const { hasWork, hasOwnWork } = await link.poll({ caller: 'agent', types: TYPES, after: 0 });
    expect({ hasWork, hasOwnWork }).toEqual({ hasWork: true, hasOwnWork: true });
    await stage.api('POST', '/api/steward/resume');
    await stage.until(held, 'completed');
  });

  it('cancels its own requests, and none of the owner', async () => {
    await stage.api('POST', '/api/steward/pause');
    const mine = await stage.request(SEARCH.type, SEARCH.params);
    const its = await askAsAgent();
    await link.cancelAllOf('agent', 'the agent has too little energy');
    expect(await stage.status(its)).toMatchObject({
      state: 'cancelled',
      message: 'Cancelled: the agent has too little energy',
    });
    expect(await stage.status(mine)).toMatchObject({ state: 'queued' });
    const { hasOwnWork, hasWork } = await link.poll({ caller: 'agent', types: TYPES, after: 0 });
    expect({ hasWork, hasOwnWork }).toEqual({ hasWork: true, hasOwnWork: false });
  });

  it('reads news about its own requests from where it was, also after a restart', async () => {
    const mine = await stage.request(SEARCH.type, SEARCH.params);
    await stage.until(mine, 'completed');
    const its = await askAsAgent();
    await stage.until(its, 'completed');
    await stage.restart();
    const later = await askAsAgent();
    await stage.until(later, 'completed');
    const read = async (after: number) => link.poll({ caller: 'agent', types: TYPES, after });
    await expect
      .poll(async () => (await read(0)).news.map(({ requestId }) => requestId))
      .toEqual([its, later]);
    const { news, readTo } = await read(0);
    expect((await read(news[0]?.number ?? 0)).news.map(({ requestId }) => requestId)).toEqual([later]);
    expect((await read(readTo)).news).toEqual([]);
  });
});
