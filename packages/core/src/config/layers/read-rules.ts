/**
 * The rules of one file. Each is read on its own. One that cannot be understood is a problem; unless it
 * wanted to allow something it is not just left out, for it may have been a guard: until it is corrected, it
 * asks for everything, and an administrator's denies everything.
 */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { MAX_FAULTS } from './document.js';
import { describeIssue, unknownKey, unknownKeyIn } from './issue-text.js';
import { MOST_RULES, type PlacedRule, RULE_SCHEMA, type Rule } from './rule-schema.js';

export interface RuleFault {
  /** The keys that lead to it, below the file. */
  readonly keys: readonly PropertyKey[];
  readonly text: string;
}

export interface RulesPlace {
  readonly from: PlacedRule['from'];
  readonly file?: string | undefined;
  readonly lineOf: (keys: readonly PropertyKey[]) => number | undefined;
  /** Whether so many faults are enough: of the next only that they are there. */
  readonly isEnough?: ((faults: number) => boolean) | undefined;
}

/** Never throws: what is wrong is in `faults`. */
export function readRules(
  item: unknown,
  { from, file, lineOf, isEnough = () => false }: RulesPlace,
): { readonly rules: readonly PlacedRule[]; readonly faults: readonly RuleFault[] } {
  const faults: RuleFault[] = [];
  const placed = (rule: Rule, position: number): PlacedRule => ({
    rule,
    from,
    file,
    line: lineOf(position < 0 ? ['rules'] : ['rules', position]),
    position,
  });
  const guard = (position: number): PlacedRule =>
    placed(
      { action: from === 'managed' ? 'deny' : 'ask', reason: 'this rule cannot be understood' },
      position,
    );
  if (!Array.isArray(item) || item.length > MOST_RULES) {
    const text = Array.isArray(item) ? `more than ${MOST_RULES} rules` : 'expected a list of rules';
    return { rules: [guard(-1)], faults: [{ keys: ['rules'], text: `${text}${inForce(from)}` }] };
  }
  const rules = item.flatMap((entry: unknown, position): PlacedRule[] => {
    const found = faultsOf(entry, isEnough(faults.length));
    const isAllow = isRecord(entry) && entry.action === 'allow';
    if (Array.isArray(found)) {
      const effect = isAllow && from !== 'options' ? LEFT_OUT : inForce(from);
      for (const { keys, text } of found)
        faults.push({ keys: ['rules', position, ...keys], text: `${text}${effect}` });
      return isAllow ? [] : [guard(position)];
    }
    if (isAllow && (from === 'project' || from === 'local')) {
      faults.push({
        keys: ['rules', position, 'action'],
        text: `a project's rule may only ask or deny, not allow${LEFT_OUT}`,
      });
      return [];
    }
    if (isAllow && found.flags !== undefined) {
      faults.push({
        keys: ['rules', position, 'flags'],
        text: `a flag is a reason to ask or deny, not to allow${LEFT_OUT}`,
      });
      return [];
    }
    return [placed(found, position)];
  });
  return { rules, faults };
}

/** The rules that a program gives itself. Throws CONFIG_INVALID. */
export function parseRules(input: readonly unknown[]): readonly PlacedRule[] {
  const { rules, faults } = readRules(input, { from: 'options', lineOf: () => undefined });
  const [fault] = faults;
  if (fault === undefined) return rules;
  const path = fault.keys.reduce<string>(
    (before, key) => before + (typeof key === 'number' ? `[${key}]` : `.${String(key)}`),
    '',
  );
  throw new TurnbuckleError('CONFIG_INVALID', `The rules cannot be used: ${path.slice(1)}: ${fault.text}.`, {
    hint: 'docs/permissions.md says what a rule may hold.',
    data: { problems: faults },
  });
}

const LEFT_OUT = ' (this rule is left out)';

/** What holds in the place of a rule that may have been a guard, for whoever wonders why everything needs approval. */
export const inForce = (from: PlacedRule['from']): string => {
  if (from === 'options') return '';
  const what = from === 'managed' ? 'is denied' : 'needs approval, yours too';
  return ` (until it is corrected, every call that reaches it ${what})`;
};

const KEYS = Object.keys(RULE_SCHEMA.shape);

/** The rule, or everything that is wrong with it. */
function faultsOf(entry: unknown, isBrief: boolean): Rule | RuleFault[] {
  const parsed = RULE_SCHEMA.safeParse(entry, { error: describeIssue });
  if (parsed.success) return parsed.data;
  if (isBrief) return [{ keys: [], text: 'cannot be understood' }];
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
    return 'expected a glob, or one of glob, equals, oneOf, startsWith, greaterThan, lessThan';
  if (isPattern && code === 'invalid_key')
    return 'this is no path of an argument: write it like path, options.mode or files[*].name';
  return message;
}
