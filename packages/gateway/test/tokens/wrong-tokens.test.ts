import { waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import type { Credentials, Identity } from '../../src/identity/identity.js';
import { CREDENTIALS, openServer } from '../http/open-server.js';

describe('wrong tokens', () => {
  it('are limited in rate, and do not block a valid one', async () => {
    const checked: string[] = [];
    const verify = async (token: string): Promise<undefined> => void checked.push(token);
    const { url, reached } = await openServer({
      auth: { credentials: { ...CREDENTIALS, verify }, invalidTokenRate: { perSecond: 0.001, burst: 20 } },
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
    expect(checked).toHaveLength(20);
    expect(await ask('all')).toBe(200);
    expect(reached).toEqual(['GET /tools']);
  });

  it('do not include a valid one that arrives many times at once before it is verified', async () => {
    const looks: Array<(identity: Identity) => void> = [];
    const credentials: Credentials = {
      find: () => undefined,
      verify: () => new Promise((resolve) => looks.push(resolve)),
    };
    const { url } = await openServer({
      auth: { credentials, invalidTokenRate: { perSecond: 0.001, burst: 2 } },
    });
    const asked = Array.from({ length: 30 }, () =>
      fetch(`${url}/tools`, { headers: { authorization: 'Bearer fresh' } }),
    );
    const settled = Promise.all(asked);
    const identity: Identity = { caller: { id: 'a', capabilities: [] }, access: new Set(['read']) };
    let done = false;
    void settled.then(() => {
      done = true;
    });
    await waitUntil(() => {
      for (const look of looks) look(identity);
      return done;
    });
    expect((await settled).map(({ status }) => status)).toEqual(asked.map(() => 200));
  });
});
