/**
 * Maps and lists that are counted before the validator looks at what is in them: it has something to say about every
 * entry, which takes seconds for very many, and all of it would be thrown away.
 */
import * as z from 'zod/mini';
import { isRecord } from '../is-record.js';

type Schema = z.ZodMiniType;

/** The schema for at most so many entries. */
export function counted<Inner extends Schema>(max: number, schema: Inner) {
  const few = z.custom<z.input<Inner>>((value) => countOf(value) <= max, {
    error: ({ input }) => `${countOf(input)} entries, and at most ${max} are allowed`,
    params: { isWhole: true },
    abort: true,
  });
  const both = z.pipe(few, schema as z.ZodMiniType<z.output<Inner>, z.input<Inner>>);
  both._zod.toJSONSchema = () => {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    return rest;
  };
  return both;
}

/** Whether an issue says all there is to say: how many there are, and may be. */
export const isWhole = (issue: unknown): boolean =>
  isRecord(issue) && isRecord(issue.params) && issue.params.isWhole === true;

/** A list of at most so many. */
export const list = <Item extends Schema>(item: Item, max: number) =>
  counted(max, z.array(item).check(z.maxLength(max)));

const countOf = (value: unknown): number =>
  Array.isArray(value)
    ? value.length
    : typeof value === 'object' && value !== null
      ? Object.keys(value).length
      : 0;
