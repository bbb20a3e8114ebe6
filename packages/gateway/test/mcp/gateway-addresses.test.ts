/** An address that another gateway gives to a resource means the resource: what guards the one guards the other. */
import type { Rule } from 'turnbuckle';
import { expect, it, onTestFinished } from 'vitest';
import { openUpstream } from '../threats/upstream.js';
import { initialize, send } from './raw-client.js';
import { openStand } from './stand.js';

const SECRET = 'file:///secret/key';
const OPEN = 'file:///open/key';

const openFiles = async (text: string) => {
  const server = await openUpstream({
    answers: {
      'resources/list': () => ({ resources: [SECRET, OPEN].map((uri) => ({ uri, name: uri })) }),
      'resources/templates/list': () => ({ resourceTemplates: [] }),
      'resources/read': ({ uri }) => ({ contents: [{ uri, text }] }),
    },
  });
  onTestFinished(() => server.close());
  return { url: server.url };
};

/** A gateway with two servers that have the same addresses, behind a gateway with the rules. */
async function openTwo(rules: readonly Rule[], requires?: Readonly<Record<string, readonly string[]>>) {
  const inner = await openStand({
    servers: { first: await openFiles('of the first'), second: await openFiles('of the second') },
  });
  onTestFinished(() => inner.close());
  const headers = { authorization: 'Bearer token' };
  const outer = await openStand({
    servers: { inner: { url: `${inner.url}/mcp`, headers, ...(requires && { requires }) } as never },
    options: { rules },
  });
  onTestFinished(() => outer.close());
  const session = await initialize(outer);
  return async (method: string, uri?: string): Promise<string> => {
    const message = { jsonrpc: '2.0', id: 1, method, params: { ...(uri && { uri }) } };
    return JSON.stringify((await send(outer, message, { headers: { 'mcp-session-id': session } })).body);
  };
}

const second = (uri: string): string => `turnbuckle://second/${encodeURIComponent(uri)}`;
const DENY = [{ action: 'deny', tool: 'file:///secret/**' }] as const;

it.each([
  ['a rule', DENY, undefined],
  ['a capability that is required', [], { 'file:///secret/**': ['mcp_admins'] }],
] as const)('is guarded by %s for the address in it', async (_, rules, requires) => {
  const ask = await openTwo(rules, requires);
  const listed = await ask('resources/list');
  expect(listed).toContain(second(OPEN));
  expect(listed).not.toContain('secret');
  for (const uri of [SECRET, second(SECRET), second(second(SECRET)), second(SECRET).toUpperCase()])
    expect(await ask('resources/read', uri), uri).not.toContain('of the');
  expect(await ask('resources/read', second(OPEN))).toContain('of the second');
});
