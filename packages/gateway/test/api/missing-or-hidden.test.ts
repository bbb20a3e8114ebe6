/** A restricted token learns nothing about a hidden tool from the log, its statistics and the events. */
import { type Caller, TurnbuckleError } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openUpstream } from '../threats/upstream.js';
import { openStage, type Stage } from './api-stage.js';
import { followEvents } from './read-events.js';

const LOOK = { name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
const WIPE = { name: 'wipe', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } };
const CAN = ['mcp:s'];
const AGENT: Caller = { id: 'agent', capabilities: CAN };

/** Each of them hides `wipe`. */
const RULES: Readonly<Record<string, readonly object[]>> = {
  'its annotations': [{ action: 'deny', annotations: { destructive: true } }, { action: 'allow' }],
  'an allow rule for other tools': [{ action: 'allow', annotations: { readOnly: true } }, { action: 'deny' }],
  'its name': [{ action: 'deny', tool: 'wipe' }, { action: 'allow' }],
};

interface World {
  readonly tools: readonly object[];
  readonly rules: readonly object[];
  /** The server was connected, and is down now. */
  readonly isDown: boolean;
}

/** A daemon with a server that has these tools. */
async function open({ tools, rules, isDown }: World): Promise<Stage> {
  const upstream = await openUpstream({ tools });
  onTestFinished(() => upstream.close());
  const servers = { s: { url: upstream.url, trusted: true } };
  const stage = await openStage({ file: JSON.stringify({ servers, rules }) });
  await stage.runtime.connectAll();
  if (isDown) {
    await upstream.close();
    await stage.runtime.disconnect('s');
  }
  return stage;
}

async function codeOf(calling: Promise<unknown>): Promise<string> {
  const thrown: unknown = await calling.then(
    () => undefined,
    (error: unknown) => error,
  );
  return thrown instanceof TurnbuckleError ? thrown.code : 'ok';
}

/** What the agent learns of its own calls of `wipe`. */
async function learn(stage: Stage): Promise<unknown> {
  const token = await stage.token(['read'], CAN);
  const following = await followEvents(stage, { token, query: '?types=call.*' });
  const events = () => following.events().map(({ event, data }) => `${event} ${String(data.data.tool)}`);
  const codes: string[] = [];
  for (const tool of ['wipe', 'mcp__s__wipe', 'look']) {
    const server = tool.startsWith('mcp__') ? undefined : 's';
    codes.push(await codeOf(stage.runtime.call({ server, tool, caller: AGENT })));
  }
  await expect.poll(events).toContain('call.settled look');
  const ask = async (path: string) => (await stage.ask('GET', path, { token })).body;
  const { calls } = (await ask('/api/calls')) as { calls: Array<Record<string, unknown>> };
  const stats = (await ask('/api/stats')) as Record<string, Array<Record<string, unknown>>>;
  const { id } =
    ((await stage.ask('GET', '/api/calls?tool=wipe')).body.calls as Array<{ id: string }>)[0] ?? {};
  const one = await stage.ask('GET', `/api/calls/${id}`, { token });
  return {
    codes,
    events: events(),
    calls: calls.map(({ tool, outcome }) => [tool, outcome]),
    stats: [...(stats.tools ?? []), ...(stats.servers ?? [])].map((row) => [row.tool, row.calls]),
    found: [await ask('/api/calls?tool=wipe'), await ask('/api/calls?search=wipe'), one.status],
  };
}

describe.each(Object.entries(RULES))('a tool that is hidden by %s', (_, rules) => {
  it.each([false, true])('looks to its caller as if it did not exist (server down: %s)', async (isDown) => {
    const hidden = await learn(await open({ tools: [LOOK, WIPE], rules, isDown }));
    const missing = await learn(await open({ tools: [LOOK], rules, isDown }));
    expect(hidden).toEqual(missing);
    expect(hidden).toMatchObject({ calls: [['look', isDown ? 'failed' : 'ok']], found: [NONE, NONE, 404] });
  });
});

const NONE = { calls: [] };

it('is hidden once it is gone and its kind is unknown', async () => {
  const rules = [
    { action: 'deny', caller: 'agents', annotations: { destructive: true } },
    { action: 'allow' },
  ];
  const stage = await open({ tools: [LOOK, WIPE], rules, isDown: false });
  await stage.runtime.call({ server: 's', tool: 'wipe', arguments: { secret: 'word' } });
  await stage.runtime.call({ server: 's', tool: 'look' });
  const token = await stage.token(['read'], CAN);
  const seen = async () => {
    const { calls } = (await stage.ask('GET', '/api/calls', { token })).body;
    return (calls as Array<{ tool: string }>).map(({ tool }) => tool);
  };
  expect(await seen()).toEqual(['look']);
  const { s } = JSON.parse(stage.written()).servers;
  // The changed server is new to the runtime, which has not listed its tools yet.
  await stage.runtime.setServers({ s: { ...s, start: 'lazy', url: `${s.url}?again` } });
  expect(stage.runtime.catalog.find('s', 'wipe')).toBeUndefined();
  expect(await seen()).not.toContain('wipe');
});
