/** The tools that list resources and prompts, at servers with very long lists: each call returns one page. */
import { fileURLToPath } from 'node:url';
import type { Runtime, ServerInput } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryBudget } from '../../src/json/memory-budget.js';
import { createOwnRuntime } from './own-runtime.js';

const PROGRAM = fileURLToPath(new URL('./servers/large-lists.mjs', import.meta.url));
const ENTRIES = 600;
/** The lists of a server take about a megabyte. */
const large = (kind: string): ServerInput => ({
  command: process.execPath,
  args: [PROGRAM, kind, String(ENTRIES), '100', 'text', '2000'],
  era: 'legacy',
  listTimeoutMs: 120_000,
});
/** A page, with room for what each result has around its entries. */
const MAX_TEXT = 300_000;

let runtime: Runtime;
beforeAll(async () => {
  const servers = { one: large('resources'), two: large('resources'), asks: large('prompts') };
  runtime = await createOwnRuntime({ servers, resourceTools: true });
  await runtime.connectAll();
});
afterAll(() => runtime.close());

type Entry = { readonly server: string; readonly uri?: string; readonly name: string };
interface Page {
  readonly text: string;
  readonly value: {
    readonly resources?: Entry[];
    readonly templates?: Entry[];
    readonly prompts?: Entry[];
    readonly nextCursor?: string;
  };
}

async function list(tool: string, args: object = {}): Promise<Page> {
  const { content, structuredContent } = await runtime.call({
    tool,
    arguments: { ...args },
    caller: { id: 'agent', capabilities: ['mcp_integration'] },
  });
  const [{ text = '' } = {}] = content as Array<{ text?: string }>;
  return { text, value: structuredContent as Page['value'] };
}

async function pages(tool: string, args: object = {}): Promise<Page[]> {
  const all: Page[] = [];
  for (let cursor: string | undefined; all.length < 100; ) {
    const page = await list(tool, { ...args, ...(cursor !== undefined && { cursor }) });
    all.push(page);
    cursor = page.value.nextCursor;
    if (cursor === undefined) return all;
  }
  throw new Error('The pages have no end.');
}

describe('a long list', () => {
  it.each([
    ['list_mcp_resources', {}, 2 * ENTRIES],
    ['list_mcp_resources', { server: 'two' }, ENTRIES],
    ['list_mcp_prompts', {}, ENTRIES],
  ])(
    'of %s %j comes in pages of a bounded length, and none of its entries is missing',
    async (tool, args, count) => {
      const all = await pages(tool, args);
      expect(all.length).toBeGreaterThan(2);
      const seen = new Set<string>();
      for (const { text, value } of all) {
        expect(text.length).toBeLessThan(MAX_TEXT);
        expect(JSON.parse(text)).toEqual(value);
        for (const { server, uri, name } of value.resources ?? value.prompts ?? [])
          seen.add(`${server} ${uri ?? name}`);
      }
      expect(seen.size).toBe(count);
    },
  );

  it('ends at the cursor behind its last entry', async () => {
    const { value } = await list('list_mcp_resources', { cursor: '999999' });
    expect(value).toEqual({ resources: [], templates: [] });
  });

  it.each(['', '-1', '1.5', 'x', '1'.repeat(400)])('has no page at the cursor %j', async (cursor) => {
    const failed = runtime.call({ tool: 'list_mcp_resources', arguments: { cursor } });
    await expect(failed).rejects.toMatchObject({ code: 'ARGUMENTS_INVALID' });
  });
});

describe('many lists at a time', () => {
  it('hold no more memory than is reserved for them, and give it back', async () => {
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, memoryBudget.heldBytes);
    }, 1);
    const results = await Promise.all(Array.from({ length: 150 }, () => list('list_mcp_resources')));
    clearInterval(watch);
    expect(results.every(({ value }) => value.nextCursor !== undefined)).toBe(true);
    expect(most).toBeGreaterThan(0);
    await expect.poll(() => memoryBudget.heldBytes).toBe(0);
  });

  it('end with the time of the call while they wait for memory', async () => {
    const rest = await memoryBudget.reserve({ length: 1, bytes: Number.MAX_SAFE_INTEGER, owner: 'test' });
    try {
      const failed = runtime.call({ tool: 'list_mcp_resources', arguments: {}, maxTotalMs: 300 });
      await expect(failed).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
    } finally {
      rest?.release();
    }
    await expect.poll(() => memoryBudget.heldBytes).toBe(0);
  });
});
