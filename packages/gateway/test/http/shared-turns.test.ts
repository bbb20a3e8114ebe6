import { describe, expect, it } from 'vitest';
import { SharedTurns } from '../../src/http/shared-turns.js';
import type { Visitor } from '../../src/http/visitor.js';

const MAX = 64;
const make = (): SharedTurns => new SharedTurns({ what: 'questions', max: MAX, ownAtOnce: 2 });
const who = (id: string): Visitor => ({ caller: { id }, access: new Set() });
const owner: Visitor = { ...who('owner'), isOwner: true };

/** Work that ends when it is told to, in the order in which it began. */
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

describe('turns that are shared', () => {
  it('go from one identity to the next, whatever each has waiting', async () => {
    const [turns, { begun, work, endNext }] = [make(), bench()];
    const all = ['a', 'a', 'a', 'a', 'b', 'c', 'b'].map((id) => turns.take(who(id), work(id)));
    for (const _ of all) await endNext();
    expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
    expect(await Promise.all(all)).toHaveLength(7);
  });

  it('are no concern of the owner', async () => {
    const [turns, { begun, work }] = [make(), bench()];
    for (let at = 0; at < 10; at += 1) void turns.take(who('a'), work('a'));
    void turns.take(owner, work('owner'));
    expect(begun).toEqual(['a', 'owner']);
  });

  it('end for who has too many, not for others; and there is room again when some are over', async () => {
    const [turns, { work, endNext }] = [make(), bench()];
    const tried = Array.from({ length: 100 }, () =>
      turns.take(who('a'), work('a')).catch(({ code }) => code),
    );
    const late = turns.take(who('b'), work('b'));
    for (let at = 0; at < MAX; at += 1) await endNext();
    const answers = await Promise.all(tried);
    expect(answers.filter((answer) => answer === 'a')).toHaveLength(30);
    expect(answers.filter((answer) => answer === 'OVERLOADED')).toHaveLength(70);
    expect(await late).toBe('b');
    const again = turns.take(who('a'), work('a'));
    await endNext();
    expect(await again).toBe('a');
  });

  it('go on after work that fails', async () => {
    const turns = make();
    const fails = turns.take(who('a'), () => Promise.reject(new Error('no')));
    const next = turns.take(who('a'), async () => 'next');
    await expect(fails).rejects.toThrow('no');
    expect(await next).toBe('next');
  });
});
