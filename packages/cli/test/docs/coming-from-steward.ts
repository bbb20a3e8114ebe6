/** What docs/coming-from.md says about requests and energy, each row tried. */
import { fixture } from '@turnbuckle/testing';
import { expect } from 'vitest';
import { createHome, type Home, json, turnbuckle } from '../commands/turnbuckle.js';
import { daemonForTest, type RunningDaemon } from '../daemon/running-daemon.js';
import type { Attempt } from './coming-from-library.js';

const queue = async (home: Home): Promise<string> =>
  (await turnbuckle(['steward', 'request', 'test', 'demo'], { home })).stdout.trim();

/** Without a daemon, requests wait. */
const withQueue =
  (check: (home: Home, id: string) => Promise<void>): Attempt =>
  async () => {
    const home = await createHome({ demo: fixture('echo') });
    await check(home, await queue(home));
  };

interface NamedTool {
  readonly name: string;
  readonly estimatedEnergyCost?: number;
}

async function toolsOf({ url }: RunningDaemon, token: string): Promise<readonly NamedTool[]> {
  const response = await fetch(`${url}/tools`, { headers: { authorization: `Bearer ${token}` } });
  return ((await response.json()) as { tools: readonly NamedTool[] }).tools;
}

const TOOLS = [
  'mcp_request_server_addition',
  'mcp_check_subagent_status',
  'mcp_cancel_subagent_work',
  'mcp_list_available_tools',
];

export const REQUEST_ROWS: Readonly<Record<string, Attempt>> = {
  '`queueRequest`, `sendRequest`': withQueue(async (_home, id) => {
    expect(id).toMatch(/^[\da-f-]{36}$/);
  }),
  '`getStatus(requestId)`': withQueue(async (home, id) => {
    expect(await json(['steward', 'status', id], { home })).toMatchObject({ state: 'queued', progress: 0 });
  }),
  '`cancelRequest`': withQueue(async (home, id) => {
    expect(await json(['steward', 'cancel', id], { home })).toMatchObject({ state: 'cancelled' });
  }),
  '`pollMessages`': async () => {
    const home = await createHome({ demo: fixture('echo') });
    const { url, token } = await daemonForTest([], { home });
    const response = await fetch(`${url}/api/events`, { headers: { authorization: `Bearer ${token}` } });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const id = await queue(home);
    let seen = '';
    while (!(seen.includes('steward.message') && seen.includes(id)))
      seen += (await reader?.read())?.value ?? '';
    await reader?.cancel();
  },
  [TOOLS.map((name) => `\`${name}\``).join(', ')]: async () => {
    const home = await createHome({});
    const daemon = await daemonForTest([], { home });
    const words = ['token', 'create', 'agent', '--capability', 'mcp_steward'];
    const token = (await turnbuckle(words, { home })).stdout.trim();
    const names = (await toolsOf(daemon, token)).map(({ name }) => name);
    for (const wanted of TOOLS) expect(names.some((name) => name.endsWith(wanted))).toBe(true);
  },
  '`estimatedEnergyCost`': async () => {
    const home = await createHome({ demo: fixture('echo') });
    const daemon = await daemonForTest([], { home });
    await turnbuckle(['call', 'demo', 'echo', 'text=hi'], { home });
    const [first] = await toolsOf(daemon, daemon.token);
    expect(first?.estimatedEnergyCost).toBeGreaterThan(0);
  },
  '`getSubAgentEnergyConsumption`': withQueue(async (home, id) => {
    expect(await json(['steward', 'status', id], { home })).toHaveProperty('energyConsumed');
  }),
};
