import { readFileSync } from 'node:fs';
import { InvocationLog } from '@turnbuckle/store';
import { fixture, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { createRuntime } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { McpFront } from '../../src/mcp/mcp-front.js';
import { createMetrics } from '../../src/metrics/metrics.js';

const readText = (path: string): string =>
  readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

const documented = [...readText('docs/metrics.md').matchAll(/^\| `(\w+)` +\| (\w+) +\|/gm)].map(
  ([, name, type]) => `${name} ${type}`,
);

/** Everything that was announced by a runtime to which everything happened that is counted. */
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
  });
  const log = new InvocationLog({ directory: home.file('log') });
  const front = new McpFront({ runtime, version: '0.0.0' });
  const metrics = createMetrics(runtime, { log, offers: front.offerCounts });
  onTestFinished(async () => {
    metrics.close();
    await front.close();
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
  return [...metrics.text().matchAll(/^# TYPE (.+)$/gm)].map(([, line = '']) => line);
}

describe('docs/metrics.md', () => {
  it('has every metric with its type, and no other', async () => {
    expect([...documented].sort()).toEqual((await announced()).sort());
  });
});

describe('docs/grafana/turnbuckle.json', () => {
  it('asks for metrics that exist', () => {
    const dashboard: unknown = JSON.parse(readText('docs/grafana/turnbuckle.json'));
    const names = documented.map((line) => line.split(' ')[0]);
    const asked = [...JSON.stringify(dashboard).matchAll(/\b(?:mcp|turnbuckle|process|nodejs)_\w+/g)].map(
      ([name]) => name.replace(/_(bucket|sum|count)$/, ''),
    );
    expect(asked.length).toBeGreaterThan(15);
    expect(asked.filter((name) => !names.includes(name))).toEqual([]);
  });
});
