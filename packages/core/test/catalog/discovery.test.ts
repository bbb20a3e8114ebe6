import { setImmediate as nextTurn } from 'node:timers/promises';
import { fixture, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { makeSdkServer } from '@turnbuckle/testing/sdk-server';
import { createRuntime, type Runtime, type RuntimeEvents, type ServerInput } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TinyServer, toolNamed } from '../policy/tiny-server.js';

async function open(
  servers: Record<string, ServerInput>,
  now?: () => number,
): Promise<{ runtime: Runtime; reads: RuntimeEvents['catalog.read'][] }> {
  const home = await temporaryDirectory();
  const runtime = await createRuntime({ stateDir: home.path, servers, now });
  onTestFinished(async () => {
    await runtime.close();
    await home.remove();
  });
  const reads: RuntimeEvents['catalog.read'][] = [];
  runtime.on('catalog.read', (event) => reads.push(event));
  return { runtime, reads };
}

// requirement T1
describe('a reading of a list', () => {
  it('is reported once for all readers, and not for lists that a server does not have', async () => {
    const { runtime, reads } = await open({ demo: fixture('echo'), bare: fixture('paging') });
    await runtime.connectAll();
    await Promise.all([runtime.listPrompts(), runtime.listPrompts('demo'), runtime.listPrompts()]);
    await runtime.listPrompts();
    // What changed before the server could report it is read in the background.
    const asked = reads.filter(({ reason }) => reason !== 'changed');
    const told = asked.map(({ server, kind, reason, outcome }) => `${server} ${kind} ${reason} ${outcome}`);
    expect(told.sort()).toEqual([
      'bare tools connected ok',
      'demo prompts asked ok',
      'demo tools connected ok',
    ]);
  });
});

// requirement T1
describe('listTtlMs', () => {
  const modern = (ttlMs: number) => fixture('echo', '--era', 'modern', '--ttl-ms', String(ttlMs));

  it('decides how long a list is fresh, whatever the server says', async () => {
    let now = 0;
    const { runtime, reads } = await open(
      {
        silent: { ...fixture('echo'), listTtlMs: 1_000 },
        longer: { ...modern(1_000), listTtlMs: 5_000 },
        never: { ...modern(1_000), listTtlMs: 0 },
        own: modern(1_000),
      },
      () => now,
    );
    await runtime.connectAll();
    await runtime.listPrompts();
    const stale = (kind: 'tools' | 'prompts') =>
      ['silent', 'longer', 'never', 'own'].filter(
        (server) => runtime.catalog.stateOf(server, kind, now) === 'stale',
      );
    now = 999;
    expect([stale('tools'), stale('prompts')]).toEqual([[], []]);
    now = 1_000;
    expect([stale('tools'), stale('prompts')]).toEqual([
      ['silent', 'own'],
      ['silent', 'own'],
    ]);
    now = 5_000;
    expect(stale('tools')).toEqual(['silent', 'longer', 'own']);
    reads.length = 0;
    // The first request of an expired list reads it again.
    runtime.tools();
    await waitUntil(() => stale('tools').length === 0);
    await runtime.listPrompts();
    // What changed before the server could report it is read in the background.
    const asked = reads.filter(({ reason }) => reason !== 'changed');
    const told = asked.map(({ server, kind, reason }) => `${server} ${kind} ${reason}`);
    for (const server of ['silent', 'longer', 'own']) {
      expect(told).toContain(`${server} tools stale`);
      expect(told).toContain(`${server} prompts stale`);
    }
    expect(told.filter((text) => text.startsWith('never'))).toEqual([]);
  });
});

describe('the known lists of a server', () => {
  it('are read again on a new link, resources and prompts on demand', async () => {
    let made = 0;
    const server = () => {
      made += 1;
      const fresh = makeSdkServer();
      fresh.registerPrompt(`prompt-${made}`, {}, () => ({ messages: [] }));
      return fresh;
    };
    const { runtime, reads } = await open({ mine: { type: 'in-process', server } });
    await runtime.connectAll();
    const names = async () => (await runtime.listPrompts()).map(({ name }) => name);
    const before = await names();
    await runtime.reconnect('mine');
    const after = await names();
    expect(after).toHaveLength(1);
    expect(after).not.toEqual(before);
    expect(reads.filter(({ kind }) => kind === 'prompts').map(({ reason }) => reason)).toEqual([
      'asked',
      'stale',
    ]);
  });

  it('follow the changes of a server that is removed right after a change and added again', async () => {
    const moving = fixture('list-changing');
    const { runtime } = await open({ moving });
    await runtime.connectAll();
    await runtime.callTool('moving', 'mutate', { action: 'add', name: 'early' });
    await runtime.setServers({});
    await runtime.setServers({ moving });
    await runtime.connectAll();
    await runtime.callTool('moving', 'mutate', { action: 'add', name: 'late' });
    await waitUntil(() => runtime.catalog.find('moving', 'late'));
  });
});

describe('a list that is still being read', () => {
  const toolsOf = (label: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      ...toolNamed(`t${index}`),
      description: `${label} ${'word '.repeat(600)}`,
      annotations: { readOnlyHint: label === 'before' },
    }));
  const caller = { id: 'agent', capabilities: ['mcp_integration'] };

  it.each(['removed', 'replaced'])('is discarded when its server is %s, at any moment', async (what) => {
    const before = new TinyServer(toolsOf('before', 900));
    const after = new TinyServer(toolsOf('after', 300));
    let caught = 0;
    for (let turns = 0; turns < 24; turns += 2) {
      const { runtime } = await open({ s: before.config({ trusted: true }) });
      if (what === 'replaced') await runtime.connect('s');
      const isListed = new Promise((resolve) => runtime.on('catalog.read', resolve));
      const reading = what === 'replaced' ? runtime.refresh('s') : runtime.connect('s');
      reading.catch(() => {});
      await isListed;
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      if (what === 'replaced' || runtime.tools().length === 0) caught += 1;
      await runtime.setServers(what === 'removed' ? {} : { s: after.config({ trusted: true }) });
      await reading.catch(() => {});
      if (what === 'replaced') await runtime.connect('s');
      // By then the late list has been processed.
      for (let turn = 0; turn < 50; turn += 1) await nextTurn();
      const texts = new Set(runtime.tools().map(({ description = '' }) => description.split(' ')[0]));
      expect([...texts], `after ${turns} turns`).toEqual(what === 'removed' ? [] : ['after']);
      if (what === 'replaced')
        expect(runtime.decide({ server: 's', tool: 't0', caller })).toMatchObject({ action: 'ask' });
      await runtime.close();
    }
    expect(caught, 'moments at which it was still being read').toBeGreaterThan(0);
  });
});
