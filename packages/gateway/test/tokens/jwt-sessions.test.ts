/** The tokens of an issuer change, their subject stays. The token of each request counts. */
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';
import { initialize, send } from '../mcp/raw-client.js';
import type { Stand } from '../mcp/stand.js';
import { type Issuer, openIssuer } from './issuer.js';

const RESOURCE = 'https://tools.example/mcp';

let issuer: Issuer;
let here: OwnDaemon;
let there: Stand;
beforeEach(async () => {
  issuer = await openIssuer();
  const scopes = {
    up: { access: ['call', 'read'], can: ['mcp_up'] },
    more: { access: ['call'], can: ['mcp_more'] },
  };
  here = await ownDaemon({
    servers: { up: fixture('echo'), more: fixture('echo') },
    rules: [{ action: 'allow' }],
    daemon: { issuer: { url: issuer.url, resource: RESOURCE, scopes } },
  });
  there = { url: here.daemon.url } as Stand;
  await here.daemon.configured.runtime.connectAll();
});
afterEach(() => here.close());

const sign = (scope: string, seconds = 600, more: object = {}): Promise<string> =>
  issuer.sign({
    ...{ iss: issuer.url, aud: RESOURCE, sub: 'ada', scope, jti: `${Math.random()}` },
    exp: Math.floor(Date.now() / 1_000) + seconds,
    ...more,
  });

async function toolsOf(session: string, token: string): Promise<string[]> {
  const headers = { 'mcp-session-id': session };
  const { body } = await send(there, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { token, headers });
  const tools = (body.result?.tools ?? []) as Array<{ readonly name: string }>;
  return [...new Set(tools.map(({ name }) => name.split('_')[0] ?? ''))].sort();
}

describe('a session of a subject at an issuer', () => {
  it('goes on with the next token, and is as good as that', async () => {
    const [wide, narrow] = await Promise.all([sign('up more'), sign('up')]);
    const session = await initialize(there, { token: wide });
    expect(await toolsOf(session, wide)).toEqual(['more', 'up']);
    expect(await toolsOf(session, narrow)).toEqual(['up']);
    const echo = { name: 'more_echo', arguments: { text: 'x' } };
    const headers = { 'mcp-session-id': session };
    const call = (token: string) =>
      send(there, { jsonrpc: '2.0', id: 2, method: 'tools/call', params: echo }, { token, headers });
    expect((await call(narrow)).body.error).toMatchObject({ data: { code: 'TOOL_UNKNOWN' } });
    expect((await call(wide)).body.result?.content).toEqual([{ type: 'text', text: 'x' }]);
  });

  it('belongs to no other subject, whatever claim names them', async () => {
    const token = await sign('up');
    const session = await initialize(there, { token });
    expect(await toolsOf(session, token)).toEqual(['up']);
    const same = { sub: undefined, client_id: 'ada' };
    for (const other of [await sign('up', 600, { sub: 'bob' }), await sign('up', 600, same)])
      expect(await toolsOf(session, other)).toEqual([]);
  });

  it('sends nothing on streams whose token has expired, and continues', async () => {
    const [short, long] = await Promise.all([sign('up', 4), sign('up')]);
    const session = await initialize(there, { token: short });
    const headers = { accept: 'text/event-stream', 'mcp-session-id': session };
    const stream = await here.fetch('/mcp', { token: short, headers });
    const events = await here.fetch('/api/events', { token: short });
    expect([stream.status, events.status]).toEqual([200, 200]);
    let over = 0;
    for (const one of [stream, events]) void one.text().then(() => (over += 1));
    await waitUntil(() => over === 2, 20_000);
    expect(await toolsOf(session, long)).toEqual(['up']);
  }, 30_000);
});
