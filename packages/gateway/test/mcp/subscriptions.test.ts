import { fixture } from '@turnbuckle/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { initialize, send } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

let stand: Stand | undefined;
afterEach(() => stand?.close());

describe('a subscription', () => {
  it('that is requested many times at once is opened once, and ends with one unsubscribe', async () => {
    const here = await openStand({ servers: { up: fixture('echo') } });
    stand = here;
    const { runtime } = here;
    let open = 0;
    let begun = 0;
    const subscribe = runtime.subscribeResource.bind(runtime);
    runtime.subscribeResource = async (...given) => {
      begun += 1;
      const end = await subscribe(...given);
      open += 1;
      return async () => {
        open -= 1;
        await end();
      };
    };
    const headers = { 'mcp-session-id': await initialize(here) };
    const [resource] = await runtime.listResources('up');
    const ask = (method: string, id: number) =>
      send(here, { jsonrpc: '2.0', id, method, params: { uri: resource?.uri } }, { headers });
    const answers = await Promise.all([1, 2, 3, 4, 5].map((id) => ask('resources/subscribe', id)));
    expect(answers.map(({ body }) => body.result)).toEqual([{}, {}, {}, {}, {}]);
    expect([begun, open]).toEqual([1, 1]);
    await ask('resources/unsubscribe', 6);
    expect(open).toBe(0);
    // One that is cancelled before it has begun, and one that lasts until the session ends.
    await Promise.all([ask('resources/subscribe', 7), ask('resources/unsubscribe', 8)]);
    await ask('resources/subscribe', 9);
    await send(here, '', { headers, method: 'DELETE' });
    expect(open).toBe(0);
  });
});
