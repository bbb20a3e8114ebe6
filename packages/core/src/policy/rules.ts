/**
 * The rules in effect, compiled once: the first one that fits decides. An `allow` fits only what is surely
 * meant; an `ask` or `deny` also fits what may be meant. So a doubt always raises the guard.
 */
import type { PlacedRule, Rule, RuleScope } from '../config/rule-schema.js';
import { type ArgumentPath, everyAt, parseArgumentPath, someAt } from './argument-path.js';
import { strictTest, wideTest } from './argument-pattern.js';
import { compileGlob, type Glob, literalOf } from './glob.js';
import { fitsHints, type Hints, READING } from './hints.js';

export interface RuleSubject {
  readonly server: string;
  readonly tool: string;
  readonly kind: 'tool' | 'resource' | 'prompt';
  /** What it says about itself; `unknown` before its server was asked. */
  readonly hints: Hints | 'unknown' | undefined;
}

/** What is known of a call beside what it is about. */
export interface RuleContext {
  /** Undefined: the host itself. */
  readonly callerId: string | undefined;
  readonly trusted: boolean;
  readonly scope: RuleScope | undefined;
}

type Arguments = Readonly<Record<string, unknown>>;

/** A key of a rule that a call can fail to fit. */
export type RuleKey = Exclude<keyof Rule, 'action' | 'reason'>;

export interface CompiledRule {
  readonly placed: PlacedRule;
  /** Its place among the rules in effect. */
  readonly index: number;
  readonly action: Rule['action'];
  readonly server: Glob | undefined;
  readonly tool: Glob | undefined;
  readonly kinds: readonly string[] | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly caller: ((callerId: string | undefined) => boolean) | undefined;
  readonly arguments: ((args: Arguments) => boolean) | undefined;
  /** Of an `ask`: whether the arguments fit beyond doubt. */
  readonly surely: ((args: Arguments) => boolean) | undefined;
}

/** What the rules say about a call. */
export interface Found {
  readonly rule: CompiledRule | undefined;
  /** An `ask`: what is decided is at least this. */
  readonly least: CompiledRule | undefined;
}

/** The name by which rules mean the host itself. */
const HOST = 'host';
/** Names that are asked for again and again are few; more than this are somebody's guesses. */
const MOST_REMEMBERED = 5_000;
const MOST_NAME = 512;

/** The rules that fit a call but perhaps for its arguments, up to the first that needs no look at them. */
interface Fitting {
  readonly rules: readonly CompiledRule[];
  readonly hides: boolean;
  /** What it was found for. */
  readonly hints: RuleSubject['hints'];
  readonly trusted: boolean;
  readonly scope: RuleScope | undefined;
}

type ByTool = Map<string, Fitting>;

export class RuleSet {
  readonly size: number;
  readonly #exact = new Map<string, CompiledRule[]>();
  readonly #general: CompiledRule[] = [];
  /** By caller, server and tool: the same are asked for again and again. */
  readonly #known = new Map<string | undefined, Map<string, ByTool>>();
  #remembered = 0;

  constructor(rules: readonly PlacedRule[]) {
    this.size = rules.length;
    for (const rule of rules.map(compileRule)) {
      const names = listOf(rule.placed.rule.server)?.map(literalOf);
      if (names === undefined || names.includes(undefined)) this.#general.push(rule);
      else for (const name of new Set(names)) this.#push(name ?? '', rule);
    }
  }

  /**
   * The first rule that fits the call. An `ask` that fits only in doubt, or by what a stranger says of
   * itself, does not decide, for it could keep a later `deny` from doing so: it is the least that holds.
   */
  find(subject: RuleSubject, context: RuleContext, args: Arguments): Found {
    let least: CompiledRule | undefined;
    for (const rule of this.#fitting(subject, context).rules) {
      if (rule.arguments !== undefined && !rule.arguments(args)) continue;
      const isSure = rule.surely === undefined || rule.surely(args);
      if (isSure && !fitsByClaim(rule, subject, context)) return { rule, least };
      least ??= rule;
    }
    return { rule: undefined, least };
  }

  /**
   * Whether the rules deny it whatever its arguments are: then it need not be known to exist. What is not
   * known yet (the hints of a server that was not asked) leaves it open.
   */
  hides(subject: RuleSubject, context: RuleContext): boolean {
    return this.#fitting(subject, context).hides;
  }

  /** The rules for this server and tool, in their order. */
  candidates({ server, tool, kind }: RuleSubject): readonly CompiledRule[] {
    return merge(this.#exact.get(server) ?? [], this.#general).filter(
      (rule) =>
        rule.server?.(server) !== false &&
        rule.tool?.(tool) !== false &&
        rule.kinds?.includes(kind) !== false,
    );
  }

  #push(server: string, rule: CompiledRule): void {
    const rules = this.#exact.get(server);
    if (rules === undefined) this.#exact.set(server, [rule]);
    else rules.push(rule);
  }

  #fitting(subject: RuleSubject, context: RuleContext): Fitting {
    const { server, tool, kind, hints } = subject;
    const { callerId, trusted, scope } = context;
    const name = kind === 'tool' ? tool : `${kind} ${tool}`;
    const known = this.#known.get(callerId)?.get(server)?.get(name);
    if (known?.hints === hints && known?.trusted === trusted && known.scope === scope) return known;
    const candidates = this.candidates(subject);
    const fitting = {
      rules: upToFirstSure(candidates, subject, context),
      hides: isHidden(candidates, subject, context),
      hints,
      trusted,
      scope,
    };
    if (name.length <= MOST_NAME) this.#remember(fitting, { callerId, server, name });
    return fitting;
  }

  #remember(fitting: Fitting, at: { callerId: string | undefined; server: string; name: string }): void {
    if (this.#remembered >= MOST_REMEMBERED) {
      this.#known.clear();
      this.#remembered = 0;
    }
    this.#remembered += 1;
    const servers = this.#known.get(at.callerId) ?? new Map<string, ByTool>();
    const tools = servers.get(at.server) ?? new Map<string, Fitting>();
    this.#known.set(at.callerId, servers.set(at.server, tools.set(at.name, fitting)));
  }
}

function upToFirstSure(
  candidates: readonly CompiledRule[],
  subject: RuleSubject,
  context: RuleContext,
): readonly CompiledRule[] {
  const fitting: CompiledRule[] = [];
  for (const rule of candidates) {
    if (misfit(rule, subject, context) !== undefined) continue;
    fitting.push(rule);
    if (rule.arguments === undefined && !fitsByClaim(rule, subject, context)) break;
  }
  return fitting;
}

function isHidden(candidates: readonly CompiledRule[], subject: RuleSubject, context: RuleContext): boolean {
  for (const rule of candidates) {
    const isUnsure = rule.placed.rule.annotations !== undefined && subject.hints === 'unknown';
    const key = misfit(rule, subject, context);
    if (key !== undefined && !(isUnsure && key === 'annotations')) continue;
    if (fitsByClaim(rule, subject, context)) continue;
    if (rule.arguments === undefined && !isUnsure) return rule.action === 'deny';
    if (rule.action !== 'deny') return false;
  }
  return false;
}

/** The first key that a call does not fit, its arguments aside; undefined when it fits all of them. */
export function misfit(
  { placed: { rule }, caller, scopes, action }: CompiledRule,
  { hints, kind }: RuleSubject,
  { callerId, trusted, scope }: RuleContext,
): RuleKey | undefined {
  if (caller?.(callerId) === false) return 'caller';
  if (rule.trusted !== undefined && rule.trusted !== trusted) return 'trusted';
  if (scopes !== undefined && (scope === undefined || !scopes.includes(scope))) return 'scope';
  if (rule.annotations === undefined) return undefined;
  const test =
    kind === 'tool'
      ? { hints: hints === 'unknown' ? undefined : hints, believed: trusted, allows: action === 'allow' }
      : { hints: READING, believed: true, allows: action === 'allow' };
  return fitsHints(rule.annotations, test) ? undefined : 'annotations';
}

/** An `ask` that would not fit if its tool had said nothing about itself, of a server that is not believed. */
function fitsByClaim(
  { placed: { rule }, action }: CompiledRule,
  { kind }: RuleSubject,
  { trusted }: RuleContext,
): boolean {
  if (action !== 'ask' || rule.annotations === undefined || trusted || kind !== 'tool') return false;
  return !fitsHints(rule.annotations, { hints: undefined, believed: false, allows: false });
}

function compileRule(placed: PlacedRule, index: number): CompiledRule {
  const { rule } = placed;
  return {
    placed,
    index,
    action: rule.action,
    server: anyGlob(rule.server),
    tool: anyGlob(rule.tool),
    kinds: listOf(rule.kind),
    scopes: listOf(rule.scope),
    caller: callerTest(rule),
    arguments: argumentsTest(rule, { strict: rule.action === 'allow' }),
    surely: rule.action === 'ask' ? argumentsTest(rule, { strict: true }) : undefined,
  };
}

/** In names one `*` stands for everything: a guard for all tools must not miss one with a slash in its name. */
function anyGlob(patterns: string | readonly string[] | undefined): Glob | undefined {
  const globs = listOf(patterns)?.map((pattern) => compileGlob(pattern, { crossSlashes: true }));
  if (globs === undefined) return undefined;
  const [only] = globs;
  return globs.length === 1 && only !== undefined ? only : (text) => globs.some((glob) => glob(text));
}

function callerTest({ caller, action }: Rule): CompiledRule['caller'] {
  const fits = anyGlob(caller);
  if (fits === undefined) return undefined;
  const isHost = fits(HOST);
  return (callerId) => {
    if (callerId === undefined) return isHost;
    // An agent that took the host's name gets nothing by it.
    return fits(callerId) && !(callerId === HOST && action === 'allow');
  };
}

function argumentsTest(
  { arguments: patterns }: Rule,
  { strict }: { readonly strict: boolean },
): CompiledRule['arguments'] {
  if (patterns === undefined) return undefined;
  const tests = Object.entries(patterns).map(([path, pattern]): ((args: Arguments) => boolean) => {
    const steps: ArgumentPath = parseArgumentPath(path);
    const test = strict ? strictTest(pattern) : wideTest(pattern);
    const [key] = steps;
    // Most paths are one key: there are many rules, and a call waits for all of them.
    if (steps.length === 1 && typeof key === 'string')
      return (args) => Object.hasOwn(args, key) && args[key] !== undefined && test(args[key]);
    return strict ? (args) => everyAt(args, steps, test) : (args) => someAt(args, steps, test);
  });
  const [only] = tests;
  return tests.length === 1 && only !== undefined ? only : (args) => tests.every((test) => test(args));
}

function listOf(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value;
}

function merge(left: readonly CompiledRule[], right: readonly CompiledRule[]): CompiledRule[] {
  return [...left, ...right].sort((one, other) => one.index - other.index);
}
