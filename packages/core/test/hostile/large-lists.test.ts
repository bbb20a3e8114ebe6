/** Very large lists of servers: entries within the limit are kept, the rest is reported and discarded. */
import { fileURLToPath } from 'node:url';
import { fixture } from '@turnbuckle/testing';
import type { RuntimeOptions, ServerInput } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOwnRuntime } from './own-runtime.js';

const PROGRAM = fileURLToPath(new URL('./servers/large-lists.mjs', import.meta.url));
const large = (...args: ReadonlyArray<string | number>): ServerInput => ({
  command: process.execPath,
  args: [PROGRAM, ...args.map(String)],
  era: 'legacy',
  listTimeoutMs: 120_000,
});

async function open(servers: NonNullable<RuntimeOptions['servers']>, limits: RuntimeOptions['limits'] = {}) {
  const runtime = await createOwnRuntime({ servers, limits });
  onTestFinished(() => runtime.close());
  const dropped: string[] = [];
  runtime.on('catalog.dropped', ({ item, reason }) => dropped.push(`${item}: ${reason}`));
  await runtime.connectAll();
  return { runtime, dropped };
}

const FORMS = ['meta', 'schema', 'props', 'text', 'spelled'];

describe('one definition', () => {
  it.each(FORMS)('that is too large in any part is left out, the others are kept: %s', async (form) => {
    const limits = { maxDefinitionBytes: 10_000, maxSchemaBytes: 100_000, maxSchemaNodes: 100_000 };
    const { runtime, dropped } = await open({ large: large('tools', 2, 1, form, 20_000) }, limits);
    expect(runtime.tools().map(({ tool }) => tool)).toEqual(['t1']);
    expect(runtime.serverStatus('large').leftOut).toEqual(['tools: 1 of 2 entries are unusable']);
    expect(dropped).toEqual(['t0: its definition is larger than 10000 bytes']);
  });

  it.each(['resources', 'prompts'])('of %s that is too large is left out too', async (kind) => {
    const { runtime, dropped } = await open(
      { large: large(kind, 2, 2, 'text', 20_000) },
      { maxDefinitionBytes: 10_000 },
    );
    const list = kind === 'prompts' ? runtime.listPrompts('large') : runtime.listResources('large');
    expect(await list).toHaveLength(1);
    expect(dropped).toHaveLength(1);
  });
});

describe('the lists of one server', () => {
  it('end where they are too large, on whatever page', async () => {
    const limits = { maxListBytes: 100_000 };
    const { runtime, dropped } = await open({ large: large('tools', 50, 3, 'meta', 2_400) }, limits);
    const count = runtime.tools().length;
    // 800 values of 20 bytes each.
    expect(count).toBeGreaterThan(3);
    expect(count).toBeLessThan(7);
    expect(runtime.serverStatus('large').leftOut).toEqual([
      'tools: the rest of the list is ignored because the lists from this server exceed 100000 bytes in total',
    ]);
    expect(dropped).toEqual([
      'tools: the rest of the list is ignored because the lists from this server exceed 100000 bytes in total',
    ]);
  });

  it('replace the previous lists in the count', async () => {
    const limits = { maxListBytes: 100_000 };
    const { runtime, dropped } = await open({ large: large('tools', 30, 3, 'text', 3_000) }, limits);
    expect(runtime.tools()).toHaveLength(30);
    for (let count = 0; count < 5; count += 1) await runtime.refresh('large');
    expect(runtime.tools()).toHaveLength(30);
    expect(dropped).toEqual([]);
  });

  it('end at a cursor that is too long', async () => {
    const { runtime, dropped } = await open({ large: large('tools', 5, 1, 'cursor', 100_000) });
    expect(runtime.tools()).toHaveLength(1);
    expect(dropped).toEqual([expect.stringContaining('cursor')]);
  });
});

it('the lists of all servers end where they are too large together, and each may list a little', async () => {
  const greedy = () => large('tools', 100, 10, 'text', 33_000);
  const servers = { one: greedy(), two: greedy(), three: greedy(), honest: fixture('echo') };
  const { runtime, dropped } = await open(servers, { maxCatalogBytes: 4_000_000 });
  const bytes = JSON.stringify(runtime.tools().map(({ definition }) => definition)).length;
  expect(bytes).toBeLessThan(5_000_000);
  expect(dropped.some((text) => text.includes('from all servers'))).toBe(true);
  expect(runtime.catalog.listByServer('honest').length).toBeGreaterThan(0);
  for (const name of ['one', 'two', 'three'])
    expect(runtime.catalog.listByServer(name).length, name).toBeGreaterThan(4);
  // A removed server makes room.
  await runtime.setServers({ one: servers.one, honest: servers.honest });
  await runtime.refresh('one');
  expect(runtime.catalog.listByServer('one')).toHaveLength(100);
});
