/** The paths of files on this machine are told to those who may manage the daemon, and to nobody else. */
import { fixture, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ownDaemon } from '../daemon/own-daemon.js';
import { modern } from '../mcp/raw-client.js';
import type { Stand } from '../mcp/stand.js';
import { openStage } from './api-stage.js';
import { followEvents } from './read-events.js';

const FILE = JSON.stringify({
  servers: { demo: fixture('echo'), keyed: { ...fixture('echo'), env: { KEY: '${env:NO_SUCH_KEY}' } } },
  rules: [
    { action: 'allow', server: 'demo' },
    { action: 'deny', server: 'keyed', tool: 'count' },
  ],
});

describe('the path of a file of the configuration', () => {
  it('is in the events of calls only for tokens that may manage', async () => {
    const stage = await openStage({ file: FILE });
    const agent = { id: 'ada', capabilities: ['mcp_integration'] };
    const following = [
      await followEvents(stage),
      await followEvents(stage, { token: await stage.token(['read']) }),
    ] as const;
    await stage.runtime.connectAll();
    await stage.runtime.execute('mcp__demo__echo', { text: 'x' }, { caller: agent });
    await stage.runtime.call({ server: 'keyed', tool: 'echo' }).catch(() => {});
    for (const { events } of following)
      await waitUntil(() => events().filter(({ event }) => event === 'call.settled').length === 2);
    const [owner, reader] = following;
    const decided = (from: typeof owner) => from.events().find(({ event }) => event === 'call.decided')?.data;
    expect(decided(owner)).toMatchObject({ data: { rule: { file: stage.file } } });
    expect(decided(reader)).toMatchObject({ data: { rule: { index: 0, action: 'allow' } } });
    expect(reader.text()).toContain('VARIABLE_MISSING');
    expect(reader.text()).not.toContain(stage.file);
  });

  it('is in no response to a token that may only look', async () => {
    const stage = await openStage({ file: FILE });
    await stage.runtime.connectAll();
    await stage.runtime.callTool('demo', 'echo', { text: 'x' });
    await stage.runtime.call({ server: 'keyed', tool: 'echo' }).catch(() => {});
    await stage.log.flush();
    const token = await stage.token(['read']);
    const paths = stage.routes
      .filter(({ method, path }) => method === 'GET' && path.startsWith('/api/') && path !== '/api/events')
      .map(({ path }) => path.replace(/:name\b/, path.includes('tools') ? 'mcp__demo__echo' : 'keyed'));
    expect(paths.length).toBeGreaterThan(10);
    for (const path of paths) {
      const response = await fetch(stage.url + path, { headers: { authorization: `Bearer ${token}` } });
      expect([path, (await response.text()).includes(stage.file)]).toEqual([path, false]);
    }
  });

  it('is in no error for an agent that only calls', async () => {
    const own = await ownDaemon({ ...JSON.parse(FILE), rules: [{ action: 'allow' }] });
    onTestFinished(() => own.close());
    const { body } = await own.post('/api/tokens', {
      name: 'ada',
      can: ['mcp_integration'],
      access: ['call'],
    });
    const token = String(body.token);
    const call = { server: 'keyed', tool_name: 'echo', arguments: { text: 'x' } };
    const read = { server: 'keyed', uri: 'x://y' };
    const answers = [
      await own.post('/mcp/call', call, token),
      await own.post('/mcp/calls', { calls: [call] }, token),
      await own.post('/resources/read', read, token),
      await modern(
        { url: own.daemon.url } as Stand,
        { method: 'tools/call', params: { name: 'keyed_echo', arguments: { text: 'x' } } },
        { token },
      ),
    ].map((answer) => JSON.stringify(answer.body));
    for (const answer of answers) expect(answer).not.toContain('mcp.json');
    for (const answer of answers.slice(0, 3)) expect(answer).toContain('NO_SUCH_KEY');
    expect(JSON.stringify((await own.post('/mcp/call', call)).body)).toContain('mcp.json');
  });
});
