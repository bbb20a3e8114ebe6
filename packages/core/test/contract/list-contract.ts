import { waitUntil } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import type { Cell } from './call-contract.js';
import { textOf } from './text-of.js';

const TOOLS = [
  'add',
  'ask',
  'big',
  'cancelled',
  'content',
  'count',
  'cwd',
  'drop',
  'echo',
  'env',
  'fail',
  'header',
  'meta',
  'pid',
  'read_only',
  'rpc_error',
  'sleep',
  'touch',
];

/** Lists are passed on unchanged, and their changes are noticed. */
export function listContract(cell: () => Cell): void {
  it('is connected and reports how', () => {
    const { runtime, setting } = cell();
    expect(runtime.serverStatus('main')).toMatchObject({
      status: 'connected',
      state: 'connected',
      error: undefined,
      era: setting.era,
      transport: setting.reportedTransport,
      protocolVersion: setting.era === 'modern' ? '2026-07-28' : '2025-11-25',
      serverInfo: { name: 'fixture-echo', version: '1.0.0' },
      instructions: 'Everything here is for tests.',
    });
  });

  it('lists every tool with its schemas, hints and unknown members', () => {
    const tools = cell()
      .runtime.tools()
      .filter(({ server }) => server === 'main');
    expect(tools.map(({ tool }) => tool)).toEqual(TOOLS);
    expect(tools.map(({ name }) => name)).toEqual(TOOLS.map((tool) => `mcp__main__${tool}`));
    expect(tools.find(({ tool }) => tool === 'add')).toMatchObject({
      title: 'Add two numbers',
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
      outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    });
    expect(tools.find(({ tool }) => tool === 'content')?.definition).toEqual({
      name: 'content',
      description: 'Every kind of content',
      _meta: { 'example.com/at': 'tool' },
      'x-unknown': { kept: true },
      inputSchema: { type: 'object', properties: {}, required: [] },
    });
  });

  it('notices added and removed tools', async () => {
    const { runtime } = cell();
    const changes: string[] = [];
    const stop = runtime.on('catalog.changed', ({ server, added, removed }) => {
      if (server === 'moving')
        changes.push(...added.map((name) => `+${name}`), ...removed.map((name) => `-${name}`));
    });
    await runtime.callTool('moving', 'mutate', { action: 'add', name: 'fresh' });
    await waitUntil(() => runtime.catalog.get('mcp__moving__fresh'));
    expect(textOf(await runtime.call({ tool: 'mcp__moving__fresh' }))).toBe('fresh');
    await runtime.callTool('moving', 'mutate', { action: 'remove', name: 'fresh' });
    await waitUntil(() => runtime.catalog.get('mcp__moving__fresh') === undefined);
    stop();
    expect(changes).toEqual(['+fresh', '-fresh']);
    await expect(runtime.call({ tool: 'mcp__moving__fresh' })).rejects.toMatchObject({
      code: 'TOOL_UNKNOWN',
    });
  });
}
