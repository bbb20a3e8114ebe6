/** Notifications to all callers: visibility is decided once for each caller, and again when rules or tools change. */
import { fixture } from '@turnbuckle/testing';
import type { Caller } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Visibility } from '../../src/api/visibility.js';
import { openStand, type Stand } from './stand.js';

const MESSAGES = 50;
const CALLERS: readonly Caller[] = Array.from({ length: 20 }, (_, number) => ({
  id: `agent-${number}`,
  // One of them may use the last tool only, most of them nothing at all.
  capabilities: number === 0 ? ['mcp:many/tool_01000'] : ['mcp:other'],
}));

let stand: Stand;
beforeAll(async () => {
  stand = await openStand({
    servers: { many: fixture('paging', '--tools', '1000', '--page', '1000'), other: fixture('echo') },
  });
}, 60_000);
afterAll(() => stand.close());

describe('a message of a server with a thousand tools', () => {
  it('costs next to nothing, however many could hear it', () => {
    const { runtime } = stand;
    expect(runtime.toolsForAgent({ id: 'all', capabilities: ['mcp:many'] })).toHaveLength(1_000);
    const dispatcher = stand.endpoint.viewContext()?.dispatcher;
    const visibilities = CALLERS.map((caller) => new Visibility(runtime, caller));
    let heard = 0;
    let looked = 0;
    const mayKnow = runtime.mayKnow.bind(runtime);
    runtime.mayKnow = (request) => {
      if (request.tool !== '') looked += 1;
      return mayKnow(request);
    };
    for (let message = 0; message < MESSAGES; message += 1) {
      for (const caller of CALLERS) if (dispatcher?.mayKnow('many', caller) === true) heard += 1;
      for (const visibility of visibilities) if (visibility.canSee({ server: 'many' })) heard += 1;
    }
    expect(heard).toBe(2 * MESSAGES);
    // All tools were checked once for each caller, not for each message.
    expect(looked).toBe(CALLERS.length * 1_000);
  });

  it('reaches other callers after the rules or the tools change', async () => {
    const { runtime } = stand;
    const dispatcher = stand.endpoint.viewContext()?.dispatcher;
    const [first, second] = CALLERS as [Caller, Caller];
    const known = (): unknown[] => [first, second].map((caller) => dispatcher?.mayKnow('many', caller));
    expect(known()).toEqual([true, false]);
    runtime.setRules([{ rule: { action: 'deny', server: 'many' }, from: 'user', index: 0 } as never]);
    expect(known()).toEqual([false, false]);
    runtime.setRules([]);
    expect(known()).toEqual([true, false]);
    expect(dispatcher?.mayKnow('other', second)).toBe(true);
    await runtime.setServers({ other: fixture('echo') });
    expect(known()).toEqual([false, false]);
  });
});
