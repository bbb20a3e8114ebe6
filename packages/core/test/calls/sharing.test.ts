/** Who shares a connection, and when one that nobody uses ends. */
import { fixture, waitUntil } from '@turnbuckle/testing';
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

async function pidFor(here: Runtime, who?: Caller): Promise<string> {
  const { content } = await here.callTool('up', 'pid', {}, { caller: who });
  const [first] = content;
  return first?.type === 'text' ? first.text : '';
}

describe('a server', () => {
  it('is shared by all unless told otherwise', async () => {
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

  it('has a bounded number of them', async () => {
    const here = await open({ share: 'agent' }, { maxConnections: 2 });
    await pidFor(here, caller('a'));
    await pidFor(here, caller('b'));
    await expect(pidFor(here, caller('c'))).rejects.toMatchObject({ code: 'OVERLOADED' });
    await here.endRun(caller('a'));
    expect(await pidFor(here, caller('b'))).not.toBe('');
  });

  it('is taken down when nobody has used it for a while, and comes back with the next call', async () => {
    const here = await open({ idleMs: 100 });
    const first = await pidFor(here);
    await waitUntil(() => here.serverStatus('up').pid === undefined);
    expect(here.tools().length).toBeGreaterThan(0);
    expect(await pidFor(here)).not.toBe(first);
  });

  it('is not taken down while a call is on its way', async () => {
    const here = await open({ idleMs: 50 });
    const { content } = await here.callTool('up', 'sleep', { ms: 400, everyMs: 400 });
    expect(content).toMatchObject([{ text: 'slept 400 ms' }]);
  });
});
