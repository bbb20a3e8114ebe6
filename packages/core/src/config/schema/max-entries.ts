/**
 * Maps and lists that are counted before validation: the validator would describe every entry, which takes seconds
 * for large ones, only to be discarded.
 */
import * as z from 'zod/mini';
import { isRecord } from '../../json/is-record.js';

type Schema = z.ZodMiniType;

/** The schema with a maximum number of entries. */
export function withMaxEntries<Inner extends Schema>(max: number, schema: Inner) {
  const few = z.custom<z.input<Inner>>((value) => countOf(value) <= max, {
    error: ({ input }) => `${countOf(input)} entries (maximum ${max})`,
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

/** Whether the message is complete as it is. */
export const isCountIssue = (issue: unknown): boolean =>
  isRecord(issue) && isRecord(issue.params) && issue.params.isWhole === true;

/** A list with a maximum number of items. */
export const list = <Item extends Schema>(item: Item, max: number) =>
  withMaxEntries(max, z.array(item).check(z.maxLength(max)));

const countOf = (value: unknown): number =>
  Array.isArray(value)
    ? value.length
    : typeof value === 'object' && value !== null
      ? Object.keys(value).length
      : 0;
