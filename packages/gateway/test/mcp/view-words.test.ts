/** The capabilities of a view limit its callers: they never give one that the caller lacks. */
import { fixture } from '@turnbuckle/testing';
import type { Caller } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OWNER } from '../../src/identity/owner.js';
import { openStand, type Stand } from './stand.js';
import { type Ask, codeOf, openSurface, SURFACES } from './surfaces.js';

const ALL = 'mcp_integration';
const CALLERS: Readonly<Record<string, Caller>> = {
  owner: { id: OWNER, capabilities: [ALL] },
  all: { id: 'all', capabilities: [ALL] },
  steward: { id: 'steward', capabilities: [ALL, 'mcp_special', 'mcp_vetted'] },
  exact: { id: 'exact', capabilities: ['mcp:open/echo'] },
};

let stand: Stand;
beforeAll(async () => {
  stand = await openStand({
    servers: {
      open: fixture('echo'),
      guarded: { ...fixture('echo'), requires: ['mcp_vetted'] },
    },
    callers: CALLERS,
    views: {
      words: { capabilities: ['mcp:guarded', 'mcp_vetted', 'mcp_special'] },
      plain: { capabilities: ['mcp:guarded', 'mcp_vetted', 'mcp_special'], names: 'plain' },
      server: { capabilities: ['mcp:open'] },
      whole: { capabilities: [ALL] },
    },
  });
  stand.runtime.registerTool({
    name: 'special',
    inputSchema: { type: 'object' },
    capability: 'mcp_special',
    run: () => 'special',
  });
});
afterAll(() => stand.close());

async function toolsOf(ask: Ask): Promise<string[]> {
  const { result } = await ask('tools/list', {});
  const tools = result?.tools as Array<{ name: string }> | undefined;
  return tools?.map(({ name }) => name) ?? [];
}

const CALLED = { text: 'x' };

/** The view, the caller, a tool, and whether the caller has it there. */
const TABLE: ReadonlyArray<readonly [string | undefined, string, string, boolean]> = [
  // What a server requires: the view has the word, the caller lacks it.
  [undefined, 'all', 'guarded_echo', false],
  ['words', 'all', 'guarded_echo', false],
  ['words', 'steward', 'guarded_echo', true],
  ['words', 'owner', 'guarded_echo', true],
  ['plain', 'all', 'echo', false],
  ['plain', 'steward', 'echo', true],
  // The caller has the word, the view lacks it.
  ['whole', 'steward', 'guarded_echo', false],
  ['whole', 'owner', 'guarded_echo', false],
  // The only capability of a native tool.
  [undefined, 'all', 'special', false],
  ['words', 'all', 'special', false],
  ['words', 'steward', 'special', true],
  ['plain', 'all', 'special', false],
  ['whole', 'steward', 'special', false],
  // What grants a server or a tool.
  ['words', 'exact', 'guarded_echo', false],
  ['words', 'exact', 'open_echo', false],
  ['server', 'exact', 'open_echo', true],
  ['server', 'exact', 'open_add', false],
  ['server', 'all', 'open_add', true],
  ['whole', 'exact', 'open_echo', true],
  ['whole', 'exact', 'open_add', false],
];

// requirement P1
describe.each(SURFACES)('a client over %s', (surface) => {
  it.each(TABLE)('in the view %s with the token of %s: %s is %s', async (view, token, tool, has) => {
    const caller = CALLERS[token] ?? { id: token, capabilities: [] };
    const ask = await openSurface(surface, stand, { token, caller, view });
    expect((await toolsOf(ask)).includes(tool)).toBe(has);
    const called = await ask('tools/call', { name: tool, arguments: CALLED });
    if (has) expect(called).toMatchObject({ result: { content: [{ type: 'text' }] } });
    else expect(codeOf(called)).toBe('TOOL_UNKNOWN');
  });
});
