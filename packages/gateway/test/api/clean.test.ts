/** What leaves is cleaned of secrets in turn with others, whatever it is made of, and stays what it was. */
import { createRuntime, type Runtime } from 'turnbuckle';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cleanData, cleanTexts } from '../../src/api/clean.js';

const COUNT = 200_000;
const rows = (row: () => unknown): unknown[] => Array.from({ length: COUNT }, row);
const VALUES: Readonly<Record<string, unknown>> = {
  numbers: rows(() => 1.5),
  objects: rows(() => ({ a: 1 })),
  lists: rows(() => []),
  texts: rows(() => 'a'),
  members: Object.fromEntries(rows(() => 1).map((value, at) => [`k${at}`, value])),
  toJSON: { toJSON: rows(() => 1) },
};

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({});
});
afterAll(() => runtime.close());

it.each(Object.entries(VALUES))('very many %s', async (_what, value) => {
  for (const clean of [cleanTexts, cleanData]) {
    let [turns, isOver] = [0, false];
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const cleaned = await clean(value, runtime);
    isOver = true;
    expect(JSON.stringify(cleaned) === JSON.stringify(value)).toBe(true);
    // A turn has 8 ms for such work, and all of it takes many times that.
    expect(turns).toBeGreaterThan(1);
  }
});

it('what has a form of its own for JSON is cleaned in that, and no key of data is taken for one', async () => {
  const error = { toJSON: () => ({ message: 'm', at: new Date(0) }) };
  const value = { error, data: { toJSON: 'x', inner: { toJSON: { toJSON: null } } } };
  for (const clean of [cleanTexts, cleanData])
    expect(await clean(value, runtime)).toEqual({
      error: { message: 'm', at: '1970-01-01T00:00:00.000Z' },
      data: { toJSON: 'x', inner: { toJSON: { toJSON: null } } },
    });
});
