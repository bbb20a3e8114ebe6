/** Which link a list belongs to, and when it is read again: on the shared connection and on those of single sessions. */
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { type Caller, createRuntime, type Runtime, type ServerInput } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gate, LinkServer, only } from './link-server.js';

async function open(servers: Record<string, ServerInput>): Promise<Runtime> {
  const home = await temporaryDirectory();
  const runtime = await createRuntime({ stateDir: home.path, servers, defaultDecision: 'allow' });
  onTestFinished(async () => {
    await runtime.close();
    await home.remove();
  });
  return runtime;
}

const names = (runtime: Runtime): string[] => runtime.tools().map(({ name }) => name.replace(/^.*__/, ''));
const caller: Caller = { id: 'agent', capabilities: ['mcp_integration'], run: '1' };

describe.each(['shared', 'session'] as const)('a list that changes (share: %s)', (share) => {
  /** The link under test: the shared one, or that of the session. */
  const own = share === 'shared' ? 0 : 1;

  it('while its connection opens is read again', async () => {
    const first = gate();
    const server = new LinkServer(async (link) => {
      if (link.index !== own || link.lists > 1) return only('t', 'late');
      await first.opened;
      return only('t');
    });
    const runtime = await open({ s: server.config({ share }) });
    const opening = runtime.connect('s');
    if (share === 'session') await opening;
    const call = share === 'session' ? runtime.callTool('s', 't', {}, { caller }) : undefined;
    await waitUntil(() => server.links[own]?.lists === 1);
    server.links[own]?.announce();
    // Longer than the time for which changes are collected.
    await delay(300);
    first.open();
    await Promise.all([opening, call]);
    await waitUntil(() => server.links[own]?.lists === 2);
    await waitUntil(async () => {
      const late = await runtime.callTool('s', 'late', {}, { caller }).catch(() => undefined);
      return late !== undefined;
    });
  });

  it('again and again, and is expensive to read, is read ever more slowly', async () => {
    const many = Array.from({ length: 4_000 }, (_, index) => `v${index}`);
    const costlyTools = only('t', 'a', 'b', 'c', 'd', 'e', 'f').map((tool) => ({
      ...tool,
      inputSchema: { type: 'object', properties: { value: { enum: many } } },
    }));
    const server = new LinkServer((link) => {
      setTimeout(link.announce, 5).unref();
      return costlyTools;
    });
    const runtime = await open({ s: server.config({ share }) });
    await runtime.connect('s');
    await runtime.callTool('s', 't', {}, { caller });
    await waitUntil(() => (server.links[own]?.lists ?? 0) > 1);
    await delay(3_000);
    // One at the start, one immediately, then after one, two and four seconds. Without the backoff there are thirty.
    expect(server.links[own]?.lists).toBeLessThan(7);
  });

  it('repeatedly, however small it is, is read less and less often', async () => {
    const server = new LinkServer((link) => {
      setTimeout(link.announce, 1).unref();
      return only('t');
    });
    const runtime = await open({ s: server.config({ share }) });
    await runtime.connect('s');
    await runtime.callTool('s', 't', {}, { caller });
    await delay(5_000);
    expect(server.links[own]?.lists).toBeLessThan(32);
  }, 20_000);
});

describe('a list that is being read', () => {
  it('is discarded when the connection is reopened, and those who wait for it get the new one', async () => {
    const never = gate();
    const server = new LinkServer(async (link) => {
      if (link.index === 0 && link.lists > 1) await never.opened;
      return only(`of-${link.index}`);
    });
    const runtime = await open({ s: server.config() });
    await runtime.connect('s');
    const refresh = runtime.refresh('s').catch(() => {});
    await waitUntil(() => server.links[0]?.lists === 2);
    const again = runtime.reconnect('s');
    const during = runtime.refresh('s').catch(() => {});
    await Promise.all([again, refresh, during]);
    expect(names(runtime)).toEqual(['of-1']);
    never.open();
    await delay(50);
    expect(names(runtime)).toEqual(['of-1']);
  });

  it('belongs to the last of three servers with the same name', async () => {
    const gates = [gate(), gate(), gate()] as const;
    const servers = gates.map(
      (held, at) =>
        new LinkServer(async () => {
          await held.opened;
          return only(`of-${at}`);
        }),
    );
    const [a, b, c] = servers.map((server) => server.config());
    if (a === undefined || b === undefined || c === undefined) throw new Error('There are three');
    const runtime = await open({ s: a });
    const opening = runtime.connect('s').catch(() => {});
    await waitUntil(() => servers[0]?.links[0]?.lists === 1);
    const second = runtime.setServers({ s: b });
    await waitUntil(() => servers[1]?.links[0]?.lists === 1);
    const third = runtime.setServers({ s: c });
    await waitUntil(() => servers[2]?.links[0]?.lists === 1);
    for (const at of [2, 1, 0] as const) gates[at].open();
    await Promise.all([opening, second, third]);
    await delay(50);
    expect(names(runtime)).toEqual(['of-2']);
  });

  it('is hidden if the server is disabled meanwhile, and shown when it is enabled again', async () => {
    const held = gate();
    const server = new LinkServer(async (link) => {
      if (link.lists > 1) await held.opened;
      return only(link.lists > 1 ? 'new' : 'old');
    });
    const runtime = await open({ s: server.config() });
    await runtime.connect('s');
    const refresh = runtime.refresh('s');
    await waitUntil(() => server.links[0]?.lists === 2);
    await runtime.toggle('s', false);
    held.open();
    await refresh;
    expect(names(runtime)).toEqual([]);
    await runtime.toggle('s', true);
    expect(names(runtime)).toEqual(['new']);
  });

  it('is read by the next connection if it fails on the first', async () => {
    const server = new LinkServer((link) => {
      if (link.index === 0) throw new Error('not yet');
      return only('t');
    });
    const runtime = await open({ s: server.config({ start: 'lazy' }) });
    await expect(runtime.connect('s')).rejects.toMatchObject({ server: 's' });
    expect(names(runtime)).toEqual([]);
    await runtime.connect('s');
    expect(names(runtime)).toEqual(['t']);
  });
});

describe('a list notification', () => {
  it('from a replaced link is ignored', async () => {
    const before = new LinkServer(() => only('before'));
    let now = 'after';
    const after = new LinkServer(() => only(now));
    const runtime = await open({ s: before.config() });
    await runtime.connect('s');
    runtime.on('server.removed', () => before.links[0]?.announce());
    await runtime.setServers({ s: after.config() });
    now = 'later';
    after.links[0]?.announce();
    await waitUntil(() => names(runtime).includes('later'));
    expect(names(runtime)).toEqual(['later']);
  });

  it('on the connection of one session is for that session alone', async () => {
    const server = new LinkServer((link) => only(...(link.index === 0 ? ['t'] : ['t', 'own'])));
    const runtime = await open({ s: server.config({ share: 'session' }) });
    await runtime.connect('s');
    // The header mismatch error: the tools are read again, on the link that reported it.
    server.refusals.push(-32020);
    const { content } = await runtime.callTool('s', 't', {}, { caller });
    expect(content).toEqual([{ type: 'text', text: '1' }]);
    expect(server.links[1]?.lists).toBe(2);
    expect(names(runtime)).toEqual(['t']);
  });
});
