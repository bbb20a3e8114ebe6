import { fixture, startFixture } from '@turnbuckle/testing';
import type { ServerInput } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { textOf } from '../contract/text-of.js';
import { createOwnRuntime } from './own-runtime.js';

interface Listed {
  readonly tools: string[];
  readonly names: string[];
  readonly dropped: Map<string, string>;
}

async function list(bad: ServerInput): Promise<Listed> {
  const runtime = await createOwnRuntime({ servers: { bad } });
  const dropped = new Map<string, string>();
  runtime.on('catalog.dropped', ({ item, reason }) => dropped.set(item, reason));
  try {
    await runtime.connectAll();
    expect(runtime.serverStatus('bad').error).toBeUndefined();
    for (const tool of ['good_first', 'good_last'])
      expect(textOf(await runtime.callTool('bad', tool))).toBe(tool);
    const tools = runtime.tools();
    return { tools: tools.map(({ tool }) => tool), names: tools.map(({ name }) => name), dropped };
  } finally {
    await runtime.close();
  }
}

const NEVER = [
  'bad_no_schema',
  'bad_schema_string',
  'bad_schema_array',
  'bad_schema_type',
  'bad_deep_schema',
  'bad_big_schema',
];
const HEADERS = ['space', 'empty', 'newline', 'number', 'in_items'].map((kind) => `bad_header_${kind}`);

describe('good tools among bad ones', () => {
  it('are kept, and each bad one is named with a reason', async () => {
    const { tools, names, dropped } = await list(fixture('bad-tools'));
    expect(tools).toEqual(expect.arrayContaining(['echo', 'good_first', 'good_last']));
    for (const name of NEVER) expect(tools).not.toContain(name);
    for (const name of NEVER) expect(dropped.get(name)).toMatch(/schema/);
    // Entries without a usable name are reported by their position in the list.
    expect([...dropped.keys()].filter((item) => /^entry \d+$/.test(item))).toHaveLength(7);
    expect(dropped.get('odd_duplicate')).toContain('duplicate');
    expect([...dropped.keys()].some((item) => item.includes('red'))).toBe(true);
    expect([...dropped.values()].every((reason) => reason.length > 5 && reason.length < 200)).toBe(true);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
  });

  it('do not include tools with an invalid header declaration, over HTTP in the modern era', async () => {
    const running = await startFixture('bad-tools', { transport: 'http', flags: ['--era', 'modern'] });
    const { tools, dropped } = await list({ type: 'http', url: running.url }).finally(() => running.stop());
    for (const name of HEADERS) expect(tools).not.toContain(name);
    for (const name of HEADERS) expect(dropped.get(name)).toContain('header');
  });

  it('may have odd names, including those of object members', async () => {
    const runtime = await createOwnRuntime({ servers: { bad: fixture('bad-tools', '--only', 'names') } });
    try {
      await runtime.connectAll();
      const odd = runtime.tools().filter(({ description }) => description === 'odd name');
      expect(odd.map(({ tool }) => tool)).toEqual(expect.arrayContaining(['__proto__', 'constructor']));
      for (const { name, tool } of odd)
        expect(textOf(await runtime.call({ tool: name }))).toBe(`called ${tool}`);
    } finally {
      await runtime.close();
    }
  });

  it('include a tool whose schema has an unknown dialect: its call reports why', async () => {
    const runtime = await createOwnRuntime({
      servers: { bad: fixture('bad-tools', '--only', 'unknown-dialect') },
    });
    try {
      await runtime.connectAll();
      await expect(runtime.callTool('bad', 'bad_dialect')).rejects.toMatchObject({
        code: 'SCHEMA_UNUSABLE',
        message: expect.stringContaining('dialect'),
      });
    } finally {
      await runtime.close();
    }
  });
});
