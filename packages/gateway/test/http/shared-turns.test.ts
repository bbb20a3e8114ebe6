import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../src/http/limits/fair-queue.js';
import type { Identity } from '../../src/identity/identity.js';

const MAX = 64;
const make = (): FairQueue => new FairQueue({ what: 'questions', max: MAX, ownerConcurrency: 2 });
const who = (id: string): Identity => ({ caller: { id, capabilities: [] }, access: new Set() });
const owner: Identity = { ...who('owner'), isOwner: true };

/** Tasks that end on request, in the order in which they started. */
function bench() {
  const begun: string[] = [];
  const ends: Array<() => void> = [];
  const work = (name: string) => async (): Promise<string> => {
    begun.push(name);
    await new Promise<void>((resolve) => ends.push(resolve));
    return name;
  };
  const endNext = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, work, endNext };
}

describe('a fair queue', () => {
  it('alternates between identities, however much each has waiting', async () => {
    const [turns, { begun, work, endNext }] = [make(), bench()];
    const all = ['a', 'a', 'a', 'a', 'b', 'c', 'b'].map((id) => turns.run(who(id), work(id)));
    for (const _ of all) await endNext();
    expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
    expect(await Promise.all(all)).toHaveLength(7);
  });

  it('does not make the owner wait', async () => {
    const [turns, { begun, work }] = [make(), bench()];
    for (let at = 0; at < 10; at += 1) void turns.run(who('a'), work('a'));
    void turns.run(owner, work('owner'));
    expect(begun).toEqual(['a', 'owner']);
  });

  it('rejects an identity with too many tasks, not others, and has room again when some are done', async () => {
    const [turns, { work, endNext }] = [make(), bench()];
    const tried = Array.from({ length: 100 }, () => turns.run(who('a'), work('a')).catch(({ code }) => code));
    const late = turns.run(who('b'), work('b'));
    for (let at = 0; at < MAX; at += 1) await endNext();
    const answers = await Promise.all(tried);
    expect(answers.filter((answer) => answer === 'a')).toHaveLength(30);
    expect(answers.filter((answer) => answer === 'OVERLOADED')).toHaveLength(70);
    expect(await late).toBe('b');
    const again = turns.run(who('a'), work('a'));
    await endNext();
    expect(await again).toBe('a');
  });

  it('continues after a task that fails', async () => {
    const turns = make();
    const fails = turns.run(who('a'), () => Promise.reject(new Error('no')));
    const next = turns.run(who('a'), async () => 'next');
    await expect(fails).rejects.toThrow('no');
    expect(await next).toBe('next');
  });
});
