/**
 * The rules in effect, compiled once: the first match decides. An `allow` matches only what is certain; an `ask` or
 * `deny` also matches what is possible. So doubt always makes the decision stricter.
 */
import type { PlacedRule, Rule, RuleFlag, RuleScope } from '../config/schema/rule-schema.js';
import { compileGlob, type Glob, globCost, literalOf, MAX_GLOB_STEPS } from '../text/glob.js';
import { type ArgumentPath, everyAt, parseArgumentPath, someAt } from './argument-path.js';
import { isAmbiguousText, strictTest, wideTest } from './argument-pattern.js';
import { DecisionBudget } from './decision-budget.js';
import { fitsHints, type Hints, READ_ONLY_HINTS } from './hints.js';
import { wideAddressGlob } from './possible-addresses.js';

export interface RuleSubject {
  readonly server: string;
  readonly tool: string;
  readonly kind: 'tool' | 'resource' | 'prompt';
  /** The tool's annotations; `unknown` before its server has listed it. */
  readonly hints: Hints | 'unknown' | undefined;
  /** Flags of the tool's texts, computed only when needed. The same array as long as the flags are the same. */
  readonly flags?: (() => readonly RuleFlag[]) | undefined;
}

/** The part of a call that its caller controls. */
export interface SentData {
  readonly arguments?: Arguments | undefined;
  /** What else is sent to the server with the arguments. */
  readonly otherValues?: readonly unknown[] | undefined;
}

/** Searches everything that is sent for secrets. */
export interface SecretSearch {
  /** Secrets known by their value. */
  readonly knows: (sent: SentData) => boolean;
  /** Also text that only looks like a secret. */
  readonly finds: (sent: SentData) => boolean;
}

/** What is known about a call besides its subject. */
export interface RuleContext {
  /** Undefined: the host itself. */
  readonly callerId: string | undefined;
  readonly trusted: boolean;
  readonly scope: RuleScope | undefined;
}

type Arguments = Readonly<Record<string, unknown>>;
type ArgumentsTest = (args: Arguments, work: DecisionBudget) => boolean;
type SentTest = (sent: SentData, work: DecisionBudget) => boolean;

/** A key of a rule that a call can fail to match. */
export type RuleKey = Exclude<keyof Rule, 'action' | 'reason'>;

export interface CompiledRule {
  readonly placed: PlacedRule;
  /** Its index among the rules in effect. */
  readonly index: number;
  readonly action: Rule['action'];
  readonly server: Glob | undefined;
  readonly tool: Glob | undefined;
  /** For resource addresses, which can be written in many ways. */
  readonly address: Glob | undefined;
  /** Of its patterns for names, for each character of a name. */
  readonly cost: number;
  readonly kinds: readonly string[] | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly caller: ((callerId: string | undefined) => boolean) | undefined;
  readonly flags: readonly string[] | undefined;
  /** Its conditions on the arguments and on secrets in the request. */
  readonly sentTest: SentTest | undefined;
  /** For an `ask`: whether the request matches beyond doubt. */
  readonly certainTest: SentTest | undefined;
}

/** The rules that match a call. */
export interface RuleMatch {
  readonly rule: CompiledRule | undefined;
  /** An `ask`: the decision is at least this strict. */
  readonly minimum: CompiledRule | undefined;
}

/** The name of the host in rules. */
const HOST = 'host';
/** Matches every caller except the host; no name pattern can express that. */
const AGENTS = 'agents';
/** The names in use are few; more than this are guesses. */
const MAX_CACHED = 5_000;
const MAX_CACHED_NAME_LENGTH = 512;

/** The rules that match a call apart from its arguments, up to the first that does not depend on them. */
interface CandidateRules {
  readonly rules: readonly CompiledRule[];
  readonly hides: boolean;
  /** The subject and context that they were found for. */
  readonly hints: RuleSubject['hints'];
  readonly flags: readonly RuleFlag[] | undefined;
  readonly trusted: boolean;
  readonly scope: RuleScope | undefined;
}

type ByTool = Map<string, CandidateRules>;
type ByCaller = Map<string | undefined, Map<string, ByTool>>;

export class RuleSet {
  readonly size: number;
  readonly #exact = new Map<string, CompiledRule[]>();
  readonly #general: CompiledRule[] = [];
  /** Keyed by kind, caller, server and name separately: any joined key could collide, because names are arbitrary. */
  readonly #cache: Readonly<Record<RuleSubject['kind'], ByCaller>> = {
    tool: new Map(),
    resource: new Map(),
    prompt: new Map(),
  };
  readonly #wantsFlags: boolean;
  readonly #dependsOnTools: boolean;
  #cachedCount = 0;

  constructor(rules: readonly PlacedRule[], secrets: SecretSearch) {
    this.size = rules.length;
    this.#wantsFlags = rules.some(({ rule }) => rule.flags !== undefined);
    this.#dependsOnTools = this.#wantsFlags || rules.some(({ rule }) => rule.annotations !== undefined);
    for (const rule of rules.map((placed, index) => compileRule(placed, index, secrets))) {
      const names = listOf(rule.placed.rule.server)?.map(literalOf);
      if (names === undefined || names.includes(undefined)) this.#general.push(rule);
      else for (const name of new Set(names)) this.#push(name ?? '', rule);
    }
  }

  /**
   * The first rule that matches the call. An `ask` that matches only in doubt, or by an untrusted claim, does not
   * decide, because it could keep a later `deny` from doing so: it sets the minimum.
   */
  find(subject: RuleSubject & SentData, context: RuleContext): RuleMatch {
    const work = new DecisionBudget();
    const sent = withSubjectName(subject);
    let minimum: CompiledRule | undefined;
    for (const rule of this.#candidateRules(subject, context).rules) {
      if (rule.sentTest !== undefined && !rule.sentTest(sent, work)) continue;
      const isSure = rule.certainTest === undefined || rule.certainTest(sent, work);
      if (isSure && !fitsByClaim(rule, subject, context)) return { rule, minimum };
      minimum ??= rule;
    }
    return { rule: undefined, minimum };
  }

  /**
   * Whether the rules deny it for any arguments: its existence is hidden then. Unknown annotations (of a server
   * that was not asked yet) leave this open.
   */
  hides(subject: RuleSubject, context: RuleContext): boolean {
    return this.#candidateRules(subject, context).hides;
  }

  /** Whether they would hide it depending on facts that are not known now. */
  couldHide(subject: RuleSubject, context: RuleContext): boolean {
    return this.#dependsOnTools && isHidden(this.candidates(subject), subject, { ...context, inDoubt: true });
  }

  /** The rules for this server and tool, in order. */
  candidates({ server, tool, kind }: RuleSubject): readonly CompiledRule[] {
    let steps = 0;
    return merge(this.#exact.get(server) ?? [], this.#general).filter((rule) => {
      if (rule.kinds?.includes(kind) === false) return false;
      steps += rule.cost * (server.length + tool.length);
      if (rule.cost > 0 && steps > MAX_GLOB_STEPS) return rule.action !== 'allow';
      const fits = kind === 'resource' ? rule.address : rule.tool;
      return rule.server?.(server) !== false && fits?.(tool) !== false;
    });
  }

  #push(server: string, rule: CompiledRule): void {
    const rules = this.#exact.get(server);
    if (rules === undefined) this.#exact.set(server, [rule]);
    else rules.push(rule);
  }

  #candidateRules(subject: RuleSubject, context: RuleContext): CandidateRules {
    const { server, tool, kind, hints } = subject;
    const { callerId, trusted, scope } = context;
    const flags = this.#wantsFlags ? subject.flags?.() : undefined;
    const known = this.#cache[kind].get(callerId)?.get(server)?.get(tool);
    const isSame = known?.hints === hints && known?.flags === flags;
    if (isSame && known?.trusted === trusted && known.scope === scope) return known;
    const candidates = this.candidates(subject);
    const fitting = {
      rules: untilFirstCertain(candidates, subject, context),
      hides: isHidden(candidates, subject, context),
      hints,
      flags,
      trusted,
      scope,
    };
    if (tool.length <= MAX_CACHED_NAME_LENGTH) this.#store(fitting, subject, callerId);
    return fitting;
  }

  #store(fitting: CandidateRules, { kind, server, tool }: RuleSubject, callerId: string | undefined): void {
    if (this.#cachedCount >= MAX_CACHED) {
      for (const callers of Object.values(this.#cache)) callers.clear();
      this.#cachedCount = 0;
    }
    this.#cachedCount += 1;
    const callers = this.#cache[kind];
    const servers = callers.get(callerId) ?? new Map<string, ByTool>();
    const tools = servers.get(server) ?? new Map<string, CandidateRules>();
    callers.set(callerId, servers.set(server, tools.set(tool, fitting)));
  }
}

function untilFirstCertain(
  candidates: readonly CompiledRule[],
  subject: RuleSubject,
  context: RuleContext,
): readonly CompiledRule[] {
  const fitting: CompiledRule[] = [];
  for (const rule of candidates) {
    if (firstMismatch(rule, subject, context) !== undefined) continue;
    fitting.push(rule);
    if (rule.sentTest === undefined && !fitsByClaim(rule, subject, context)) break;
  }
  return fitting;
}

/** With `inDoubt`, unknown facts count as those that hide it. */
function isHidden(
  candidates: readonly CompiledRule[],
  subject: RuleSubject,
  { inDoubt = false, ...context }: RuleContext & { readonly inDoubt?: boolean },
): boolean {
  for (const rule of candidates) {
    const isUnsure = dependsOnTool(rule) && subject.hints === 'unknown';
    const key = firstMismatch(rule, subject, context);
    if (key !== undefined && !(isUnsure && (key === 'annotations' || key === 'flags'))) continue;
    if (fitsByClaim(rule, subject, context)) continue;
    if (isUnsure && inDoubt) {
      if (rule.action === 'deny' && rule.sentTest === undefined) return true;
      continue;
    }
    if (rule.sentTest === undefined && !isUnsure) return rule.action === 'deny';
    if (rule.action !== 'deny') return false;
  }
  return false;
}

/** The first key that a call does not match, ignoring its arguments; undefined if it matches all of them. */
export function firstMismatch(
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
        : { hints: READ_ONLY_HINTS, believed: true, allows: action === 'allow' };
    if (!fitsHints(rule.annotations, test)) return 'annotations';
  }
  if (flags === undefined) return undefined;
  const isFlagged =
    subject.kind === 'tool' && subject.flags?.().some((flag) => flags.includes(flag)) === true;
  return isFlagged ? undefined : 'flags';
}

/** Whether the rule depends on facts about the tool that only its server knows. */
export const dependsOnTool = ({ placed: { rule } }: CompiledRule): boolean =>
  rule.annotations !== undefined || rule.flags !== undefined;

/** An `ask` that would not match without the tool's own claims: its texts, or annotations that are not trusted. */
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
    cost: [...(listOf(rule.server) ?? []), ...(listOf(rule.tool) ?? [])].reduce(
      (sum, pattern) => sum + globCost(pattern),
      0,
    ),
    kinds: listOf(rule.kind),
    scopes: listOf(rule.scope),
    caller: callerTest(rule),
    flags: listOf(rule.flags),
    sentTest: both(argumentsTest(rule, { strict: rule.action === 'allow' }), isAbout ? finds : undefined),
    certainTest:
      rule.action === 'ask'
        ? both(argumentsTest(rule, { strict: true }), isAbout ? knows : undefined)
        : undefined,
  };
}

/** In names `*` matches everything: a rule for all tools must not miss a name with a slash in it. */
function anyGlob(patterns: string | readonly string[] | undefined): Glob | undefined {
  const globs = listOf(patterns)?.map((pattern) => compileGlob(pattern, { crossSlashes: true }));
  if (globs === undefined) return undefined;
  const [only] = globs;
  return globs.length === 1 && only !== undefined ? only : (text) => globs.some((glob) => glob(text));
}

/** `ask` and `deny` match every possible meaning; an `allow` only the literal one, if it is the only meaning. */
function addressTest({ tool, action }: Rule): Glob | undefined {
  const patterns = listOf(tool);
  if (patterns === undefined) return undefined;
  const globs = patterns.map((pattern): Glob => {
    if (action !== 'allow') return wideAddressGlob(pattern);
    const fits = compileGlob(pattern, { crossSlashes: true });
    return literalOf(pattern) === undefined ? (address) => fits(address) && !isAmbiguousText(address) : fits;
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
    // An agent that takes the host's name gains nothing.
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
    const at = strict ? everyAt : someAt;
    return (args, work) => at(args, { path: steps, test, work });
  });
  const [only] = tests;
  return tests.length === 1 && only !== undefined
    ? ({ arguments: args = NO_ARGUMENTS }, work) => only(args, work)
    : ({ arguments: args = NO_ARGUMENTS }, work) => tests.every((test) => test(args, work));
}

const NO_ARGUMENTS: Arguments = {};

/**
 * The subject of a request counts as one of its arguments, whatever the request calls it: a rule for `uri` applies
 * to all of them.
 */
function withSubjectName(subject: RuleSubject & SentData): SentData {
  const { kind, tool, arguments: args, otherValues } = subject;
  if (kind === 'tool') return subject;
  return { arguments: { ...args, [kind === 'resource' ? 'uri' : 'name']: tool }, otherValues };
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
