/** Objects with any members, not copied: copying an object with very many members, as the validator does, is slow. */
import { isRecord } from 'turnbuckle/light';
import * as z from 'zod/mini';

type AnyObject = Record<string, unknown>;

export function anyObject(): z.ZodMiniType<AnyObject, AnyObject> {
  const schema = z.custom<AnyObject>(isRecord, 'expected an object');
  schema._zod.toJSONSchema = () => ({ type: 'object', additionalProperties: {} });
  return schema;
}

/** An object of strings. The validator reports every member, so their number is limited before it runs. */
export function textMap(max: number, texts: z.ZodMiniRecord<z.ZodMiniString, z.ZodMiniString>) {
  const few = z.custom<AnyObject>((value) => !isRecord(value) || Object.keys(value).length <= max, {
    error: ({ input }) => `${Object.keys(Object(input)).length} members, but at most ${max} are allowed`,
  });
  const schema = z.pipe(few, texts);
  schema._zod.toJSONSchema = () => ({ type: 'object', additionalProperties: { type: 'string' } });
  return schema;
}
