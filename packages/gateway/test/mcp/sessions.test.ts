import { fixture, waitUntil } from '@turnbuckle/testing';
import type { Caller } from 'turnbuckle';
import { afterEach, describe, expect, it } from 'vitest';
import { initialize, send } from './raw-client.js';
import { openStand, type Stand, type StandOptions } from './stand.js';

const ALL = ['mcp_integration'];
const CALLERS: Readonly<Record<string, Caller>> = {
  token: { id: 'ada', capabilities: ALL },
  other: { id: 'bob', capabilities: ALL },
};
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

let stand: Stand | undefined;
afterEach(() => stand?.close());

async function open(options: Partial<StandOptions> = {}): Promise<Stand> {
  stand = await openStand({ servers: { up: fixture('echo') }, callers: CALLERS, ...options });
  return stand;
}

const inSession = (id: string, token = 'token') => ({ token, headers: { 'mcp-session-id': id } });

describe('a session of an older client', () => {
  it('cannot be guessed, and has a name of its own each time', async () => {
    const here = await open();
    const names = await Promise.all(Array.from({ length: 20 }, () => initialize(here)));
    expect(new Set(names).size).toBe(20);
    for (const name of names) expect(name).toMatch(/^[\w-]{32}$/);
  });

  it('is of no use to anybody else', async () => {
    const here = await open();
    const id = await initialize(here);
    expect((await send(here, LIST, inSession(id))).status).toBe(200);
    for (const method of ['POST', 'GET', 'DELETE']) {
      const stolen = await send(here, LIST, { ...inSession(id, 'other'), method });
      expect(stolen.status).toBe(404);
      expect(stolen.body.error).toEqual({ code: -32001, message: 'There is no such session' });
    }
    const made = await send(here, LIST, inSession('A'.repeat(32)));
    expect(made.body.error).toEqual({ code: -32001, message: 'There is no such session' });
    expect((await send(here, LIST, inSession(id))).status).toBe(200);
  });

  it('is of one view', async () => {
    const here = await open({ views: { small: { servers: [] } } });
    const id = await initialize(here);
    expect((await send(here, LIST, { ...inSession(id), path: '/mcp/small' })).status).toBe(404);
  });

  it('is needed by whoever does not speak the newer revision', async () => {
    const here = await open();
    expect(await send(here, LIST)).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
    expect((await send(here, '', { method: 'GET' })).status).toBe(405);
  });

  it('ends when its client says so', async () => {
    const here = await open();
    const id = await initialize(here);
    expect((await send(here, '', { ...inSession(id), method: 'DELETE' })).status).toBe(204);
    expect((await send(here, LIST, inSession(id))).status).toBe(404);
    expect(here.front.sessions.size).toBe(0);
  });

  it('ends when nobody uses it', async () => {
    let now = 0;
    const here = await open({ now: () => now, sessionLimits: { idleMs: 60_000 } });
    const [old, young] = [await initialize(here), await initialize(here)];
    now = 50_000;
    expect((await send(here, LIST, inSession(young))).status).toBe(200);
    now = 70_000;
    here.front.sessions.sweep();
    expect((await send(here, LIST, inSession(old))).status).toBe(404);
    expect((await send(here, LIST, inSession(young))).status).toBe(200);
  });

  it('is one of a bounded number, in all and for each caller', async () => {
    const here = await open({ sessionLimits: { maxSessions: 3, maxSessionsPerCaller: 2 } });
    expect(await initialize(here)).not.toBe('');
    expect(await initialize(here)).not.toBe('');
    expect(await initialize(here)).toBe('');
    expect(await initialize(here, { token: 'other' })).not.toBe('');
    expect(await initialize(here, { token: 'other' })).toBe('');
  });

  it('takes its calls with it', async () => {
    const here = await open();
    const id = await initialize(here);
    const sleep = { name: 'up_sleep', arguments: { ms: 60_000 } };
    const call = send(here, { jsonrpc: '2.0', id: 2, method: 'tools/call', params: sleep }, inSession(id));
    await waitUntil(() => here.runtime.serverStatus('up').inFlight === 1);
    await send(here, '', { ...inSession(id), method: 'DELETE' });
    expect((await call).body.error).toMatchObject({ code: -32800 });
  });
});
