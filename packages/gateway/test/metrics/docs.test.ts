import { readFileSync } from 'node:fs';
import { CallLog } from '@turnbuckle/store';
import { fixture, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { createRuntime } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { McpEndpoint } from '../../src/mcp/mcp-endpoint.js';
import { createMetrics } from '../../src/metrics/metrics.js';

const readText = (path: string): string =>
  readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

/** Metrics of parts, which other packages bring. */
const OF_PARTS = /^turnbuckle_(steward|agent)_/;

const documented = [...readText('docs/metrics.md').matchAll(/^\| `(\w+)` +\| (\w+) +\|/gm)].map(
  ([, name, type]) => `${name} ${type}`,
);

/** All metrics of a runtime in which every counted event has happened. */
async function announced(): Promise<string[]> {
  const home = await temporaryDirectory();
  const runtime = await createRuntime({
    stateDir: home.path,
    servers: {
      demo: {
        ...fixture(
          'flaky',
          '--at',
          'start',
          '--how',
          'exit',
          '--times',
          '2',
          '--state-file',
          home.file('count'),
        ),
        era: 'legacy',
        reconnect: { initialMs: 1, maxMs: 5 },
      },
    },
    rules: [{ action: 'ask', tool: 'echo' }],
    approve: () => 'once',
    energy: {
      budgets: [
        { for: 'caller', caller: 'spent', limit: 0 },
        { for: 'caller', caller: 'low', limit: 0.05 },
      ],
    },
  });
  const log = new CallLog({ directory: home.file('log') });
  const endpoint = new McpEndpoint({ runtime, version: '0.0.0' });
  const metrics = createMetrics(runtime, { log, listCacheCounts: endpoint.listCacheCounts });
  onTestFinished(async () => {
    metrics.close();
    await endpoint.close();
    await runtime.close();
    await log.close();
    await home.remove();
  });
  runtime.on('call.started', () => {
    throw new Error('a listener that fails');
  });
  await runtime.connectAll();
  await waitUntil(() => runtime.serverStatus('demo').status === 'connected', 15_000);
  await runtime.callTool('demo', 'echo', { text: 'x' });
  await runtime.execute('made_up');
  for (const id of ['spent', 'low'])
    await runtime
      .callTool('demo', 'echo', { text: 'x' }, { caller: { id, capabilities: ['mcp_integration'] } })
      .catch(() => {});
  return [...metrics.text().matchAll(/^# TYPE (.+)$/gm)].map(([, line = '']) => line);
}

// requirement D3
describe('docs/metrics.md', () => {
  it('has every metric with its type, and no other', async () => {
    const own = documented.filter((line) => !OF_PARTS.test(line));
    expect(own.sort()).toEqual((await announced()).sort());
  });
});

describe('docs/grafana/turnbuckle.json', () => {
  it('queries only metrics that exist', () => {
    const dashboard: unknown = JSON.parse(readText('docs/grafana/turnbuckle.json'));
    const names = documented.map((line) => line.split(' ')[0]);
    const asked = [...JSON.stringify(dashboard).matchAll(/\b(?:mcp|turnbuckle|process|nodejs)_\w+/g)].map(
      ([name]) => name.replace(/_(bucket|sum|count)$/, ''),
    );
    expect(asked.length).toBeGreaterThan(15);
    expect(asked.filter((name) => !names.includes(name))).toEqual([]);
  });
});
