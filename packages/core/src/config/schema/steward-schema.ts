/** The `steward` of a file: where it looks for servers, and what it may install. In the user's or the managed file only. */
import * as z from 'zod/mini';
import { list } from './max-entries.js';
import { MODEL_SCHEMA } from './model-schema.js';

const text = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));
const integer = (least: number, most: number) => z.number().check(z.int(), z.gte(least), z.lte(most));

const registry = z.union([z.strictObject({ url: text(2_048) }), z.strictObject({ file: text(4_096) })], {
  error: 'expected { "url": … } or { "file": … }',
});

/** For one segment of a name or address; `*` and `?` match within it. */
const pattern = (most: number) =>
  text(most).check(
    z.refine(
      (glob) => !glob.includes('**') && !/\p{Cc}/u.test(glob),
      'expected a pattern for each segment, without **',
    ),
  );

/** Allows packages that match all of its keys. */
export const ALLOW_RULE_SCHEMA = z
  .strictObject({
    /** npm, pypi, oci, mcpb or remote; absent: any. */
    type: z.optional(z.enum(['npm', 'pypi', 'oci', 'mcpb', 'remote'])),
    /** The scope of an npm package: `@modelcontextprotocol`. */
    scope: z.optional(text(214).check(z.regex(/^@[a-z0-9][a-z0-9._~-]*$/, 'expected a scope such as @acme'))),
    /** The name of a package, or an address; `*` matches within one segment. */
    name: z.optional(pattern(4_096)),
    /** The part of a registry name before the slash: `io.github.someone`. Only if the registry has verified it. */
    namespace: z.optional(pattern(200)),
  })
  .check(z.refine((rule) => Object.keys(rule).length > 0, 'expected type, scope, name or namespace'));

export const STEWARD_SCHEMA = z.strictObject({
  /** How many requests are worked on at a time (2). */
  workers: z.optional(integer(1, 8)),
  /** Where servers are searched; absent: the official MCP registry. */
  registries: z.optional(list(registry, 20)),
  /** What may be installed; absent: nothing. */
  allow: z.optional(list(ALLOW_RULE_SCHEMA, 500)),
  /** Younger versions of packages and their dependencies are not installed (7 days). */
  minAgeDays: z.optional(integer(0, 3_650)),
  /** The npm registry; absent: the one that npm is configured with. */
  npmRegistry: z.optional(text(2_048)),
  /** Further origins that packages may be downloaded from, such as of mcpb bundles. */
  origins: z.optional(list(text(2_048), 200)),
  /** Plans searches and judges what they find; absent: rules alone. */
  model: z.optional(MODEL_SCHEMA),
  /** How long an install waits for approval (7 days). */
  approvalDays: z.optional(integer(1, 365)),
});

export type StewardSettings = z.output<typeof STEWARD_SCHEMA>;
