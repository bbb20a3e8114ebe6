/** Adds and removes rules, with a preview and undo. */
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'jsonc-parser';
import { type ConfiguredRuntime, createRuntime, type Rule, TurnbuckleError } from 'turnbuckle';
import { editConfig, type PlacedRule, setKey } from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { nearestWord } from '../command-line/nearest-word.js';
import { rejectExtraPositionals, requirePositional } from '../command-line/positionals.js';
import { fileOfFlag, fileOfScope } from '../session/config-file.js';
import { showLine } from '../terminal/untrusted-text.js';
import { confirmChange } from '../undo/confirm-change.js';
import { readCurrentText, rememberChange, undoChange } from '../undo/undo.js';
import { callerWarnings, knownTokens, rejectOwner } from './rule-caller.js';
import { findOverlaps, positionFor, type RuleLocation, type RuleOverlaps } from './rule-order.js';
import { describeConditions, parseKind, ruleId, ruleLine } from './rule-text.js';

const UNDO_KEY = 'change of rules';

/** `rules allow|ask|deny <caller> [server] [tool]`. */
export async function addRule(
  context: CommandContext,
  { runtime, config }: ConfiguredRuntime,
): Promise<void> {
  const { output, flags } = context;
  rejectExtraPositionals(context, 4);
  const rule = await parseRule(context);
  const file = fileOfFlag(context, config()) ?? fileOfScope('user', config());
  const from = typeof flags.scope === 'string' ? (flags.scope as PlacedRule['from']) : 'user';
  if (from !== 'user' && rule.action === 'allow')
    throw new TurnbuckleError('ARGUMENTS_INVALID', 'A project rule can only ask or deny, not allow.', {
      hint: 'To write the rule to your user configuration, omit --scope.',
    });
  warnOfUnknownServer(context, rule, runtime.serverNames());
  const before = await readCurrentText(file);
  const written = rulesIn(before ?? '');
  const there = written.findIndex((one) => isSame(one, rule));
  if (there !== -1) {
    if (output.json) return output.data({ rule, file, changed: false });
    return output.note(`${file} already has this rule.`);
  }
  for (const doubt of callerWarnings(rule, knownTokens(context)))
    output.warn(`${output.color.yellow('warning')} ${doubt}`);
  const position = flags.first === true ? 0 : positionFor(rule, written);
  const place = { file, from, position };
  const neighbours = findOverlaps(rule, place, runtime.rules);
  warnOfOverlaps(context, { rule, place, neighbours, rules: runtime.rules });
  const change = (text: string): string => {
    const now = rulesIn(text);
    return setKey(text, ['rules'], now.toSpliced(Math.min(position, now.length), 0, rule));
  };
  const after = await writeRules(context, { file, before, change });
  if (after === undefined) return output.note('Nothing was written.');
  if (output.json) return output.data({ rule, file, position, changed: true, ...toJson(neighbours) });
  output.line(`Written to ${file}: ${rule.action} ${describe(rule)}`);
  printNextStep(context);
}

/** `rules remove <number or id>`, as `rules` lists them. */
export async function removeRule(context: CommandContext, { runtime }: ConfiguredRuntime): Promise<void> {
  const { output } = context;
  rejectExtraPositionals(context, 2);
  const word = requirePositional(context, 1, 'rule number');
  const index = runtime.rules.findIndex((placed, at) => String(at) === word || ruleId(placed) === word);
  const placed = runtime.rules[index];
  if (placed === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `Unknown rule ${showLine(word, 40)}.`, {
      hint: 'List the rules with their numbers: turnbuckle rules',
    });
  const { file, from, position, rule } = placed;
  if (file === undefined || from === 'managed')
    throw new TurnbuckleError(
      'CONFIG_INVALID',
      `Rule ${index} cannot be removed here because it comes from ${file ?? from}.`,
      {
        hint: 'Show where each rule is defined: turnbuckle rules',
      },
    );
  const before = await readCurrentText(file);
  const change = (text: string): string => {
    const now = rulesIn(text);
    const at = isSame(now[position], rule) ? position : now.findIndex((one) => isSame(one, rule));
    // An invalid rule is in the list as a guard that differs from its text in the file.
    const isGuard = now.length > position && placed.rule.reason === 'this rule is invalid';
    if (at === -1 && !isGuard) throw changedMeanwhile(file);
    return setKey(text, ['rules', at === -1 ? position : at], undefined);
  };
  const after = await writeRules(context, { file, before, change });
  if (after === undefined) return output.note('Nothing was written.');
  if (output.json) return output.data({ removed: rule, file });
  output.line(`Removed from ${file}: ${rule.action} ${describe(rule)}`);
  printNextStep(context);
}

export async function undoRules(context: CommandContext): Promise<void> {
  const { output } = context;
  const file = await undoChange(context, UNDO_KEY);
  if (output.json) return output.data({ undone: file });
  output.line(`${file} restored.`);
}

/** The new text; undefined when the user declined. */
async function writeRules(
  context: CommandContext,
  {
    file,
    before,
    change,
  }: {
    readonly file: string;
    readonly before: string | undefined;
    readonly change: (text: string) => string;
  },
): Promise<string | undefined> {
  const after = change(before ?? '');
  if (!(await confirmChange(context, { file, before, after }, []))) return undefined;
  if ((await readCurrentText(file)) !== before) throw changedMeanwhile(file);
  await editConfig(file, change);
  const now = (await readCurrentText(file)) ?? '';
  await rememberChange(context, UNDO_KEY, { file, before, after: now });
  return now;
}

/** What was typed as a rule; the same check that a runtime makes. */
async function parseRule(context: CommandContext): Promise<Rule> {
  const { positionals, flags } = context;
  const [action, , server, tool] = positionals;
  const command = { ...context.command, arguments: `${action} <caller> [server] [tool]` };
  const caller = requirePositional({ ...context, command }, 1, 'caller');
  const meant = [action ?? '', 'host', ...positionals.slice(2)].map(shellQuote).join(' ');
  rejectOwner(caller, `turnbuckle rules ${meant}`);
  const kind = parseKind(flags);
  const rule = {
    action: action as Rule['action'],
    caller,
    ...(server !== undefined && { server }),
    ...(tool !== undefined && { tool }),
    ...(kind !== undefined && { kind }),
    ...(typeof flags.reason === 'string' && { reason: flags.reason }),
  };
  const runtime = await createRuntime({ servers: {}, rules: [rule] });
  await runtime.close();
  return rule;
}

function warnOfUnknownServer({ output }: CommandContext, { server }: Rule, known: readonly string[]): void {
  if (typeof server !== 'string' || /[*?\\]/.test(server) || server === 'native' || known.includes(server))
    return;
  const close = nearestWord(server, known);
  const meant = close === undefined ? '' : ` Did you mean "${close}"?`;
  output.warn(
    `${output.color.yellow('warning')} No server named "${showLine(server, 60)}" is configured.${meant}`,
  );
}

const MAX_RULES_SHOWN = 3;

interface OverlapReport {
  readonly rule: Rule;
  readonly place: RuleLocation;
  readonly neighbours: RuleOverlaps;
  readonly rules: readonly PlacedRule[];
}

/** What other rules leave to it, and what it leaves to them: nothing about it goes without saying. */
function warnOfOverlaps(
  { output }: CommandContext,
  { rule, place, neighbours: { shadowedBy, before, after }, rules }: OverlapReport,
): void {
  const warning = output.color.yellow('warning');
  const lines = (found: readonly PlacedRule[]): void => {
    for (const one of found.slice(0, MAX_RULES_SHOWN))
      output.warn(`        ${ruleLine(one, rules.indexOf(one))}`);
    if (found.length > MAX_RULES_SHOWN) output.warn(`        and ${found.length - MAX_RULES_SHOWN} more`);
  };
  if (shadowedBy !== undefined) {
    const index = rules.indexOf(shadowedBy);
    output.warn(
      `${warning} This rule has no effect because an earlier rule decides every call that it matches:`,
    );
    output.warn(`        ${ruleLine(shadowedBy, index)}`);
    output.warn(
      `        Remove that rule (turnbuckle rules remove ${index}), or put the new rule first with --first.`,
    );
  }
  if (before.length > 0) {
    output.warn(`${warning} Earlier rules decide some of the calls that this rule matches:`);
    lines(before);
    if (before.some(({ file }) => file === place.file))
      output.warn('        To put the new rule first, use --first.');
  }
  if (rule.action === 'deny' || after.length === 0) return;
  output.warn(
    `${warning} This rule comes before these rules and decides ("${rule.action}") some of the calls that they match:`,
  );
  lines(after);
}

const toJson = ({ shadowedBy, before, after }: RuleOverlaps): Record<string, unknown> => ({
  decidedBy: shadowedBy ?? null,
  before,
  after,
});

function printNextStep({ output }: CommandContext): void {
  output.note(
    output.color.dim('A running daemon applies the change automatically. Undo: turnbuckle rules --undo'),
  );
}

const describe = (rule: Rule): string => showLine(describeConditions(rule), 200);

function rulesIn(text: string): readonly Rule[] {
  const root: unknown = parse(text.replace(/^\ufeff/, ''), [], { allowTrailingComma: true });
  const rules = typeof root === 'object' && root !== null && 'rules' in root ? root.rules : undefined;
  return Array.isArray(rules) ? rules : [];
}

function isSame(one: Rule | undefined, other: Rule): boolean {
  if (typeof one !== 'object' || one === null) return false;
  const { reason: _one, ...left } = one;
  const { reason: _other, ...right } = other;
  return isDeepStrictEqual(left, right);
}

const changedMeanwhile = (file: string): TurnbuckleError =>
  new TurnbuckleError('CONFIG_INVALID', `${file} changed in the meantime and was not overwritten.`, {
    hint: 'Run the command again to see the current diff.',
  });
