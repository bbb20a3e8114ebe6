/** Redacting a large value yields to other work, whatever the value contains, and changes nothing else in it. */
import { createRuntime, type Runtime } from 'turnbuckle';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { redactData, redactTexts } from '../../src/http/redact.js';

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

it.each(Object.entries(VALUES))(
  'redacts very many %s without blocking the event loop',
  async (_what, value) => {
    for (const clean of [redactTexts, redactData]) {
      let [turns, isOver] = [0, false];
      const count = (): void => {
        turns += 1;
        if (!isOver) setImmediate(count);
      };
      setImmediate(count);
      const cleaned = await clean(value, runtime);
      isOver = true;
      expect(JSON.stringify(cleaned) === JSON.stringify(value)).toBe(true);
      // Redaction gets 8 ms per turn of the event loop, and the whole value takes many times that.
      expect(turns).toBeGreaterThan(1);
    }
  },
);

it('an object with a toJSON method is redacted in its JSON form, and a toJSON key in data is not called', async () => {
  const error = { toJSON: () => ({ message: 'm', at: new Date(0) }) };
  const value = { error, data: { toJSON: 'x', inner: { toJSON: { toJSON: null } } } };
  for (const clean of [redactTexts, redactData])
    expect(await clean(value, runtime)).toEqual({
      error: { message: 'm', at: '1970-01-01T00:00:00.000Z' },
      data: { toJSON: 'x', inner: { toJSON: { toJSON: null } } },
    });
});
