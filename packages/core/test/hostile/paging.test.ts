import { fixture } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { createOwnRuntime } from './own-runtime.js';

async function listed(...flags: string[]): Promise<{ count: number; distinct: number; dropped: string[] }> {
  const runtime = await createOwnRuntime({ servers: { pages: fixture('paging', ...flags) } });
  const dropped: string[] = [];
  runtime.on('catalog.dropped', ({ item, reason }) => dropped.push(`${item}: ${reason}`));
  try {
    await runtime.connectAll();
    expect(runtime.serverStatus('pages').status).toBe('connected');
    const tools = runtime.tools().map(({ tool }) => tool);
    return { count: tools.length, distinct: new Set(tools).size, dropped };
  } finally {
    await runtime.close();
  }
}

describe('lists in pages', () => {
  it('are read to their end', async () => {
    expect(await listed('--tools', '95', '--page', '10')).toEqual({ count: 95, distinct: 95, dropped: [] });
  });

  it('may have an empty string as a cursor', async () => {
    const all = { count: 25, distinct: 25, dropped: [] };
    expect(await listed('--tools', '25', '--cursor-mode', 'empty-string')).toEqual(all);
  });

  it('end at a repeated cursor, with every tool once', async () => {
    const { count, distinct, dropped } = await listed('--tools', '25', '--cursor-mode', 'cyclic');
    expect([count, distinct]).toEqual([25, 25]);
    expect(dropped.filter((text) => text.startsWith('tools:'))).toEqual([expect.stringContaining('loop')]);
  });

  it('end at the page limit, and the pages read so far are kept', async () => {
    const { count, dropped } = await listed('--cursor-mode', 'endless', '--page', '2');
    expect(count).toBe(128);
    expect(dropped).toEqual([expect.stringContaining('64 pages')]);
  });

  it('end at the tool limit', async () => {
    const { count, dropped } = await listed('--tools', '10000', '--page', '5000');
    expect(count).toBe(1_000);
    expect(dropped).toEqual([expect.stringContaining('1000')]);
  });
});
