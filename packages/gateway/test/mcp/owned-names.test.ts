/** A server cannot take a name that the view gives to an item of another server, nor make a list unusable. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { modern, type RawAnswer } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

const HALF = 'note://half/\ud800';
interface Lists {
  tools: string[];
  prompts: string[];
  resources: string[];
}

const serverNames = ['a', 'a_b', 'files'] as const;
type ServerName = (typeof serverNames)[number];
const lists = {} as Record<ServerName, Lists>;
const servers = new Map<ServerName, Upstream>();
let stand: Stand;

function openServer(name: ServerName): Promise<Upstream> {
  return openUpstream({
    answers: {
      initialize: () => ({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, resources: {}, prompts: {} },
        serverInfo: { name, version: '1' },
      }),
      'tools/list': () => ({
        tools: lists[name].tools.map((tool) => ({ name: tool, inputSchema: { type: 'object' } })),
      }),
      'tools/call': () => ({ content: [{ type: 'text', text: name }] }),
      'prompts/list': () => ({ prompts: lists[name].prompts.map((prompt) => ({ name: prompt })) }),
      'prompts/get': (params) => ({
        description: `${String(params.name)} of ${name}`,
        messages: [],
      }),
      'resources/list': () => ({ resources: lists[name].resources.map((uri) => ({ uri, name: 'x' })) }),
      'resources/read': ({ uri }) => ({ contents: [{ uri, text: name }] }),
    },
  });
}

beforeAll(async () => {
  for (const name of serverNames) servers.set(name, await openServer(name));
  reset();
  stand = await openStand({
    servers: Object.fromEntries([...servers].map(([name, { url }]) => [name, { url }])),
    views: {
      ordered: { servers: ['files', 'a_b', 'a'], names: 'plain' },
      plain: { names: 'plain' },
    },
  });
});
afterAll(async () => {
  await stand.close();
  for (const server of servers.values()) await server.close();
});
beforeEach(reset);

function reset(): void {
  for (const name of serverNames) lists[name] = { tools: [], prompts: [], resources: [] };
}

/** Lists everything again, as after a notification. */
async function relist(): Promise<void> {
  for (const name of serverNames) await stand.runtime.refresh(name);
}

const ask = (method: string, params: Record<string, unknown>, path = '/mcp'): Promise<RawAnswer> =>
  modern(stand, { method, params }, { path });

async function namesIn(kind: 'tools' | 'prompts' | 'resources', path = '/mcp'): Promise<unknown[]> {
  const { body } = await ask(`${kind}/list`, {}, path);
  const items = body.result?.[kind] as ReadonlyArray<{ readonly name: string; readonly uri?: string }>;
  return items.map(({ name, uri }) => uri ?? name);
}

const answeredBy = async (name: string, path: string): Promise<unknown> =>
  (await ask('tools/call', { name, arguments: {} }, path)).body.result?.content;

// requirement T2
it('leaves a plain tool name to the server that the view names first', async () => {
  lists.files.tools = ['read'];
  await relist();
  expect(await answeredBy('read', '/mcp/ordered')).toMatchObject([{ text: 'files' }]);
  lists.a.tools = ['read'];
  await relist();
  expect(await answeredBy('read', '/mcp/ordered')).toMatchObject([{ text: 'files' }]);
  expect(await namesIn('tools', '/mcp/ordered')).toEqual(['a_read', 'read']);
  expect(await answeredBy('a_read', '/mcp/ordered')).toMatchObject([{ text: 'a' }]);
});

it.each(['/mcp/plain', '/mcp/ordered'])('gives no tool the full name of another one at %s', async (path) => {
  lists.a.tools = ['files_read'];
  lists.files.tools = ['read'];
  await relist();
  expect(await namesIn('tools', path)).toEqual(['a_files_read', 'read']);
  lists.a.tools = ['files_read', 'read'];
  await relist();
  for (const name of await namesIn('tools', path)) {
    const [answer] = (await answeredBy(String(name), path)) as Array<{ text: string }>;
    const first = path === '/mcp/plain' ? 'a' : 'files';
    expect(answer?.text).toBe(name === 'read' ? first : String(name).split('_')[0]);
  }
  expect(await namesIn('tools', path)).toHaveLength(3);
});

// requirement T8
it.each(['/mcp', '/mcp/plain', '/mcp/ordered'])('gives each prompt a name of its own at %s', async (path) => {
  lists.a.prompts = ['b_c', 'b__c', 'b_b_c', 'c'];
  lists.a_b.prompts = ['c', '_c', 'b_c'];
  await relist();
  const names = await namesIn('prompts', path);
  expect(new Set(names).size).toBe(7);
  const reached = new Set<unknown>();
  for (const name of names) {
    const { body } = await ask('prompts/get', { name }, path);
    reached.add(body.result?.description);
  }
  expect(reached.size).toBe(7);
});

it('leaves the name of a prompt to its server whatever another one lists', async () => {
  lists.a_b.prompts = ['c'];
  await relist();
  const [name] = await namesIn('prompts');
  lists.a.prompts = ['b_c', 'b__c', String(name), String(name).slice(2)];
  await relist();
  const { body } = await ask('prompts/get', { name });
  expect(body.result?.description).toBe('c of a_b');
});

it('lists the resources of all servers if some of one have odd or equal addresses', async () => {
  lists.a.resources = [HALF, HALF, 'note://same', 'note://same'];
  lists.files.resources = [HALF, 'note://good'];
  await relist();
  expect(await namesIn('resources')).toEqual(['note://same', 'note://good']);
  const { body } = await ask('resources/read', { uri: 'note://good' });
  expect(body.result?.contents).toMatchObject([{ text: 'files' }]);
});
