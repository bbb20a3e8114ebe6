/** One token calls a tool that lists all resources, as often as it can: the daemon keeps its memory, and answers others. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChildDaemon, childDaemon } from './child-daemon.js';

const PROGRAM = fileURLToPath(new URL('../../../core/test/hostile/servers/large-lists.mjs', import.meta.url));
const large = (kind: string): object => ({
  ...{ type: 'stdio', command: process.execPath, era: 'legacy', listTimeoutMs: 120_000 },
  args: [PROGRAM, kind, '2000', '200', 'text', '3000'],
});
const CALLS = 100;
const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

let daemon: ChildDaemon;
let token: string;
beforeAll(async () => {
  const servers = {
    ...{ one: large('resources'), two: large('resources'), asks: large('prompts') },
    ...{ does: large('tools'), more: large('tools') },
  };
  const config = { servers, resourceTools: true, rules: [{ action: 'allow' }] };
  // A fraction of what the lists would take if each call held all of them.
  daemon = await childDaemon(config, { heapMb: 256 });
  const { body } = await daemon.post('/api/tokens', {
    ...{ name: 'weak', can: ['mcp_integration'], access: ['call'] },
  });
  token = String(body.token);
  await daemon.call('native', 'list_mcp_resources');
  await daemon.call('native', 'list_mcp_prompts');
}, 60_000);
afterAll(() => daemon.remove());

/** Its statuses, once. */
async function answersOf(path: string, bodies: readonly object[], headers: object = {}): Promise<number[]> {
  const statuses = await Promise.all(
    bodies.map(async (body) => {
      const response = await daemon.fetch(path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, ...headers },
        body: JSON.stringify(body),
      });
      await response.arrayBuffer();
      return response.status;
    }),
  );
  return [...new Set(statuses)].sort();
}

const callOf = (tool: string): object => ({ server: 'native', tool_name: tool, arguments: {} });
const ATTACKS: Readonly<Record<string, (tool: string) => Promise<number[]>>> = {
  'the bridge': (tool) =>
    answersOf(
      '/mcp/call',
      Array.from({ length: CALLS }, () => callOf(tool)),
    ),
  'a batch': (tool) =>
    answersOf('/mcp/calls', [{ calls: Array.from({ length: CALLS }, () => callOf(tool)) }]),
  MCP: (tool) =>
    answersOf(
      '/mcp',
      Array.from({ length: CALLS }, (_, id) => ({
        ...{ jsonrpc: '2.0', id, method: 'tools/call' },
        params: { name: tool, arguments: {}, _meta: MODERN },
      })),
      {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': tool,
      },
    ),
};

describe('a token that lists everything over and over', () => {
  it.each(
    Object.keys(ATTACKS).flatMap((way) => [
      [way, 'list_mcp_resources'],
      [way, 'list_mcp_prompts'],
    ]),
  )('takes no memory from others over %s: %s', async (way, tool) => {
    const answers = (await ATTACKS[way]?.(tool)) ?? [];
    expect(answers.length).toBeGreaterThan(0);
    expect(answers.filter((status) => ![200, 429, 503].includes(status))).toEqual([]);
    expect((await daemon.fetch('/health')).status).toBe(200);
    expect(daemon.child.exitCode).toBeNull();
  });
});

describe('lists of the API', () => {
  it.each(['tools', 'resources', 'prompts', 'pins'])(
    'take no memory from others, however many are requested at a time: %s',
    async (list) => {
      const statuses = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const response = await daemon.fetch(`/api/${list}`);
          await response.arrayBuffer();
          return response.status;
        }),
      );
      expect([...new Set(statuses)].filter((status) => ![200, 429, 503].includes(status))).toEqual([]);
      expect(statuses).toContain(200);
      expect(daemon.child.exitCode).toBeNull();
    },
  );
});
