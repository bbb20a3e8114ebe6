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
const HELLO = {
  jsonrpc: '2.0',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

let stand: Stand | undefined;
afterEach(() => stand?.close());

async function open(options: Partial<StandOptions> = {}): Promise<Stand> {
  stand = await openStand({ servers: { up: fixture('echo') }, callers: CALLERS, ...options });
  return stand;
}

const inSession = (id: string, token = 'token') => ({ token, headers: { 'mcp-session-id': id } });

describe('a legacy session', () => {
  it('has a random, unique id', async () => {
    const here = await open();
    const names = await Promise.all(Array.from({ length: 20 }, () => initialize(here)));
    expect(new Set(names).size).toBe(20);
    for (const name of names) expect(name).toMatch(/^[\w-]{32}$/);
  });

  it('cannot be used by another token', async () => {
    const here = await open();
    const id = await initialize(here);
    expect((await send(here, LIST, inSession(id))).status).toBe(200);
    for (const method of ['POST', 'GET', 'DELETE']) {
      const stolen = await send(here, LIST, { ...inSession(id, 'other'), method });
      expect(stolen.status).toBe(404);
      expect(stolen.body.error).toEqual({ code: -32001, message: 'Session not found' });
    }
    const made = await send(here, LIST, inSession('A'.repeat(32)));
    expect(made.body.error).toEqual({ code: -32001, message: 'Session not found' });
    expect((await send(here, LIST, inSession(id))).status).toBe(200);
  });

  it('is valid for one view only', async () => {
    const here = await open({ views: { small: { servers: [] } } });
    const id = await initialize(here);
    expect((await send(here, LIST, { ...inSession(id), path: '/mcp/small' })).status).toBe(404);
  });

  it('is required for legacy clients', async () => {
    const here = await open();
    expect(await send(here, LIST)).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
    expect((await send(here, '', { method: 'GET' })).status).toBe(405);
  });

  it('ends when its client deletes it', async () => {
    const here = await open();
    const id = await initialize(here);
    expect((await send(here, '', { ...inSession(id), method: 'DELETE' })).status).toBe(204);
    expect((await send(here, LIST, inSession(id))).status).toBe(404);
    expect(here.endpoint.sessions.size).toBe(0);
  });

  it('ends when it is idle', async () => {
    let now = 0;
    const here = await open({ now: () => now, sessionLimits: { idleMs: 60_000 } });
    const [old, young] = [await initialize(here), await initialize(here)];
    now = 50_000;
    expect((await send(here, LIST, inSession(young))).status).toBe(200);
    now = 70_000;
    here.endpoint.sessions.sweep();
    expect((await send(here, LIST, inSession(old))).status).toBe(404);
    expect((await send(here, LIST, inSession(young))).status).toBe(200);
  });

  it('is limited in number, in total and for each caller', async () => {
    const here = await open({ sessionLimits: { maxSessions: 3, maxSessionsPerCaller: 2 } });
    for (const token of ['token', 'token', 'token', 'other', 'other', 'other']) {
      expect(await initialize(here, { token })).not.toBe('');
      expect(here.endpoint.sessions.size).toBeLessThanOrEqual(3);
    }
  });

  it('that is idle is replaced by a new one of its caller, the longest idle first', async () => {
    let now = 0;
    const here = await open({ now: () => now, sessionLimits: { maxSessionsPerCaller: 3 } });
    const ids: string[] = [];
    for (now = 1; now <= 3; now += 1) ids.push(await initialize(here));
    const foreign = await initialize(here, { token: 'other' });
    now = 10;
    expect((await send(here, LIST, inSession(ids[0] ?? ''))).status).toBe(200);
    expect(await initialize(here)).not.toBe('');
    const status = async (id = '', token = 'token') => (await send(here, LIST, inSession(id, token))).status;
    // The second was the longest idle by then.
    expect([await status(ids[0]), await status(ids[1]), await status(ids[2])]).toEqual([200, 404, 200]);
    expect(await status(foreign, 'other')).toBe(200);
  });

  it('with an open stream or a pending call is not ended', async () => {
    const here = await open({ sessionLimits: { maxSessionsPerCaller: 2 } });
    const [heard, busy] = [await initialize(here), await initialize(here)];
    const leaving = new AbortController();
    const stream = await fetch(`${here.url}/mcp`, {
      headers: { authorization: 'Bearer token', accept: 'text/event-stream', 'mcp-session-id': heard },
      signal: leaving.signal,
    });
    expect(stream.status).toBe(200);
    const sleep = { name: 'up_sleep', arguments: { ms: 60_000 } };
    const message = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: sleep };
    const call = send(here, message, inSession(busy));
    await waitUntil(() => here.runtime.serverStatus('up').inFlight === 1);
    const refused = await send(here, { ...HELLO, id: 1 });
    expect(refused.status).toBe(429);
    // Its slot is free once its stream is closed.
    leaving.abort();
    await expect.poll(() => initialize(here)).not.toBe('');
    expect((await send(here, LIST, inSession(heard))).status).toBe(404);
    await send(here, '', { ...inSession(busy), method: 'DELETE' });
    expect((await call).body.error).toMatchObject({ code: -32800 });
  });

  it('of a client that reconnects hundreds of times takes no slot from others', async () => {
    const here = await open({ sessionLimits: { maxSessions: 64, maxSessionsPerCaller: 20 } });
    const foreign = await initialize(here, { token: 'other' });
    for (let count = 0; count < 300; count += 1) expect(await initialize(here)).not.toBe('');
    expect(here.endpoint.sessions.size).toBeLessThanOrEqual(21);
    expect((await send(here, LIST, inSession(foreign, 'other'))).status).toBe(200);
    expect(await initialize(here, { token: 'other' })).not.toBe('');
  });

  it('cancels its calls when it ends', async () => {
    const here = await open();
    const id = await initialize(here);
    const sleep = { name: 'up_sleep', arguments: { ms: 60_000 } };
    const call = send(here, { jsonrpc: '2.0', id: 2, method: 'tools/call', params: sleep }, inSession(id));
    await waitUntil(() => here.runtime.serverStatus('up').inFlight === 1);
    await send(here, '', { ...inSession(id), method: 'DELETE' });
    expect((await call).body.error).toMatchObject({ code: -32800 });
  });
});
