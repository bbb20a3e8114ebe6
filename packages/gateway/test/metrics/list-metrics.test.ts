import { fixture, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { createRuntime, type Runtime, type ServerInput } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { McpEndpoint } from '../../src/mcp/mcp-endpoint.js';
import type { ViewContext } from '../../src/mcp/view-context.js';
import { createMetrics } from '../../src/metrics/metrics.js';
import { parseExposition } from './parse-exposition.js';

interface Opened {
  readonly runtime: Runtime;
  readonly endpoint: McpEndpoint;
  read(): Map<string, number>;
  /** The state of a list of that server; throws if it has no state, or two. */
  state(server: string, list?: string): string | undefined;
  reads(server: string, reason: string, outcome?: string): number;
  /** What a caller of that name gets as the list of tools. */
  list(id: string, view?: string): Promise<string>;
  pass(ms: number): void;
}

async function open(servers: Record<string, ServerInput>): Promise<Opened> {
  const home = await temporaryDirectory();
  let passed = 0;
  const now = (): number => Date.now() + passed;
  const runtime = await createRuntime({ stateDir: home.path, servers, now });
  const endpoint = new McpEndpoint({ runtime, version: '0.0.0', views: { plain: { names: 'plain' } } });
  const metrics = createMetrics(runtime, { listCacheCounts: endpoint.listCacheCounts, now });
  onTestFinished(async () => {
    metrics.close();
    await endpoint.close();
    await runtime.close();
    await home.remove();
  });
  const read = (): Map<string, number> => parseExposition(metrics.text());
  return {
    runtime,
    endpoint,
    read,
    state: (server, list = 'tools') => {
      const prefix = `turnbuckle_server_list_state{server="${server}",list="${list}",state="`;
      const samples = [...read()].filter(([name]) => name.startsWith(prefix));
      if (samples.length === 0) return undefined;
      const states = samples
        .filter(([, value]) => value === 1)
        .map(([name]) => name.slice(prefix.length, -2));
      if (samples.length !== 4 || states.length !== 1) throw new Error(`${server} is in ${states}`);
      return states[0];
    },
    reads: (server, reason, outcome = 'ok') =>
      read().get(
        `turnbuckle_server_list_reads_total{server="${server}",reason="${reason}",outcome="${outcome}"}`,
      ) ?? 0,
    list: async (id, view = '') => {
      const viewContext: ViewContext | undefined = endpoint.viewContext(view);
      const caller = { id, capabilities: ['mcp_integration'] };
      const answer = await viewContext?.dispatcher.dispatch({
        method: 'tools/list',
        params: {},
        caller,
        view,
        era: 'legacy',
      });
      return typeof answer === 'string' ? answer : JSON.stringify(answer);
    },
    pass: (ms) => {
      passed += ms;
    },
  };
}

const HIT = 'turnbuckle_tool_lists_total{cache="hit"}';
const MISS = 'turnbuckle_tool_lists_total{cache="miss"}';

describe('the state of lists', () => {
  it('is empty, then ready; resources and prompts appear once they are requested', async () => {
    const { runtime, state, reads } = await open({
      demo: fixture('echo'),
      off: { ...fixture('echo'), enabled: false },
    });
    expect(state('demo')).toBe('empty');
    await runtime.connectAll();
    expect(state('demo')).toBe('ready');
    expect(state('off')).toBe('empty');
    expect(state('demo', 'prompts')).toBeUndefined();
    await runtime.listPrompts();
    expect(state('demo', 'prompts')).toBe('ready');
    expect(state('demo', 'resources')).toBeUndefined();
    expect(reads('demo', 'connected')).toBe(1);
    expect(reads('demo', 'asked')).toBe(1);
  });

  it('is populating during the first read, and empty again if it fails', async () => {
    const { runtime, state, reads } = await open({
      slow: {
        ...fixture('slow', '--hang-at', 'list'),
        listTimeoutMs: 1_000,
        reconnect: { initialMs: 3_600_000, maxMs: 3_600_000 },
      },
    });
    void runtime.connectAll();
    await waitUntil(() => state('slow') === 'populating', 15_000);
    await waitUntil(() => state('slow') === 'empty');
    expect(reads('slow', 'connected', 'failed')).toBe(1);
    expect(reads('slow', 'connected')).toBe(0);
  });

  it('is gone with its server', async () => {
    const { runtime, state } = await open({ demo: fixture('echo') });
    await runtime.connectAll();
    await runtime.setServers({});
    expect(state('demo')).toBeUndefined();
  });
});

describe('reads of lists', () => {
  it('are counted by reason, and a burst of changes causes one read', async () => {
    const { runtime, reads } = await open({
      moving: { ...fixture('list-changing', '--flood', '50'), reconnect: { initialMs: 1, maxMs: 5 } },
    });
    await runtime.connectAll();
    await runtime.callTool('moving', 'mutate', { action: 'add', name: 'fresh' });
    await waitUntil(() => runtime.catalog.find('moving', 'fresh'));
    expect(reads('moving', 'changed')).toBe(1);
    await runtime.refresh('moving');
    expect(reads('moving', 'asked')).toBe(1);
    await runtime.reconnect('moving');
    expect(reads('moving', 'connected')).toBe(2);
  });

  it('are counted when they fail', async () => {
    const home = await temporaryDirectory();
    onTestFinished(() => home.remove());
    const flags = ['--at', 'list', '--how', 'error', '--times', '1', '--state-file', home.file('count')];
    const { runtime, state, reads } = await open({
      flaky: { ...fixture('flaky', ...flags), era: 'legacy', reconnect: { initialMs: 1, maxMs: 5 } },
    });
    await runtime.connectAll();
    await waitUntil(() => state('flaky') === 'ready');
    expect(reads('flaky', 'connected', 'failed')).toBe(1);
    expect(reads('flaky', 'connected')).toBe(1);
  });
});

describe('the lists for callers', () => {
  it('are counted as hits and misses, those of all views together', async () => {
    const { runtime, read, list } = await open({ moving: fixture('list-changing') });
    await runtime.connectAll();
    for (let count = 0; count < 3; count += 1) await list('ada');
    // Callers that may see the same get the same list.
    await list('bob');
    await list('ada', 'plain');
    expect([read().get(HIT), read().get(MISS)]).toEqual([3, 2]);
    await runtime.callTool('moving', 'mutate', { action: 'add', name: 'fresh' });
    await waitUntil(() => runtime.catalog.find('moving', 'fresh'));
    expect(await list('ada')).toContain('fresh');
    expect([read().get(HIT), read().get(MISS)]).toEqual([3, 3]);
  });

  it('are still counted after the views change', async () => {
    const { runtime, endpoint, read, list } = await open({ demo: fixture('echo') });
    await runtime.connectAll();
    await list('ada');
    endpoint.setViews({});
    await list('ada');
    expect([read().get(HIT), read().get(MISS)]).toEqual([0, 2]);
  });

  it('do not keep an expired list', async () => {
    const { runtime, state, reads, list, pass } = await open({
      moving: fixture('list-changing', '--silent', '--era', 'modern', '--ttl-ms', '60000'),
    });
    await runtime.connectAll();
    await list('ada');
    await runtime.callTool('moving', 'mutate', { action: 'add', name: 'fresh' });
    expect(await list('ada')).not.toContain('fresh');
    expect(state('moving')).toBe('ready');
    pass(60_001);
    expect(state('moving')).toBe('stale');
    await waitUntil(async () => (await list('ada')).includes('fresh'));
    expect(state('moving')).toBe('ready');
    expect(reads('moving', 'stale')).toBe(1);
  });
});
