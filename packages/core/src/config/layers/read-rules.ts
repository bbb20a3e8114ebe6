/**
 * Reads the rules of one file, one by one. An invalid rule is a problem. Unless it is an `allow`, it is not ignored,
 * because it may be a guard: until it is corrected it asks for every call, and an administrator's rule denies every
 * call.
 */
import { TurnbuckleError } from '../../errors.js';
import { isRecord } from '../../json/is-record.js';
import { describeIssue, unknownKey, unknownKeyIn } from '../schema/issue-text.js';
import { MAX_RULES, type PlacedRule, RULE_SCHEMA, type Rule } from '../schema/rule-schema.js';
import { MAX_FAULTS } from './document.js';

export interface RuleFault {
  /** Its path in the file. */
  readonly keys: readonly PropertyKey[];
  readonly text: string;
  /** It affects calls beyond its own rule. */
  readonly isFarReaching?: boolean;
}

export interface RulesSource {
  /** The key of the rules as it is written. */
  readonly key?: string | undefined;
  readonly from: PlacedRule['from'];
  readonly file?: string | undefined;
  readonly lineOf: (keys: readonly PropertyKey[]) => number | undefined;
  /** Whether enough faults are reported: further ones are only counted. */
  readonly isEnough?: ((faults: number) => boolean) | undefined;
}

/** Never throws: errors are in `faults`. */
export function readRules(
  item: unknown,
  { key = 'rules', from, file, lineOf, isEnough = () => false }: RulesSource,
): { readonly rules: readonly PlacedRule[]; readonly faults: readonly RuleFault[] } {
  const faults: RuleFault[] = [];
  const placed = (rule: Rule, position: number): PlacedRule => ({
    rule,
    from,
    file,
    line: lineOf(position < 0 ? [key] : [key, position]),
    position,
  });
  const guard = (position: number): PlacedRule =>
    placed({ action: from === 'managed' ? 'deny' : 'ask', reason: 'this rule is invalid' }, position);
  if (!Array.isArray(item) || item.length > MAX_RULES) {
    const text = Array.isArray(item) ? `more than ${MAX_RULES} rules` : 'expected a list of rules';
    return {
      rules: [guard(-1)],
      faults: [{ keys: [key], text: `${text}${describeFallback(from)}`, isFarReaching: true }],
    };
  }
  const rules = item.flatMap((entry: unknown, position): PlacedRule[] => {
    const found = parseRule(entry, isEnough(faults.length));
    const isAllow = isRecord(entry) && entry.action === 'allow';
    if (Array.isArray(found)) {
      const effect = isAllow && from !== 'options' ? LEFT_OUT : describeFallback(from);
      for (const { keys, text } of found)
        faults.push({
          keys: [key, position, ...keys],
          text: `${text}${effect}`,
          isFarReaching: effect !== LEFT_OUT,
        });
      return isAllow ? [] : [guard(position)];
    }
    if (isAllow && (from === 'project' || from === 'local')) {
      faults.push({
        keys: ['rules', position, 'action'],
        text: `a project rule can only ask or deny, not allow${LEFT_OUT}`,
      });
      return [];
    }
    if (isAllow && found.flags !== undefined) {
      faults.push({
        keys: ['rules', position, 'flags'],
        text: `a rule with flags can only ask or deny, not allow${LEFT_OUT}`,
      });
      return [];
    }
    return [placed(found, position)];
  });
  return { rules, faults };
}

/** The rules of a program. Throws CONFIG_INVALID. */
export function parseRules(input: readonly unknown[]): readonly PlacedRule[] {
  const { rules, faults } = readRules(input, { from: 'options', lineOf: () => undefined });
  const [fault] = faults;
  if (fault === undefined) return rules;
  const path = fault.keys.reduce<string>(
    (before, key) => before + (typeof key === 'number' ? `[${key}]` : `.${String(key)}`),
    '',
  );
  throw new TurnbuckleError('CONFIG_INVALID', `Invalid rules: ${path.slice(1)}: ${fault.text}.`, {
    hint: 'See docs/permissions.md for the format of rules.',
    data: { problems: faults },
  });
}

const LEFT_OUT = ' (this rule is ignored)';

/** Describes the replacement of an invalid rule, so that the user knows why calls require approval. */
export const describeFallback = (from: PlacedRule['from']): string => {
  if (from === 'options') return '';
  const what = from === 'managed' ? ' is denied' : ' requires approval, including your own';
  return ` (until you fix this error, every call that no earlier rule matches${what})`;
};

const KEYS = Object.keys(RULE_SCHEMA.shape);

/** The rule, or all of its errors. */
function parseRule(entry: unknown, isBrief: boolean): Rule | RuleFault[] {
  const parsed = RULE_SCHEMA.safeParse(entry, { error: describeIssue });
  if (parsed.success) return parsed.data;
  if (isBrief) return [{ keys: [], text: 'invalid rule' }];
  return parsed.error.issues.slice(0, MAX_FAULTS).flatMap((issue): RuleFault[] => {
    if (issue.code === 'unrecognized_keys')
      return issue.keys.slice(0, MAX_FAULTS).map((key, index) => ({
        keys: [...issue.path, key],
        text: issue.path.length === 0 ? unknownKey(key, KEYS) : unknownKeyIn(issue.message, index, key),
      }));
    return [{ keys: issue.path, text: textOf(issue) }];
  });
}

function textOf({ code, path, message }: { code?: string; path: PropertyKey[]; message: string }): string {
  const isPattern = path[0] === 'arguments' && path.length === 2;
  if (isPattern && code === 'invalid_union')
    return 'expected a glob, or an object with "glob", "equals", "oneOf", "startsWith", "greaterThan" or "lessThan"';
  if (isPattern && code === 'invalid_key')
    return 'expected an argument path such as "path", "options.mode" or "files[*].name"';
  return message;
}
