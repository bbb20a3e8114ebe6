import { waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import type { Credentials, Visitor } from '../../src/http/visitor.js';
import { CREDENTIALS, openServer } from '../http/open-server.js';

describe('wrong tokens', () => {
  it('are bounded, and do not shut out who has a good one', async () => {
    const looked: string[] = [];
    const verify = async (token: string): Promise<undefined> => void looked.push(token);
    const { url, reached } = await openServer({
      doors: { credentials: { ...CREDENTIALS, verify }, wrongTokens: { perSecond: 0.001, burst: 20 } },
    });
    const ask = async (token: string): Promise<number> => {
      const answer = await fetch(`${url}/tools`, { headers: { authorization: `Bearer ${token}` } });
      await answer.text();
      return answer.status;
    };
    const statuses: number[] = [];
    for (let round = 0; round < 50; round += 1)
      statuses.push(
        ...(await Promise.all(Array.from({ length: 20 }, (_, at) => ask(`wrong-${round}-${at}`)))),
      );
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(980);
    expect(looked).toHaveLength(20);
    expect(await ask('all')).toBe(200);
    expect(reached).toEqual(['GET /tools']);
  });

  it('are not counted for a good one that comes many times at once before it is known', async () => {
    const looks: Array<(visitor: Visitor) => void> = [];
    const credentials: Credentials = {
      find: () => undefined,
      verify: () => new Promise((resolve) => looks.push(resolve)),
    };
    const { url } = await openServer({ doors: { credentials, wrongTokens: { perSecond: 0.001, burst: 2 } } });
    const asked = Array.from({ length: 30 }, () =>
      fetch(`${url}/tools`, { headers: { authorization: 'Bearer fresh' } }),
    );
    const settled = Promise.all(asked);
    const visitor: Visitor = { caller: { id: 'a', capabilities: [] }, access: new Set(['look']) };
    let done = false;
    void settled.then(() => {
      done = true;
    });
    await waitUntil(() => {
      for (const look of looks) look(visitor);
      return done;
    });
    expect((await settled).map(({ status }) => status)).toEqual(asked.map(() => 200));
  });
});
