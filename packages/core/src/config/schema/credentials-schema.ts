/** The `credentials` key of a server: values that differ between callers, by the name of the caller. */
import * as z from 'zod/mini';
import { withMaxEntries } from './max-entries.js';

/** The key for all callers without an entry. */
export const OTHER_CALLERS = '*';

const MAX_CALLERS = 1_000;

const CALLER_NAME = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

/** Whether the client chose the name itself: anyone could use an entry for it. */
export const isNamedByClient = (caller: string): boolean => caller.startsWith('stdio:');

/** A map from callers to entries of one transport; with `"*": false`, callers without an entry are refused. */
export function credentialsBy<Entry extends z.ZodMiniType>(entry: Entry): z.ZodMiniOptional<ByCaller<Entry>> {
  const others = z.optional(z.literal(false, { error: 'expected false' }));
  const byCaller = z.catchall(z.object({ [OTHER_CALLERS]: others }), entry).check(
    z.refine(
      (value) => Object.keys(value).every((name) => CALLER_NAME.test(name) && !isNamedByClient(name)),
      {
        error:
          'expected caller names of at most 256 characters that do not start with "stdio:" (any client can choose such a name; use a token name instead)',
      },
    ),
  );
  return z.optional(withMaxEntries(MAX_CALLERS, byCaller) as unknown as ByCaller<Entry>);
}

/** TypeScript has no type for a map of which one key has another type. */
type ByCaller<Entry extends z.ZodMiniType> = z.ZodMiniType<
  Record<string, z.output<Entry> | false>,
  Record<string, z.input<Entry> | false>
>;
