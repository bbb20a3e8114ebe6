/**
 * The rules in effect, compiled once: the first one that fits decides. An `allow` fits only what is surely
 * meant; an `ask` or `deny` also fits what may be meant. So a doubt always raises the guard.
 */
import type { PlacedRule, Rule, RuleFlag, RuleScope } from '../config/rule-schema.js';
import { wideAddressGlob } from './address.js';
import { type ArgumentPath, everyAt, parseArgumentPath, someAt } from './argument-path.js';
import { isTricky, strictTest, wideTest } from './argument-pattern.js';
import { DecisionWork } from './decision-work.js';
import { compileGlob, type Glob, literalOf } from './glob.js';
import { fitsHints, type Hints, READING } from './hints.js';

export interface RuleSubject {
  readonly server: string;
  readonly tool: string;
  readonly kind: 'tool' | 'resource' | 'prompt';
  /** What it says about itself; `unknown` before its server was asked. */
  readonly hints: Hints | 'unknown' | undefined;
  /** What is odd about its texts: looked for only when it matters. The same list as long as it is the same. */
  readonly flags?: (() => readonly RuleFlag[]) | undefined;
}

/** What a call sends, as far as its caller has a say in it. */
export interface Sent {
  readonly arguments?: Arguments | undefined;
  /** What else goes to the server with them. */
  readonly beside?: readonly unknown[] | undefined;
}

/** Looks for secrets in all that is sent. */
export interface SecretSearch {
  /** One that is known by its value. */
  readonly knows: (sent: Sent) => boolean;
  /** Also what only looks like one. */
  readonly finds: (sent: Sent) => boolean;
}

/** What is known of a call beside what it is about. */
export interface RuleContext {
  /** Undefined: the host itself. */
  readonly callerId: string | undefined;
  readonly trusted: boolean;
  readonly scope: RuleScope | undefined;
}

type Arguments = Readonly<Record<string, unknown>>;
type ArgumentsTest = (args: Arguments, work: DecisionWork) => boolean;
type SentTest = (sent: Sent, work: DecisionWork) => boolean;

/** A key of a rule that a call can fail to fit. */
export type RuleKey = Exclude<keyof Rule, 'action' | 'reason'>;

export interface CompiledRule {
  readonly placed: PlacedRule;
  /** Its place among the rules in effect. */
  readonly index: number;
  readonly action: Rule['action'];
  readonly server: Glob | undefined;
  readonly tool: Glob | undefined;
  /** The same for addresses of resources, which can be written in many ways. */
  readonly address: Glob | undefined;
  readonly kinds: readonly string[] | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly caller: ((callerId: string | undefined) => boolean) | undefined;
  readonly flags: readonly string[] | undefined;
  /** What it says about the arguments, and about secrets in them and beside them. */
  readonly sent: SentTest | undefined;
  /** Of an `ask`: whether what is sent fits beyond doubt. */
  readonly surely: SentTest | undefined;
}

/** What the rules say about a call. */
export interface Found {
  readonly rule: CompiledRule | undefined;
  /** An `ask`: what is decided is at least this. */
  readonly least: CompiledRule | undefined;
}

/** The name by which rules mean the host itself. */
const HOST = 'host';
/** The word by which rules mean everybody but the host; no pattern for names can say that. */
const AGENTS = 'agents';
/** Names that are asked for again and again are few; more than this are somebody's guesses. */
const MOST_REMEMBERED = 5_000;
const MOST_NAME = 512;

/** The rules that fit a call but perhaps for its arguments, up to the first that needs no look at them. */
interface Fitting {
  readonly rules: readonly CompiledRule[];
  readonly hides: boolean;
  /** What it was found for. */
  readonly hints: RuleSubject['hints'];
  readonly flags: readonly RuleFlag[] | undefined;
  readonly trusted: boolean;
  readonly scope: RuleScope | undefined;
}

type ByTool = Map<string, Fitting>;
type ByCaller = Map<string | undefined, Map<string, ByTool>>;

export class RuleSet {
  readonly size: number;
  readonly #exact = new Map<string, CompiledRule[]>();
  readonly #general: CompiledRule[] = [];
  /** By kind, caller, server and name, each for itself: a name is anything, also what two others are put together. */
  readonly #known: Readonly<Record<RuleSubject['kind'], ByCaller>> = {
    tool: new Map(),
    resource: new Map(),
    prompt: new Map(),
  };
  readonly #wantsFlags: boolean;
  readonly #looksAtTools: boolean;
  #remembered = 0;

  constructor(rules: readonly PlacedRule[], secrets: SecretSearch) {
    this.size = rules.length;
    this.#wantsFlags = rules.some(({ rule }) => rule.flags !== undefined);
    this.#looksAtTools = this.#wantsFlags || rules.some(({ rule }) => rule.annotations !== undefined);
    for (const rule of rules.map((placed, index) => compileRule(placed, index, secrets))) {
      const names = listOf(rule.placed.rule.server)?.map(literalOf);
      if (names === undefined || names.includes(undefined)) this.#general.push(rule);
      else for (const name of new Set(names)) this.#push(name ?? '', rule);
    }
  }

  /**
   * The first rule that fits the call. An `ask` that fits only in doubt, or by what a stranger says of
   * itself, does not decide, for it could keep a later `deny` from doing so: it is the least that holds.
   */
  find(subject: RuleSubject & Sent, context: RuleContext): Found {
    const work = new DecisionWork();
    const sent = withName(subject);
    let least: CompiledRule | undefined;
    for (const rule of this.#fitting(subject, context).rules) {
      if (rule.sent !== undefined && !rule.sent(sent, work)) continue;
      const isSure = rule.surely === undefined || rule.surely(sent, work);
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

  /** Whether they would hide it if it were, or had been, what is not known now. */
  couldHide(subject: RuleSubject, context: RuleContext): boolean {
    return this.#looksAtTools && isHidden(this.candidates(subject), subject, { ...context, inDoubt: true });
  }

  /** The rules for this server and tool, in their order. */
  candidates({ server, tool, kind }: RuleSubject): readonly CompiledRule[] {
    return merge(this.#exact.get(server) ?? [], this.#general).filter(
      (rule) =>
        rule.server?.(server) !== false &&
        (kind === 'resource' ? rule.address : rule.tool)?.(tool) !== false &&
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
    const flags = this.#wantsFlags ? subject.flags?.() : undefined;
    const known = this.#known[kind].get(callerId)?.get(server)?.get(tool);
    const isSame = known?.hints === hints && known?.flags === flags;
    if (isSame && known?.trusted === trusted && known.scope === scope) return known;
    const candidates = this.candidates(subject);
    const fitting = {
      rules: upToFirstSure(candidates, subject, context),
      hides: isHidden(candidates, subject, context),
      hints,
      flags,
      trusted,
      scope,
    };
    if (tool.length <= MOST_NAME) this.#remember(fitting, subject, callerId);
    return fitting;
  }

  #remember(fitting: Fitting, { kind, server, tool }: RuleSubject, callerId: string | undefined): void {
    if (this.#remembered >= MOST_REMEMBERED) {
      for (const callers of Object.values(this.#known)) callers.clear();
      this.#remembered = 0;
    }
    this.#remembered += 1;
    const callers = this.#known[kind];
    const servers = callers.get(callerId) ?? new Map<string, ByTool>();
    const tools = servers.get(server) ?? new Map<string, Fitting>();
    callers.set(callerId, servers.set(server, tools.set(tool, fitting)));
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
    if (rule.sent === undefined && !fitsByClaim(rule, subject, context)) break;
  }
  return fitting;
}

/** With `inDoubt`, what is not known is taken for what hides it. */
function isHidden(
  candidates: readonly CompiledRule[],
  subject: RuleSubject,
  { inDoubt = false, ...context }: RuleContext & { readonly inDoubt?: boolean },
): boolean {
  for (const rule of candidates) {
    const isUnsure = looksAtTool(rule) && subject.hints === 'unknown';
    const key = misfit(rule, subject, context);
    if (key !== undefined && !(isUnsure && (key === 'annotations' || key === 'flags'))) continue;
    if (fitsByClaim(rule, subject, context)) continue;
    if (isUnsure && inDoubt) {
      if (rule.action === 'deny' && rule.sent === undefined) return true;
      continue;
    }
    if (rule.sent === undefined && !isUnsure) return rule.action === 'deny';
    if (rule.action !== 'deny') return false;
  }
  return false;
}

/** The first key that a call does not fit, its arguments aside; undefined when it fits all of them. */
export function misfit(
  { placed: { rule }, caller, scopes, flags, action }: CompiledRule,
  subject: RuleSubject,
  { callerId, trusted, scope }: RuleContext,
): RuleKey | undefined {
  if (caller?.(callerId) === false) return 'caller';
  if (rule.trusted !== undefined && rule.trusted !== trusted) return 'trusted';
  if (scopes !== undefined && (scope === undefined || !scopes.includes(scope))) return 'scope';
  if (rule.annotations !== undefined) {
    const { hints } = subject;
    const test =
      subject.kind === 'tool'
        ? { hints: hints === 'unknown' ? undefined : hints, believed: trusted, allows: action === 'allow' }
        : { hints: READING, believed: true, allows: action === 'allow' };
    if (!fitsHints(rule.annotations, test)) return 'annotations';
  }
  if (flags === undefined) return undefined;
  const isFlagged =
    subject.kind === 'tool' && subject.flags?.().some((flag) => flags.includes(flag)) === true;
  return isFlagged ? undefined : 'flags';
}

/** Whether it says something about the tool that is not known before its server was asked. */
export const looksAtTool = ({ placed: { rule } }: CompiledRule): boolean =>
  rule.annotations !== undefined || rule.flags !== undefined;

/** An `ask` that would not fit if its tool had said nothing: by its texts, or by a claim that is not believed. */
function fitsByClaim(
  { placed: { rule }, action }: CompiledRule,
  { kind }: RuleSubject,
  { trusted }: RuleContext,
): boolean {
  if (action !== 'ask' || kind !== 'tool') return false;
  if (rule.flags !== undefined) return true;
  if (rule.annotations === undefined || trusted) return false;
  return !fitsHints(rule.annotations, { hints: undefined, believed: false, allows: false });
}

function compileRule(placed: PlacedRule, index: number, { knows, finds }: SecretSearch): CompiledRule {
  const { rule } = placed;
  const isAbout = rule.secrets === true;
  return {
    placed,
    index,
    action: rule.action,
    server: anyGlob(rule.server),
    tool: anyGlob(rule.tool),
    address: addressTest(rule),
    kinds: listOf(rule.kind),
    scopes: listOf(rule.scope),
    caller: callerTest(rule),
    flags: listOf(rule.flags),
    sent: both(argumentsTest(rule, { strict: rule.action === 'allow' }), isAbout ? finds : undefined),
    surely:
      rule.action === 'ask'
        ? both(argumentsTest(rule, { strict: true }), isAbout ? knows : undefined)
        : undefined,
  };
}

/** In names one `*` stands for everything: a guard for all tools must not miss one with a slash in its name. */
function anyGlob(patterns: string | readonly string[] | undefined): Glob | undefined {
  const globs = listOf(patterns)?.map((pattern) => compileGlob(pattern, { crossSlashes: true }));
  if (globs === undefined) return undefined;
  const [only] = globs;
  return globs.length === 1 && only !== undefined ? only : (text) => globs.some((glob) => glob(text));
}

/** A guard takes what may be meant; an `allow` only what is written, where it can mean nothing else. */
function addressTest({ tool, action }: Rule): Glob | undefined {
  const patterns = listOf(tool);
  if (patterns === undefined) return undefined;
  const globs = patterns.map((pattern): Glob => {
    if (action !== 'allow') return wideAddressGlob(pattern);
    const fits = compileGlob(pattern, { crossSlashes: true });
    return literalOf(pattern) === undefined ? (address) => fits(address) && !isTricky(address) : fits;
  });
  return (address) => globs.some((glob) => glob(address));
}

function callerTest({ caller, action }: Rule): CompiledRule['caller'] {
  const fits = anyGlob(caller);
  if (fits === undefined) return undefined;
  const isHost = fits(HOST);
  const isForAgents = listOf(caller)?.includes(AGENTS) === true;
  return (callerId) => {
    if (callerId === undefined) return isHost;
    // An agent that took the host's name gets nothing by it.
    return (isForAgents || fits(callerId)) && !(callerId === HOST && action === 'allow');
  };
}

function argumentsTest(
  { arguments: patterns }: Rule,
  { strict }: { readonly strict: boolean },
): SentTest | undefined {
  if (patterns === undefined) return undefined;
  const tests = Object.entries(patterns).map(([path, pattern]): ArgumentsTest => {
    const steps: ArgumentPath = parseArgumentPath(path);
    const test = strict ? strictTest(pattern) : wideTest(pattern);
    const [key] = steps;
    // Most paths are one key: there are many rules, and a call waits for all of them.
    if (steps.length === 1 && typeof key === 'string')
      return (args, work) => Object.hasOwn(args, key) && args[key] !== undefined && test(args[key], work);
    const at = strict ? everyAt : someAt;
    return (args, work) => at(args, steps, (value) => test(value, work));
  });
  const [only] = tests;
  return tests.length === 1 && only !== undefined
    ? ({ arguments: args = NO_ARGUMENTS }, work) => only(args, work)
    : ({ arguments: args = NO_ARGUMENTS }, work) => tests.every((test) => test(args, work));
}

const NO_ARGUMENTS: Arguments = {};

/** What a request is about is one of its arguments, however the request names it: a rule for `uri` holds for all of them. */
function withName(subject: RuleSubject & Sent): Sent {
  const { kind, tool, arguments: args, beside } = subject;
  if (kind === 'tool') return subject;
  return { arguments: { ...args, [kind === 'resource' ? 'uri' : 'name']: tool }, beside };
}

function both(one: SentTest | undefined, other: SentTest | undefined): SentTest | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (sent, work) => one(sent, work) && other(sent, work);
}

function listOf(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value;
}

function merge(left: readonly CompiledRule[], right: readonly CompiledRule[]): CompiledRule[] {
  return [...left, ...right].sort((one, other) => one.index - other.index);
}
