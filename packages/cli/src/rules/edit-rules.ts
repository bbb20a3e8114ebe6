/** Making and removing rules from the command line: shown before it is written, and taken back. */
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'jsonc-parser';
import {
  type ConfiguredRuntime,
  createRuntime,
  editConfig,
  type PlacedRule,
  type Rule,
  setKey,
  TurnbuckleError,
} from 'turnbuckle';
import type { CommandContext } from './command.js';
import { fileOfFlag, fileOfScope } from './config-file.js';
import { nearestWord } from './nearest-word.js';
import { confirmChange } from './preview.js';
import { doubtsAbout, knownTokens, refuseOwner } from './rule-caller.js';
import { type Neighbours, neighboursOf, placeFor, type RulePlace } from './rule-order.js';
import { conditionsOf, idOf, kindOf, ruleLine } from './rule-text.js';
import { shellWord } from './shell-word.js';
import { currentText, rememberChange, undoChange } from './undo.js';
import { showLine } from './untrusted-text.js';
import { needWord, refuseSurplus } from './words.js';

const CHANGE = 'change of rules';

/** `rules allow|ask|deny <caller> [server] [tool]`. */
export async function makeRule(
  context: CommandContext,
  { runtime, config }: ConfiguredRuntime,
): Promise<void> {
  const { output, flags } = context;
  refuseSurplus(context, 4);
  const rule = await readRule(context);
  const file = fileOfFlag(context, config()) ?? fileOfScope('user', config());
  const from = typeof flags.scope === 'string' ? (flags.scope as PlacedRule['from']) : 'user';
  if (from !== 'user' && rule.action === 'allow')
    throw new TurnbuckleError('ARGUMENTS_INVALID', "A project's rule may only ask or deny, not allow.", {
      hint: 'Leave --scope out: the rule goes into your own file.',
    });
  warnOfUnknownServer(context, rule, runtime.serverNames());
  const before = await currentText(file);
  const written = rulesIn(before ?? '');
  const there = written.findIndex((one) => isSame(one, rule));
  if (there !== -1) {
    if (output.json) return output.data({ rule, file, changed: false });
    return output.note(`That rule is in ${file} already.`);
  }
  for (const doubt of doubtsAbout(rule, knownTokens(context)))
    output.warn(`${output.color.yellow('warning')} ${doubt}`);
  const position = flags.first === true ? 0 : placeFor(rule, written);
  const place = { file, from, position };
  const neighbours = neighboursOf(rule, place, runtime.rules);
  tellNeighbours(context, { rule, place, neighbours, rules: runtime.rules });
  const change = (text: string): string => {
    const now = rulesIn(text);
    return setKey(text, ['rules'], now.toSpliced(Math.min(position, now.length), 0, rule));
  };
  const after = await write(context, { file, before, change });
  if (after === undefined) return output.note('Nothing was written.');
  if (output.json) return output.data({ rule, file, position, changed: true, ...toJson(neighbours) });
  output.line(`Written to ${file}: ${rule.action} ${describe(rule)}`);
  tellNext(context);
}

/** `rules remove <number or id>`, as `rules` lists them. */
export async function removeRule(context: CommandContext, { runtime }: ConfiguredRuntime): Promise<void> {
  const { output } = context;
  refuseSurplus(context, 2);
  const word = needWord(context, 1, 'number of the rule');
  const index = runtime.rules.findIndex((placed, at) => String(at) === word || idOf(placed) === word);
  const placed = runtime.rules[index];
  if (placed === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `There is no rule ${showLine(word, 40)}.`, {
      hint: 'turnbuckle rules lists them with their numbers.',
    });
  const { file, from, position, rule } = placed;
  if (file === undefined || from === 'managed')
    throw new TurnbuckleError(
      'CONFIG_INVALID',
      `Rule ${index} is not yours to remove: it comes from ${file ?? from}.`,
      {
        hint: 'turnbuckle rules shows where each of them stands.',
      },
    );
  const before = await currentText(file);
  const change = (text: string): string => {
    const now = rulesIn(text);
    const at = isSame(now[position], rule) ? position : now.findIndex((one) => isSame(one, rule));
    // What could not be understood stands in the list as a guard, and not as it is written.
    const isGuard = now.length > position && placed.rule.reason === 'this rule cannot be understood';
    if (at === -1 && !isGuard) throw changedMeanwhile(file);
    return setKey(text, ['rules', at === -1 ? position : at], undefined);
  };
  const after = await write(context, { file, before, change });
  if (after === undefined) return output.note('Nothing was written.');
  if (output.json) return output.data({ removed: rule, file });
  output.line(`Removed from ${file}: ${rule.action} ${describe(rule)}`);
  tellNext(context);
}

export async function undoRules(context: CommandContext): Promise<void> {
  const { output } = context;
  const file = await undoChange(context, CHANGE);
  if (output.json) return output.data({ undone: file });
  output.line(`${file} is as it was before.`);
}

/** The text that is there now; undefined when somebody was asked and did not agree. */
async function write(
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
  if ((await currentText(file)) !== before) throw changedMeanwhile(file);
  await editConfig(file, change);
  const now = (await currentText(file)) ?? '';
  await rememberChange(context, CHANGE, { file, before, after: now });
  return now;
}

/** What was typed as a rule; the same check that a runtime makes. */
async function readRule(context: CommandContext): Promise<Rule> {
  const { words, flags } = context;
  const [action, , server, tool] = words;
  const caller = needWord(context, 1, 'caller');
  const meant = [action ?? '', 'host', ...words.slice(2)].map(shellWord).join(' ');
  refuseOwner(caller, `turnbuckle rules ${meant}`);
  const kind = kindOf(flags);
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
    `${output.color.yellow('warning')} There is no server named "${showLine(server, 60)}" now.${meant}`,
  );
}

const MAX_SHOWN = 3;

interface Told {
  readonly rule: Rule;
  readonly place: RulePlace;
  readonly neighbours: Neighbours;
  readonly rules: readonly PlacedRule[];
}

/** What other rules leave to it, and what it leaves to them: nothing about it goes without saying. */
function tellNeighbours(
  { output }: CommandContext,
  { rule, place, neighbours: { instead, before, after }, rules }: Told,
): void {
  const warning = output.color.yellow('warning');
  const lines = (found: readonly PlacedRule[]): void => {
    for (const one of found.slice(0, MAX_SHOWN)) output.warn(`        ${ruleLine(one, rules.indexOf(one))}`);
    if (found.length > MAX_SHOWN) output.warn(`        and ${found.length - MAX_SHOWN} more`);
  };
  if (instead !== undefined) {
    const index = rules.indexOf(instead);
    output.warn(`${warning} It has no effect: another one comes first, ${ruleLine(instead, index)}`);
    output.warn(`        Remove that one, turnbuckle rules remove ${index}, or put yours first: --first`);
  }
  if (before.length > 0) {
    output.warn(`${warning} It does not hold for all of its calls: others come first for some of them,`);
    lines(before);
    if (before.some(({ file }) => file === place.file)) output.warn('        Put yours first: --first');
  }
  if (rule.action === 'deny' || after.length === 0) return;
  output.warn(`${warning} It comes before others and decides some of their calls now (${rule.action}),`);
  lines(after);
}

const toJson = ({ instead, before, after }: Neighbours): Record<string, unknown> => ({
  decidedBy: instead ?? null,
  before,
  after,
});

function tellNext({ output }: CommandContext): void {
  output.note(
    output.color.dim('Take it back: turnbuckle rules --undo. A daemon that runs takes it over by itself.'),
  );
}

const describe = (rule: Rule): string => showLine(conditionsOf(rule), 200);

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
  new TurnbuckleError('CONFIG_INVALID', `${file} was changed in the meantime; it is left as it is.`, {
    hint: 'Run it again to see the difference to what it is now.',
  });
