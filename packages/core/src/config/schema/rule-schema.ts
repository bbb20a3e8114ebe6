/**
 * The one declaration of what a rule may say. What its keys mean, and why some of them mean less in an
 * `allow` than in the others, is in policy/rules.ts.
 */
import * as z from 'zod/mini';
import { counted, list } from './counted.js';

const text = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));
const oneOrMore = <Item extends z.ZodMiniType>(item: Item) =>
  z.union([item, counted(100, z.array(item).check(z.minLength(1), z.maxLength(100)))]);
const globs = oneOrMore(text(256));
const scalar = z.union([z.string().check(z.maxLength(4_096)), z.number(), z.boolean(), z.null()]);
const number = z.number();

/** A text is a glob; the others say what they compare. */
const pattern = z.union([
  text(1_024),
  z.strictObject({ glob: text(1_024) }),
  z.strictObject({ equals: scalar }),
  z.strictObject({ oneOf: counted(1_000, z.array(scalar).check(z.minLength(1), z.maxLength(1_000))) }),
  z.strictObject({ startsWith: text(1_024) }),
  z.strictObject({ greaterThan: number, lessThan: z.optional(number) }),
  z.strictObject({ lessThan: number, greaterThan: z.optional(number) }),
]);

/** Where an argument stands: `path`, `options.mode`, `files[*].name`, `files[0]`, `["a key.with dots"]`. */
const ARGUMENT_PATH =
  /^(?:[^.[\]"]+|\["(?:[^"\\]|\\.)*"\])(?:\.[^.[\]"]+|\[(?:\*|\d{1,6}|"(?:[^"\\]|\\.)*")\])*$/;

const KINDS = ['tool', 'resource', 'prompt'] as const;
const SCOPES = ['user', 'project', 'local', 'managed', 'claudeai', 'native'] as const;
/** What each of them means, and when a text is flagged, is in catalog/flags.ts. */
const FLAGS = [
  'hidden-characters',
  'instructions',
  'mentions-other-server',
  'secret-in-header',
  'embedded-icon',
  'unscanned',
] as const;

export const RULE_SCHEMA = z.strictObject({
  action: z.enum(['allow', 'ask', 'deny']),
  /** The names of servers: globs. */
  server: z.optional(globs),
  /** The names of tools and prompts at their server, the addresses of resources: globs. */
  tool: z.optional(globs),
  kind: z.optional(oneOrMore(z.enum(KINDS))),
  /** The ids of callers: globs. The host itself is "host", and "agents" is everybody else. */
  caller: z.optional(globs),
  /** What the server's own `trusted` has to be. */
  trusted: z.optional(z.boolean()),
  /** Where the server comes from. */
  scope: z.optional(oneOrMore(z.enum(SCOPES))),
  /** What the tool says about itself. */
  annotations: z.optional(
    z.strictObject({
      readOnly: z.optional(z.boolean()),
      destructive: z.optional(z.boolean()),
      idempotent: z.optional(z.boolean()),
      openWorld: z.optional(z.boolean()),
    }),
  ),
  /** Reasons to look at the tool's texts: one of them is enough. Not in an `allow`. */
  flags: z.optional(oneOrMore(z.enum(FLAGS))),
  /** Patterns by the path of the argument. */
  arguments: z.optional(
    counted(1_000, z.record(z.string().check(z.maxLength(512), z.regex(ARGUMENT_PATH)), pattern)),
  ),
  /** The arguments hold a secret, known or by its looks. */
  secrets: z.optional(z.literal(true)),
  /** Why: shown with the decision. */
  reason: z.optional(text(500)),
});

/** How many rules one file may have. */
export const MOST_RULES = 2_000;

export const RULES_SCHEMA = list(RULE_SCHEMA, MOST_RULES);

/** What is held back when its definition is not the one that was approved. */
export const PINS_SCHEMA = z.enum(['off', 'approved', 'all']);

/** What becomes of a call by which a run could carry private data out for a stranger. */
export const FLOWS_SCHEMA = z.enum(['off', 'ask', 'deny']);

/** One rule, as it is written. */
export type Rule = z.output<typeof RULE_SCHEMA>;
export type ArgumentPattern = z.output<typeof pattern>;
export type RuleScope = (typeof SCOPES)[number];
export type RuleFlag = (typeof FLAGS)[number];
export type PinMode = z.output<typeof PINS_SCHEMA>;
export type FlowMode = z.output<typeof FLOWS_SCHEMA>;

/** A rule and where it stands. */
export interface PlacedRule {
  readonly rule: Rule;
  /** Whose rule it is; `options`: the program's own; `view`: that of a view. */
  readonly from: 'managed' | 'options' | 'flags' | 'environment' | 'user' | 'local' | 'project' | 'view';
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  /** Its place in the list of its file. */
  readonly position: number;
}
