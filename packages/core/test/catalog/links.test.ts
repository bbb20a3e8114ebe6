/** Which link a list belongs to, and when it is read again: on the connection of all and on those of one session each. */
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
  /** The link whose list this is about: that of all, or the one of the session. */
  const own = share === 'shared' ? 0 : 1;

  it('while its connection opens is read once more', async () => {
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
    // Longer than the moment for which changes are gathered.
    await delay(300);
    first.open();
    await Promise.all([opening, call]);
    await waitUntil(() => server.links[own]?.lists === 2);
    await waitUntil(async () => {
      const late = await runtime.callTool('s', 'late', {}, { caller }).catch(() => undefined);
      return late !== undefined;
    });
  });

  it('again and again, and is dear to read, is read ever more slowly', async () => {
    const many = Array.from({ length: 4_000 }, (_, index) => `v${index}`);
    const dear = only('t', 'a', 'b', 'c', 'd', 'e', 'f').map((tool) => ({
      ...tool,
      inputSchema: { type: 'object', properties: { value: { enum: many } } },
    }));
    const server = new LinkServer((link) => {
      setTimeout(link.announce, 5).unref();
      return dear;
    });
    const runtime = await open({ s: server.config({ share }) });
    await runtime.connect('s');
    await runtime.callTool('s', 't', {}, { caller });
    await waitUntil(() => (server.links[own]?.lists ?? 0) > 1);
    await delay(3_000);
    // One at the start, one at once, and then after a second, two and four. It was thirty, as fast as they could be read.
    expect(server.links[own]?.lists).toBeLessThan(7);
  });

  it('again and again, however small it is, is read ever more slowly', async () => {
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
  it('when the connection is made anew has whoever waits for it wait no longer, and counts for nothing', async () => {
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

  it('is that of the last of three servers of one name', async () => {
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

  it('is not shown when the server has been switched off meanwhile, and is when it is on again', async () => {
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

  it('and fails at first is read by the next who connects', async () => {
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

describe('what is heard of a list', () => {
  it('from a server that has been replaced does not take the turn of the other', async () => {
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
    // "What you know of my tools is old": they are read again, on the link that it said so on.
    server.refusals.push(-32020);
    const { content } = await runtime.callTool('s', 't', {}, { caller });
    expect(content).toEqual([{ type: 'text', text: '1' }]);
    expect(server.links[1]?.lists).toBe(2);
    expect(names(runtime)).toEqual(['t']);
  });
});
