/** An object with any members, taken as it is: a record of the validator is a copy, which takes long for very many. */
import * as z from 'zod/mini';

type AnyObject = Record<string, unknown>;

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function anyObject(): z.ZodMiniType<AnyObject, AnyObject> {
  const schema = z.custom<AnyObject>(isObject, 'expected an object');
  schema._zod.toJSONSchema = () => ({ type: 'object', additionalProperties: {} });
  return schema;
}
