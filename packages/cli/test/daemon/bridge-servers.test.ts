import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Home, turnbuckle } from '../commands/turnbuckle.js';
import { type RunningDaemon, startDaemon } from './running-daemon.js';

interface Row {
  readonly name: string;
  readonly status: string;
  readonly tools: number;
  readonly error?: string;
}

let home: Home;
let daemon: RunningDaemon;
const made = new Map<string, string>();
beforeAll(async () => {
  const broken = { command: 'no-such-command-here' };
  home = await createHome();
  await home.write('.config/turnbuckle/mcp.json', {
    servers: {
      echo: fixture('echo'),
      hidden: fixture('echo'),
      broken,
      denied: broken,
      off: { ...fixture('echo'), enabled: false },
    },
    rules: [
      { action: 'deny', server: 'denied', caller: 'some' },
      { action: 'deny', server: 'hidden', tool: '?*', caller: 'some' },
    ],
  });
  for (const [name, ...words] of [
    ['all'],
    ['some', '--capability', 'mcp_broken', '--capability', 'mcp_denied', '--capability', 'mcp_hidden'],
  ] as const)
    made.set(name, (await turnbuckle(['token', 'create', name, ...words], { home })).stdout.trim());
  daemon = await startDaemon([], { home });
  const isSettled = async (): Promise<boolean> =>
    (await servers(daemon.token)).every(({ status }) => status !== 'connecting' && status !== 'pending');
  await waitUntil(isSettled, 60_000);
});
afterAll(() => daemon.stop('SIGKILL'));

const servers = async (token = ''): Promise<readonly Row[]> => {
  const response = await fetch(`${daemon.url}/servers`, { headers: { authorization: `Bearer ${token}` } });
  return ((await response.json()) as { servers: readonly Row[] }).servers;
};
const names = async (token = ''): Promise<string[]> => (await servers(token)).map(({ name }) => name).sort();

describe('GET /servers of the bridge', () => {
  it('includes servers that are not connected, with their status', async () => {
    const rows = await servers(daemon.token);
    expect(rows.map(({ name }) => name).sort()).toEqual(['broken', 'denied', 'echo', 'hidden', 'off']);
    expect(rows.find(({ name }) => name === 'broken')).toMatchObject({
      status: 'failed',
      tools: 0,
      error: expect.stringContaining('no-such-command-here'),
    });
    expect(rows.find(({ name }) => name === 'off')).toMatchObject({ status: 'disabled', tools: 0 });
  });

  it('lists for other callers only servers of which they may use something', async () => {
    expect(await names(made.get('all'))).toEqual(['broken', 'denied', 'echo', 'hidden', 'off']);
    expect(await names(made.get('some'))).toEqual(['broken']);
  });
});
