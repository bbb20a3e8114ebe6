/** The schema of a rule. policy/rules.ts describes the meaning of its keys, and why some mean less in an `allow`. */
import * as z from 'zod/mini';
import { list, withMaxEntries } from './max-entries.js';

const text = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));
const oneOrMore = <Item extends z.ZodMiniType>(item: Item) =>
  z.union([item, withMaxEntries(100, z.array(item).check(z.minLength(1), z.maxLength(100)))]);
const globs = oneOrMore(text(256));
const scalar = z.union([z.string().check(z.maxLength(4_096)), z.number(), z.boolean(), z.null()]);
const number = z.number();

/** A string is a glob; objects name the comparison. */
const pattern = z.union([
  text(1_024),
  z.strictObject({ glob: text(1_024) }),
  z.strictObject({ equals: scalar }),
  z.strictObject({ oneOf: withMaxEntries(1_000, z.array(scalar).check(z.minLength(1), z.maxLength(1_000))) }),
  z.strictObject({ startsWith: text(1_024) }),
  z.strictObject({ greaterThan: number, lessThan: z.optional(number) }),
  z.strictObject({ lessThan: number, greaterThan: z.optional(number) }),
]);

/** The path of an argument: `path`, `options.mode`, `files[*].name`, `files[0]`, `["a key.with dots"]`. */
const ARGUMENT_PATH =
  /^(?:[^.[\]"]+|\["(?:[^"\\]|\\.)*"\])(?:\.[^.[\]"]+|\[(?:\*|\d{1,6}|"(?:[^"\\]|\\.)*")\])*$/;

const KINDS = ['tool', 'resource', 'prompt'] as const;
const SCOPES = ['user', 'project', 'local', 'managed', 'claudeai', 'native'] as const;
/** catalog/flags.ts describes the flags. */
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
  /** Server names: globs. */
  server: z.optional(globs),
  /** Names of tools and prompts, URIs of resources: globs. */
  tool: z.optional(globs),
  kind: z.optional(oneOrMore(z.enum(KINDS))),
  /** Caller ids: globs. "host" is the host itself, "agents" everyone else. */
  caller: z.optional(globs),
  /** The value of the server's `trusted`. */
  trusted: z.optional(z.boolean()),
  /** The scope of the server. */
  scope: z.optional(oneOrMore(z.enum(SCOPES))),
  /** The annotations of the tool. */
  annotations: z.optional(
    z.strictObject({
      readOnly: z.optional(z.boolean()),
      destructive: z.optional(z.boolean()),
      idempotent: z.optional(z.boolean()),
      openWorld: z.optional(z.boolean()),
    }),
  ),
  /** Flags of the tool's texts: one match is enough. Not in an `allow`. */
  flags: z.optional(oneOrMore(z.enum(FLAGS))),
  /** Patterns by argument path. */
  arguments: z.optional(
    withMaxEntries(1_000, z.record(z.string().check(z.maxLength(512), z.regex(ARGUMENT_PATH)), pattern)),
  ),
  /** The arguments contain a known or suspected secret. */
  secrets: z.optional(z.literal(true)),
  /** The reason shown with the decision. */
  reason: z.optional(text(500)),
});

/** Maximum number of rules per file. */
export const MAX_RULES = 2_000;

export const RULES_SCHEMA = list(RULE_SCHEMA, MAX_RULES);

/** Which tools require approval when their definition changes. */
export const PINS_SCHEMA = z.enum(['off', 'approved', 'all']);

/** What to do with a call that could leak private data of a run. */
export const FLOWS_SCHEMA = z.enum(['off', 'ask', 'deny']);

/** One rule, as it is written. */
export type Rule = z.output<typeof RULE_SCHEMA>;
export type ArgumentPattern = z.output<typeof pattern>;
export type RuleScope = (typeof SCOPES)[number];
export type RuleFlag = (typeof FLAGS)[number];
export type PinMode = z.output<typeof PINS_SCHEMA>;
export type FlowMode = z.output<typeof FLOWS_SCHEMA>;

/** A rule and its location. */
export interface PlacedRule {
  readonly rule: Rule;
  /** The source of the rule; `options`: the program; `view`: a view. */
  readonly from: 'managed' | 'options' | 'flags' | 'environment' | 'user' | 'local' | 'project' | 'view';
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  /** Its index in its file. */
  readonly position: number;
}
