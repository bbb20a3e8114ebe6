import type { Client } from '@modelcontextprotocol/client';
import { fixture } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import {
  connectHttp,
  connectStreams,
  createClient,
  type Era,
  openStand,
  type Stand,
  type Way,
} from './stand.js';

const CONNECT: Record<Way, (stand: Stand, era: Era) => Promise<Client>> = {
  http: (stand, era) => connectHttp(stand, createClient({ era }), { era }),
  stdio: (stand, era) => connectStreams(stand, createClient({ era })),
};

// requirement C8
it.each([
  ['legacy', 'http'],
  ['modern', 'http'],
  ['legacy', 'stdio'],
  ['modern', 'stdio'],
] as const)(
  'a disconnected server stays in the lists of a %s client over %s, and a call connects it',
  async (era, way) => {
    const stand = await openStand({ servers: { echo: fixture('echo') } });
    onTestFinished(() => stand.close());
    // A client caches lists, so each look is that of another client.
    const use = async <T>(work: (client: Client) => Promise<T>): Promise<T> => {
      const client = await CONNECT[way](stand, era);
      return work(client).finally(() => client.close());
    };
    const list = (): Promise<string[]> =>
      use(async (client) => (await client.listTools()).tools.map(({ name }) => name));
    const before = await list();
    expect(before).toContain('echo_echo');
    await stand.runtime.disconnect('echo');
    expect(await list()).toEqual(before);
    expect(stand.runtime.serverStatus('echo').status).toBe('pending');
    const call = { name: 'echo_echo', arguments: { text: 'back' } };
    const { content } = await use((client) => client.callTool(call));
    expect(content).toMatchObject([{ text: 'back' }]);
    expect(stand.runtime.serverStatus('echo').status).toBe('connected');
    await stand.runtime.toggle('echo', false);
    expect(await list()).toEqual([]);
  },
);
