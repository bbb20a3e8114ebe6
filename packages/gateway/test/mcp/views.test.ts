import { fixture } from '@turnbuckle/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { modern, type RawOptions } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

let stand: Stand;
beforeAll(async () => {
  stand = await openStand({
    servers: { one: fixture('echo'), two: fixture('echo'), shy: fixture('echo') },
    callers: {
      token: { id: 'all', capabilities: ['mcp_integration'] },
      little: { id: 'little', capabilities: ['mcp:one', 'mcp:two/add'] },
    },
    views: {
      first: { servers: ['one'], names: 'plain' },
      both: { servers: ['one', 'two'], tools: ['echo', 'add'], names: 'plain' },
      narrow: { capabilities: ['mcp:two'] },
    },
  });
});
afterAll(() => stand.close());

async function namesIn(options: RawOptions = {}): Promise<string[]> {
  const { body } = await modern(stand, { method: 'tools/list' }, options);
  const tools = body.result?.tools as Array<{ name: string }>;
  return tools.map(({ name }) => name);
}

const call = (name: string, options: RawOptions = {}) =>
  modern(stand, { method: 'tools/call', params: { name, arguments: { text: 'x' } } }, options);

it('without a name lists everything, with the server before each name', async () => {
  const names = await namesIn();
  expect(names).toEqual([...names].sort());
  for (const name of ['one_echo', 'two_echo', 'shy_echo']) expect(names).toContain(name);
});

it('lists only its servers and tools, under plain names where they are unique', async () => {
  expect(await namesIn({ path: '/mcp/first' })).toContain('echo');
  expect(await namesIn({ path: '/mcp/both' })).toEqual(['add', 'echo', 'two_add', 'two_echo']);
  expect((await call('echo', { path: '/mcp/both' })).body.result).toMatchObject({ content: [{ text: 'x' }] });
  expect((await call('shy_echo', { path: '/mcp/both' })).body.error).toMatchObject({ code: -32602 });
  expect((await call('pid', { path: '/mcp/both' })).body.error).toMatchObject({ code: -32602 });
});

it('gives a caller what it may see, the same in lists and calls', async () => {
  const names = await namesIn({ token: 'little' });
  expect(names).toContain('one_echo');
  expect(names.filter((name) => name.startsWith('two_'))).toEqual(['two_add']);
  expect((await call('one_echo', { token: 'little' })).status).toBe(200);
  const hidden = await call('two_echo', { token: 'little' });
  const nowhere = await call('two_nothing', { token: 'little' });
  expect(hidden.body.error?.code).toBe(-32602);
  expect(hidden.body.error?.code).toBe(nowhere.body.error?.code);
});

it('can restrict its callers further', async () => {
  const names = await namesIn({ path: '/mcp/narrow' });
  expect(names).toContain('two_echo');
  expect(names.every((name) => name.startsWith('two_'))).toBe(true);
  // Of what the view has, what its own capabilities grant.
  expect(await namesIn({ path: '/mcp/narrow', token: 'little' })).toEqual(['two_add']);
  expect((await call('one_echo', { path: '/mcp/narrow', token: 'little' })).body.error).toMatchObject({
    code: -32602,
  });
});

it('does not exist if it is not configured', async () => {
  expect((await call('echo', { path: '/mcp/nothing' })).status).toBe(404);
});
