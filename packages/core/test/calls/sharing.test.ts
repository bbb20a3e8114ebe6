/** Which callers share a connection, and when an unused one closes. */
import { fixture, isAlive, waitUntil } from '@turnbuckle/testing';
import { type Caller, createRuntime, type Runtime, type ServerInput } from 'turnbuckle';
import { afterEach, describe, expect, it } from 'vitest';

let runtime: Runtime | undefined;
afterEach(() => runtime?.close());

async function open(server: Partial<ServerInput>, limits = {}): Promise<Runtime> {
  runtime = await createRuntime({
    servers: { up: { ...fixture('echo'), ...server } as ServerInput },
    defaultDecision: 'allow',
    limits,
  });
  return runtime;
}

const caller = (id: string, run?: string): Caller => ({
  id,
  capabilities: ['mcp_integration'],
  ...(run !== undefined && { run }),
});

/** A call that takes until its end. */
function busy(here: Runtime, who: Caller) {
  const ended = new AbortController();
  const call = here.callTool('up', 'sleep', { ms: 60_000 }, { caller: who, signal: ended.signal });
  call.catch(() => {});
  return { call, end: () => ended.abort() };
}

async function pidFor(here: Runtime, who?: Caller): Promise<string> {
  const { content } = await here.callTool('up', 'pid', {}, { caller: who });
  const [first] = content;
  return first?.type === 'text' ? first.text : '';
}

describe('a server', () => {
  it('is shared by all callers by default', async () => {
    const here = await open({});
    const pids = await Promise.all([pidFor(here), pidFor(here, caller('a', '1')), pidFor(here, caller('b'))]);
    expect(new Set(pids).size).toBe(1);
  });

  it('can have a process for each agent', async () => {
    const here = await open({ share: 'agent' });
    const own = await pidFor(here, caller('a', '1'));
    expect(await pidFor(here, caller('a', '2'))).toBe(own);
    expect(await pidFor(here, caller('b'))).not.toBe(own);
    expect(await pidFor(here)).not.toBe(own);
  });

  it('can have a process for each session, which ends with it', async () => {
    const here = await open({ share: 'session' });
    const own = await pidFor(here, caller('a', '1'));
    expect(await pidFor(here, caller('a', '1'))).toBe(own);
    expect(await pidFor(here, caller('a', '2'))).not.toBe(own);
    expect(await pidFor(here, caller('b', '1'))).not.toBe(own);
    await here.endRun(caller('a', '1'));
    expect(() => process.kill(Number(own), 0)).toThrow();
    expect(await pidFor(here, caller('a', '1'))).not.toBe(own);
  });

  it('has a limited number of connections', async () => {
    const here = await open({ share: 'agent' }, { maxConnections: 2 });
    const calls = ['a', 'b'].map((id) => busy(here, caller(id)));
    await waitUntil(() => here.serverStatus('up').connectionsApart === 2);
    await expect(pidFor(here, caller('c'))).rejects.toMatchObject({ code: 'OVERLOADED' });
    calls[0]?.end();
    await expect(calls[0]?.call).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    expect(await pidFor(here, caller('c'))).not.toBe('');
    expect(here.serverStatus('up').connectionsApart).toBe(2);
  });

  it('is closed when unused for a while, and reopened by the next call', async () => {
    const here = await open({ idleMs: 100 });
    const first = await pidFor(here);
    await waitUntil(() => here.serverStatus('up').pid === undefined);
    expect(here.tools().length).toBeGreaterThan(0);
    expect(await pidFor(here)).not.toBe(first);
  });

  it('is not closed while a call is in flight', async () => {
    const here = await open({ idleMs: 50 });
    const { content } = await here.callTool('up', 'sleep', { ms: 400, everyMs: 400 });
    expect(content).toMatchObject([{ text: 'slept 400 ms' }]);
  });
});

describe('connections of agents and sessions', () => {
  const eight = { maxConnections: 8 };
  const dedicatedConnections = (here: Runtime): number => here.serverStatus('up').connectionsApart ?? 0;

  it('are not all used by one agent, however many sessions it starts', async () => {
    const here = await open({ share: 'session' }, eight);
    const first = await pidFor(here, caller('a', '0'));
    for (let run = 1; run < 10; run += 1) await pidFor(here, caller('a', String(run)));
    expect(dedicatedConnections(here)).toBe(4);
    await waitUntil(() => !isAlive(Number(first)));
    // Its latest sessions still have their connection.
    const last = await pidFor(here, caller('a', '9'));
    expect(await pidFor(here, caller('a', '9'))).toBe(last);
    for (const id of ['b', 'c', 'd']) expect(await pidFor(here, caller(id, '1'))).not.toBe('');
    expect(await pidFor(here, { ...caller('owner', '1'), isHost: true })).not.toBe('');
  });

  it('that are in use are not closed, and some are reserved for other agents', async () => {
    const here = await open({ share: 'session' }, eight);
    const calls = Array.from({ length: 4 }, (_, run) => busy(here, caller('a', String(run))));
    await waitUntil(() => dedicatedConnections(here) === 4);
    await expect(pidFor(here, caller('a', '4'))).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(await pidFor(here, caller('b', '1'))).not.toBe('');
    for (const { end, call } of calls) {
      end();
      await expect(call).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    }
    expect(await pidFor(here, caller('a', '4'))).not.toBe('');
    expect(dedicatedConnections(here)).toBe(5);
  });

  it('are given up by the longest idle agent when there are as many agents as connections', async () => {
    const here = await open({ share: 'agent' }, { maxConnections: 4 });
    const pids: string[] = [];
    for (const id of ['a', 'b', 'c', 'd', 'e']) pids.push(await pidFor(here, caller(id)));
    expect(dedicatedConnections(here)).toBe(4);
    await waitUntil(() => !isAlive(Number(pids[0])));
    for (const [at, id] of [...'bcde'].entries()) expect(await pidFor(here, caller(id))).toBe(pids[at + 1]);
    expect(await pidFor(here, { ...caller('owner'), isHost: true })).not.toBe('');
  });

  it('above an agent’s quota are closed for an agent without a connection', async () => {
    const here = await open({ share: 'session' }, eight);
    for (const run of ['1', '2', '3', '4']) await pidFor(here, caller('a', run));
    for (const run of ['1', '2', '3']) await pidFor(here, caller('b', run));
    const kept = await pidFor(here, caller('a', '1'));
    const given = await pidFor(here, caller('a', '2'));
    for (const run of ['3', '4', '1']) await pidFor(here, caller('a', run));
    expect(await pidFor(here, caller('c', '1'))).not.toBe('');
    await waitUntil(() => !isAlive(Number(given)));
    expect(await pidFor(here, caller('a', '1'))).toBe(kept);
    expect(dedicatedConnections(here)).toBe(7);
  });
});
