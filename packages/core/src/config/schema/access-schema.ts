/** What a token of the daemon may be used for. */
import * as z from 'zod/mini';

export const ACCESS = ['call', 'read', 'admin'] as const;

export type TokenAccess = (typeof ACCESS)[number];

/** Deprecated names: accepted on input and in stored tokens, never written. */
const DEPRECATED_ACCESS: ReadonlyMap<unknown, TokenAccess> = new Map([
  ['look', 'read'],
  ['manage', 'admin'],
]);

/** The name that replaces a deprecated one; undefined for all others. */
export const replacementForAccess = (word: string): TokenAccess | undefined => DEPRECATED_ACCESS.get(word);

/** Translates deprecated names. JSON Schema and error messages list only the current ones. */
export const ACCESS_SCHEMA = accessSchema();

function accessSchema() {
  const current = z.enum(ACCESS);
  const translate = z.transform((word: unknown) => DEPRECATED_ACCESS.get(word) ?? word);
  const schema = z.pipe(translate, current as z.ZodMiniType<TokenAccess, unknown>);
  schema._zod.toJSONSchema = () => ({ type: 'string', enum: [...ACCESS] });
  return schema;
}
