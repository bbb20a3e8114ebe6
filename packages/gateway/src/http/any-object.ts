/** Objects with any members, taken as they are: a record of the validator is a copy, which takes long for very many. */
import * as z from 'zod/mini';

type AnyObject = Record<string, unknown>;

const isObject = (value: unknown): value is AnyObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function anyObject(): z.ZodMiniType<AnyObject, AnyObject> {
  const schema = z.custom<AnyObject>(isObject, 'expected an object');
  schema._zod.toJSONSchema = () => ({ type: 'object', additionalProperties: {} });
  return schema;
}

/** An object of texts; the validator, which has something to say about each member, sees no more of them than that. */
export function textMap(max: number, texts: z.ZodMiniRecord<z.ZodMiniString, z.ZodMiniString>) {
  const few = z.custom<AnyObject>((value) => !isObject(value) || Object.keys(value).length <= max, {
    error: ({ input }) => `${Object.keys(Object(input)).length} members, and at most ${max} are allowed`,
  });
  const schema = z.pipe(few, texts);
  schema._zod.toJSONSchema = () => ({ type: 'object', additionalProperties: { type: 'string' } });
  return schema;
}
