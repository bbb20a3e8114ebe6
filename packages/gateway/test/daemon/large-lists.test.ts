/** Servers with oversized lists: the daemon survives, lists what fits, and answers other requests meanwhile. */
import { fileURLToPath } from 'node:url';
import { fixture, sampled, timeBound } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { type ChildDaemon, childDaemon } from '../threats/child-daemon.js';

const PROGRAM = fileURLToPath(new URL('../../../core/test/hostile/servers/large-lists.mjs', import.meta.url));
const LONG = 300_000;
const SMALL_HEAP = { heapMb: 512 };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const large = (...args: ReadonlyArray<string | number>): object => ({
  command: process.execPath,
  args: [PROGRAM, ...args.map(String)],
  era: 'legacy',
  start: 'lazy',
  listTimeoutMs: 120_000,
  connectTimeoutMs: 120_000,
});

async function open(server: object): Promise<ChildDaemon> {
  const servers = { large: server, healthy: fixture('echo') };
  const daemon = await childDaemon({ servers }, SMALL_HEAP);
  onTestFinished(() => daemon.remove());
  await daemon.call('healthy', 'echo', { text: 'warm' });
  return daemon;
}

/** The time of the slowest of many small requests, sent one after the other until the work is done. */
async function slowestDuring(daemon: ChildDaemon, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  let slowest = 0;
  while (!isOver) {
    const from = performance.now();
    expect((await daemon.fetch('/health')).status).toBe(200);
    slowest = Math.max(slowest, performance.now() - from);
  }
  await over;
  return slowest;
}

async function namesIn(daemon: ChildDaemon): Promise<readonly string[][]> {
  const plain = (await (await daemon.fetch('/tools')).json()) as { tools: Array<{ tool: string }> };
  const listed = await daemon.fetch('/mcp', {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/list',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } }),
  });
  const { result } = (await listed.json()) as { result: { tools: Array<{ name: string }> } };
  const api = (await (await daemon.fetch('/api/tools')).json()) as { tools: Array<{ name: string }> };
  return [plain.tools.map(({ tool }) => tool), ...[result, api].map(({ tools }) => tools.map((t) => t.name))];
}

const LISTS = [
  ['tools', 20, 1, 'meta', 2_900_000],
  ['tools', 200, 16, 'schema', 250_000],
  ['tools', 1_000, 100, 'props', 60_000],
  ['tools', 1_000, 1_000, 'text', 9_000],
  ['tools', 60, 15, 'text', 640_000],
] as const;

it.each(sampled(LISTS, 2))(
  '%s: %d entries, %d per page, %s of %d characters',
  async (...form) => {
    const daemon = await open(large(...form));
    const work = async (): Promise<void> => {
      await daemon.call('large', 't0');
      expect((await daemon.fetch('/api/servers/large')).status).toBe(200);
      for (const names of await namesIn(daemon))
        expect(names).toContainEqual(expect.stringContaining('echo'));
    };
    expect(await slowestDuring(daemon, work())).toBeLessThan(timeBound(250));
    expect(await daemon.call('healthy', 'echo', { text: 'after' })).toMatchObject({ success: true });
  },
  LONG,
);

it.each(sampled(['resources', 'prompts'], 2))(
  '%s: large lists do not block other requests',
  async (kind) => {
    const daemon = await open(large(kind, 200, 16, 'text', 250_000));
    await daemon.call('large', 't0');
    const work = async (): Promise<void> => {
      for (const path of [`/${kind}`, `/api/${kind}`]) {
        const listed = (await (await daemon.fetch(path)).json()) as Record<string, unknown[]>;
        expect(listed[kind]?.length, path).toBeGreaterThan(8);
      }
    };
    expect(await slowestDuring(daemon, work())).toBeLessThan(timeBound(250));
  },
  LONG,
);
