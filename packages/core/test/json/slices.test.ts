import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inSlices, type Steps } from '../../src/json/slices.js';

/** Blocks the thread for a millisecond. */
function work(): void {
  const until = performance.now() + 1;
  while (performance.now() < until);
}

function* steps(count: number, onStep = (): void => {}): Steps<number> {
  for (let step = 0; step < count; step += 1) {
    work();
    onStep();
    yield;
  }
  return count;
}

/** Counts the turns of the event loop until it is told to stop. */
function countTurns(): { readonly now: number; stop(): void } {
  let now = 0;
  let isOn = true;
  void (async () => {
    for (; isOn; now += 1) await turn();
  })();
  return {
    get now() {
      return now;
    },
    stop() {
      isOn = false;
    },
  };
}

describe('work in slices', () => {
  it('takes the same share of a turn, however much of it there is', async () => {
    const turns = countTurns();
    const byTurn = new Map<number, number>();
    const note = (): void => void byTurn.set(turns.now, (byTurn.get(turns.now) ?? 0) + 1);
    const counts = await Promise.all(Array.from({ length: 40 }, () => inSlices(steps(10, note))));
    turns.stop();
    expect(counts).toEqual(Array(40).fill(10));
    // Eight milliseconds, and one step that started before their end. The last steps of one turn and the first of the
    // next can be counted as one turn.
    expect(Math.max(...byTurn.values())).toBeLessThanOrEqual(18);
  });

  it('rotates: short work does not wait for long work', async () => {
    const ended: string[] = [];
    const long = Array.from({ length: 10 }, () => inSlices(steps(100)).then(() => ended.push('long')));
    const short = inSlices(steps(3)).then(() => ended.push('short'));
    await Promise.all([...long, short]);
    expect(ended[0]).toBe('short');
  });

  it('rejects with the thrown error, at the first step or later, and other work continues', async () => {
    function* failing(after: number): Steps<never> {
      yield* steps(after);
      throw new Error(`failed after ${after}`);
    }
    const results = await Promise.allSettled([
      inSlices(failing(0)),
      inSlices(steps(30)),
      inSlices(failing(20)),
      inSlices(steps(30)),
    ]);
    expect(
      results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason))),
    ).toEqual(['Error: failed after 0', 30, 'Error: failed after 20', 30]);
  });
});
