/** Which packages may be installed at all: rules of the user. Without a rule that matches, nothing is. Pure. */
import { ALLOW_RULE_SCHEMA, compileGlob, escapeGlob, escapeHidden } from 'turnbuckle/host';
import * as z from 'zod/mini';
import { type InstallRefusal, refuse } from './refusal.js';

export type InstallKind = 'npm' | 'pypi' | 'oci' | 'mcpb' | 'nuget' | 'remote';

const httpsOrigin = z.url({ protocol: /^https?$/ });

/** The settings of installing. */
export const INSTALL_SETTINGS_SCHEMA = z.strictObject({
  allow: z._default(z.array(ALLOW_RULE_SCHEMA), []),
  /** Younger versions of packages and their dependencies are not installed. */
  minAgeDays: z._default(z.number().check(z.gte(0), z.lte(3_650)), 7),
  registries: z.optional(
    z.strictObject({
      /** Instead of that of the machine's npm configuration. */
      npm: z.optional(httpsOrigin),
      /** The origins that bundles (mcpb) are downloaded from. */
      mcpb: z.optional(z.array(httpsOrigin).check(z.maxLength(100))),
    }),
  ),
});

export type InstallSettings = z.output<typeof INSTALL_SETTINGS_SCHEMA>;
export type AllowRule = z.output<typeof ALLOW_RULE_SCHEMA>;

/** What is about to be installed. */
export interface AllowSubject {
  readonly type: InstallKind;
  /** The name of the package, or the address of a bundle or remote server. */
  readonly name: string;
  readonly namespace: string;
  /** Whether the registry has verified who owns the namespace. */
  readonly verified: boolean;
}

/** Undefined if a rule allows it. */
export function checkAllowed(rules: readonly AllowRule[], subject: AllowSubject): InstallRefusal | undefined {
  if (rules.some((one) => matches(one, subject))) return undefined;
  const { type, name } = subject;
  return refuse(
    `${type === 'remote' ? 'The remote server' : `The ${type} package`} ${name} is not allowed.`,
    `To allow it, add this rule to the list "steward.allow" in your mcp.json: ${ruleText(type, name)}`,
  );
}

/** As JSON of a config file, laid out as people write it. */
const ruleText = (type: InstallKind, name: string): string =>
  escapeHidden(`{ "type": ${JSON.stringify(type)}, "name": ${JSON.stringify(escapeGlob(name))} }`);

function matches({ type, scope, name, namespace }: AllowRule, subject: AllowSubject): boolean {
  return (
    (type === undefined || type === subject.type) &&
    (scope === undefined || (subject.type === 'npm' && subject.name.startsWith(`${scope}/`))) &&
    (name === undefined || matchesPattern(name, subject.name)) &&
    // Anybody can write a namespace into a record.
    (namespace === undefined || (subject.verified && matchesPattern(namespace, subject.namespace)))
  );
}

const matchesPattern = (text: string, value: string): boolean =>
  compileGlob(text, { crossSlashes: false })(value);
