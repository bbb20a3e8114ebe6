/** A tool that does not exist leads to a search if that is enabled: few, of low priority, and never to more than a search. */
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { type Json, openStewardStage, type StewardStage } from './stage.js';

let stage: StewardStage;
afterEach(() => stage.close());

let token = '';
async function open(config: Json, environment: Record<string, string> = {}): Promise<void> {
  stage = await openStewardStage({ config: { servers: { known: fixture('echo') }, ...config }, environment });
  const grant = { name: 'agent', can: ['mcp_integration'], access: ['call'] };
  token = String((await stage.api('POST', '/api/tokens', grant)).body.token);
}

const callUnknown = (name: string, caller = token) =>
  stage.api('POST', '/mcp/call', { server: 'known', tool_name: name, arguments: {} }, caller);
const requests = async (): Promise<Json[]> =>
  (await stage.api('GET', '/api/steward/requests?limit=100')).body.requests as Json[];

// requirement E3, E4
describe('a tool that does not exist', () => {
  it('leads to nothing by default', async () => {
    await open({});
    expect((await callUnknown('count_words')).body.code).toBe('TOOL_UNKNOWN');
    // A request that comes later is stored later.
    const later = await stage.request('search_servers', { purpose: 'later' });
    await stage.until(later, 'completed');
    expect((await requests()).map(({ requestId }) => requestId)).toEqual([later]);
  });

  it.each([
    { how: 'the file', config: { autoDiscoveryEnabled: true }, environment: {} },
    { how: 'the environment', config: {}, environment: { MCP_AUTO_DISCOVERY: 'true' } },
  ])('is searched for once if $how says so, and nothing is installed', async ({ config, environment }) => {
    await open(config, environment);
    const file = JSON.stringify(stage.config());
    for (let count = 0; count < 3; count += 1) await callUnknown('count_words');
    // The owner is no agent.
    await callUnknown('read_sheets', stage.daemon.token);
    await waitUntil(async () => (await requests())[0]?.state === 'completed');
    expect(await requests()).toMatchObject([{ type: 'search_servers', priority: 'low', state: 'completed' }]);
    expect(JSON.stringify((await requests())[0])).toContain('io.github.acme/files');
    for (let count = 0; count < 30; count += 1) await callUnknown(`made_up_${count}0`);
    await waitUntil(async () => (await requests()).every(({ state }) => state === 'completed'));
    const all = await requests();
    expect(all.length).toBeLessThanOrEqual(10);
    expect(new Set(all.map(({ type }) => type))).toEqual(new Set(['search_servers']));
    expect(JSON.stringify(stage.config())).toBe(file);
    expect(stage.npm.requests).toEqual([]);
    expect((await stage.api('GET', '/api/steward/approvals')).body).toEqual({ approvals: [] });
  });
});
