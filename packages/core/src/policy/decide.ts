/**
 * Decides whether a caller may make a call with these arguments. Every call passes through here. Capabilities come
 * first, then the rules or, if no rule matches, the defaults: the host is allowed, and an agent needs approval unless
 * its call only reads from a trusted server. A call that is allowed so far must also contain no known secret, use
 * the tool definition that was approved, not exceed a budget, and not complete a flow.
 */
import type { FlowMode, PlacedRule, RuleFlag } from '../config/schema/rule-schema.js';
import type { BudgetFault } from '../energy/budgets.js';
import type { DecidingRule } from '../events.js';
import { agentOf, type Caller, findGrant, isWithinLimits, type KnownServers } from './capabilities.js';
import { type ListOrMap, valuesFor } from './glob-map.js';
import type {
  CompiledRule,
  RuleContext,
  RuleMatch,
  RuleSet,
  RuleSubject,
  SecretSearch,
  SentData,
} from './rules.js';

export type Action = 'allow' | 'ask' | 'deny';

/** Why a tool does not count as approved. */
export type PinFault = 'changed' | 'new' | 'unreadable';

export interface Decision {
  readonly action: Action;
  readonly reason: string;
  /** The caller must not learn that it exists: respond as if it did not. */
  readonly hidden: boolean;
  /** A capability of the caller that would have granted it if it were not ambiguous. */
  readonly ambiguous?: { readonly word: string; readonly meanings: readonly string[] } | undefined;
  readonly rule?: DecidingRule | undefined;
  /** The rule of the caller's view, if it made the decision stricter. */
  readonly limit?: PlacedRule | undefined;
  /** The definition is not the approved one. `otherwise` holds the decision without this fault. */
  readonly pin?: PinFault | undefined;
  /** With this call, the run combines private data, untrusted text and an outbound call. */
  readonly flow?: true | undefined;
  readonly otherwise?: Action | undefined;
  /** The budget that has too little energy left. */
  readonly budget?: BudgetFault | undefined;
}

export interface Subject extends RuleSubject, SentData {
  /** The tool's definition, if the caller's connection may list a different one than the shared catalog. */
  readonly definition?: object | undefined;
  /** The energy for the call is reserved already: budgets are not checked again. */
  readonly hasReservation?: true | undefined;
}

export interface ServerPolicy {
  readonly trusted: boolean;
  /** The capabilities that a caller needs besides the one that grants the item, for all items or by globs of names. */
  readonly requires: ListOrMap<string>;
  readonly scope?: RuleContext['scope'];
  /** For native tools: whether the tool is open to every agent that has any capability. */
  readonly isPublic?: ((tool: string) => boolean) | undefined;
  /** For native tools: the only capability that shows the tool, if it has one. */
  readonly capability?: ((tool: string) => string | undefined) | undefined;
  /** For native tools: whether an agent may call it without approval. */
  readonly isSafe?: ((tool: string) => boolean) | undefined;
  /** For native tools: where the tool is, if it is one for resources and prompts. */
  readonly resourceTool?: ((tool: string) => 'views' | 'everywhere' | undefined) | undefined;
}

export interface PolicyOptions {
  /** Applies when no rule matches. Default: allow for the host, ask for agents. */
  readonly defaultDecision?: Action | undefined;
  readonly rules?: RuleSet | undefined;
  readonly known: KnownServers;
  /** Whether the server is configured as trusted, and which capabilities it requires. */
  readonly serverPolicy: (server: string) => ServerPolicy;
  /** What is wrong with a tool's definition; absent when nothing is pinned. */
  readonly pinFault?: ((subject: Subject) => PinFault | undefined) | undefined;
  /** Compiles the rules of a view. */
  readonly limitRules?: ((rules: readonly PlacedRule[]) => RuleSet) | undefined;
  /** Finds secrets that no agent may send. Absent: no search. */
  readonly secrets?: SecretSearch | undefined;
  /** The budget that has too little energy left for the call; undefined if there is none. */
  readonly budget?: ((caller: Caller, subject: Subject) => BudgetFault | undefined) | undefined;
  /** Why the run's earlier calls hold this call back; undefined if they do not. */
  readonly flow?: ((caller: Caller, subject: Subject) => FlowFault | undefined) | undefined;
}

export interface FlowFault {
  readonly action: Exclude<FlowMode, 'off'>;
  readonly reason: string;
}

const allow = (reason: string): Decision => ({ action: 'allow', reason, hidden: false });
const denyHidden = (reason: string): Decision => ({ action: 'deny', reason, hidden: true });

const HOST_ALLOWED = allow('calls by the host are allowed');
const VISIBLE = allow('the caller has a capability for it');
const NO_MATCH: RuleMatch = { rule: undefined, minimum: undefined };
/** Flags of text that tries to manipulate a model. */
const INJECTION_FLAGS: ReadonlySet<RuleFlag> = new Set([
  'instructions',
  'hidden-characters',
  'mentions-other-server',
]);

export function decide(caller: Caller | undefined, subject: Subject, options: PolicyOptions): Decision {
  const denial = caller === undefined ? undefined : missingGrant(caller, subject, options);
  if (denial !== undefined) return denial;
  const agent = agentOf(caller);
  const decision = decideByRules(agent, subject, options);
  if (decision.action === 'deny') return decision;
  const budget = agent === undefined ? undefined : options.budget?.(agent, subject);
  if (budget !== undefined) return denyByBudget(decision, budget);
  const fault = subject.kind === 'tool' ? options.pinFault?.(subject) : undefined;
  const held = fault === undefined ? decision : withPinFault(decision, fault);
  const flow = agent === undefined ? undefined : options.flow?.(agent, subject);
  const whole = flow === undefined ? held : withFlowFault(held, flow);
  return caller?.limits?.rules === undefined ? whole : withLimitRules(whole, { caller, subject, options });
}

/** The part of the decision that lists and calls share: whether the caller may see the item at all. */
export function decideVisibility(caller: Caller, subject: RuleSubject, options: PolicyOptions): Decision {
  const denial = missingGrant(caller, subject, options);
  if (denial !== undefined) return denial;
  const limits = limitRulesOf(caller, options);
  if (options.rules === undefined && limits === undefined) return VISIBLE;
  const agent = agentOf(caller);
  const context = contextOf(agent, subject, options);
  // As in `decide`, the host learns the reason. Items outside its view are hidden from the host too.
  const isHidden = agent !== undefined && options.rules?.hides(subject, context) === true;
  return isHidden || limits?.hides(subject, context) === true ? denyHidden('a rule denies it') : VISIBLE;
}

/** Like `decideVisibility`, for an item that may not exist. False if visibility depends on annotations that are not known yet. */
export function isSurelyVisible(caller: Caller, subject: RuleSubject, options: PolicyOptions): boolean {
  if (decideVisibility(caller, subject, options).action === 'deny') return false;
  if (subject.hints !== 'unknown' || subject.kind !== 'tool') return true;
  const agent = agentOf(caller);
  const context = contextOf(agent, subject, options);
  const couldHide = agent !== undefined && options.rules?.couldHide(subject, context) === true;
  return !couldHide && limitRulesOf(caller, options)?.couldHide(subject, context) !== true;
}

/** The denial, if the caller's view or its capabilities do not include the item. */
function missingGrant(caller: Caller, subject: RuleSubject, options: PolicyOptions): Decision | undefined {
  const { resourceTool } = options.serverPolicy(subject.server);
  if (!isWithinLimits(caller.limits, subject, resourceTool?.(subject.tool)))
    return denyHidden('it is not in this view');
  const { isHost, limits, capabilities } = caller;
  const lacking = isHost === true ? undefined : missingCapability(capabilities, subject, options);
  if (lacking !== undefined || limits?.capabilities === undefined) return lacking;
  for (const most of limits.capabilities) {
    const outside = missingCapability(most, subject, options);
    if (outside !== undefined) return outside;
  }
  return undefined;
}

/** The denial, if these capabilities do not include the item. */
function missingCapability(
  capabilities: readonly string[],
  subject: RuleSubject,
  options: PolicyOptions,
): Decision | undefined {
  const { requires, isPublic, capability } = options.serverPolicy(subject.server);
  const only = capability?.(subject.tool);
  if (only !== undefined)
    return capabilities.includes(only) ? undefined : denyHidden('the caller has no capability for it');
  if (capabilities.length > 0 && isPublic?.(subject.tool) === true) return undefined;
  const found = findGrant({ capabilities }, subject, options.known);
  if (!found.granted) {
    const [ambiguous] = found.ambiguous;
    if (ambiguous === undefined) return denyHidden('the caller has no capability for it');
    return {
      ...denyHidden(
        `capability "${ambiguous.word}" is ambiguous and can mean ${ambiguous.meanings.join(' or ')}`,
      ),
      ambiguous,
    };
  }
  const missing = valuesFor(requires, subject)?.find((word) => !capabilities.includes(word));
  return missing === undefined ? undefined : denyHidden(`the caller lacks the capability "${missing}"`);
}

function contextOf(
  caller: Caller | undefined,
  { server }: RuleSubject,
  { serverPolicy }: PolicyOptions,
): RuleContext {
  const { trusted, scope } = serverPolicy(server);
  return { callerId: caller?.id, trusted, scope };
}

interface DecisionRequest {
  readonly caller: Caller | undefined;
  readonly subject: Subject;
  readonly options: PolicyOptions;
}

function decideByRules(caller: Caller | undefined, subject: Subject, options: PolicyOptions): Decision {
  const context = contextOf(caller, subject, options);
  const found = options.rules?.find(subject, context) ?? NO_MATCH;
  const decision = decideByMatch(found, context, { caller, subject, options });
  if (caller === undefined || decision.action === 'deny' || allowsSecrets(found.rule)) return decision;
  return options.secrets?.knows(subject) === true ? denySecret(decision) : decision;
}

function decideByMatch({ rule, minimum }: RuleMatch, context: RuleContext, asked: DecisionRequest): Decision {
  if (rule === undefined) return atLeastAsStrict(decideByDefault(asked), minimum);
  if (rule.action === 'allow') return atLeastAsStrict(toDecision(rule), minimum);
  if (rule.action === 'ask') {
    // A project may make the decision stricter, but its `ask` must not relax a default of deny.
    const usual = isProjectRule(rule) ? decideByDefault(asked) : undefined;
    return usual?.action === 'deny' ? usual : toDecision(rule);
  }
  // The owner learns the reason; an agent must not learn about tools it can never call.
  const isHidden = asked.caller !== undefined && asked.options.rules?.hides(asked.subject, context) === true;
  return { ...toDecision(rule), hidden: isHidden };
}

const isProjectRule = ({ placed: { from } }: CompiledRule): boolean => from === 'project' || from === 'local';

/** Only a rule with `secrets: true` lets a secret pass, and never a rule of a project. */
const allowsSecrets = (rule: CompiledRule | undefined): boolean =>
  rule?.placed.rule.secrets === true && !isProjectRule(rule);

/** Prefers the rule over an `ask` by default, because the rule carries a more specific reason. */
const atLeastAsStrict = (decision: Decision, least: CompiledRule | undefined): Decision =>
  least !== undefined && decision.action !== 'deny' ? toDecision(least) : decision;

const ruleDecisions = new WeakMap<CompiledRule, Decision>();

/** The same object for every call that the rule decides. */
function toDecision(rule: CompiledRule): Decision {
  const known = ruleDecisions.get(rule);
  if (known !== undefined) return known;
  const decision = { action: rule.action, reason: reasonOf(rule), hidden: false, rule: decidedBy(rule) };
  ruleDecisions.set(rule, decision);
  return decision;
}

function decideByDefault(asked: DecisionRequest): Decision {
  const decision = baseDecision(asked);
  const { caller, subject, options } = asked;
  if (decision.action !== 'allow' || caller === undefined || subject.kind !== 'tool') return decision;
  if (options.serverPolicy(subject.server).trusted) return decision;
  const injection = subject.flags?.().find((flag) => INJECTION_FLAGS.has(flag));
  if (injection === undefined) return decision;
  return {
    action: 'ask',
    reason: `the tool's definition is flagged (${injection}), and its server is not trusted`,
    hidden: false,
  };
}

function baseDecision({ caller, subject, options }: DecisionRequest): Decision {
  const { defaultDecision } = options;
  if (defaultDecision !== undefined && !(caller === undefined && defaultDecision === 'allow'))
    return { action: defaultDecision, reason: `the default decision is "${defaultDecision}"`, hidden: false };
  if (caller === undefined) return HOST_ALLOWED;
  if (subject.kind !== 'tool') return allow('reading is allowed for callers with access to the server');
  if (options.serverPolicy(subject.server).isSafe?.(subject.tool) === true)
    return allow('the tool asks for approval itself before it changes anything');
  const { hints } = subject;
  const saysReadOnly = hints !== 'unknown' && hints?.readOnlyHint === true;
  if (saysReadOnly && options.serverPolicy(subject.server).trusted)
    return allow('a trusted server marks the tool as read-only');
  return { action: 'ask', reason: 'agent calls require approval by default', hidden: false };
}

const denySecret = (decision: Decision): Decision => ({
  ...decision,
  action: 'deny',
  reason: 'the arguments contain a known secret, and no rule with "secrets": true allows the call',
  otherwise: decision.action,
});

const BUDGET_OWNERS: Readonly<Record<BudgetFault['budget']['for'], string>> = {
  run: 'this run',
  caller: 'the caller',
  server: 'the server',
};

/** No approval changes it: a person who wants to allow more raises the budget. */
const denyByBudget = (decision: Decision, budget: BudgetFault): Decision => ({
  ...decision,
  action: 'deny',
  reason: `the energy budget of ${BUDGET_OWNERS[budget.budget.for]} has ${shown(budget.left)} of ${budget.budget.limit} left, and the call needs about ${shown(budget.needed)}`,
  otherwise: decision.action,
  budget,
});

const shown = (energy: number): number => Math.round(Math.max(energy, 0) * 10) / 10;

const PIN_FAULT_REASONS: Readonly<Record<PinFault, string>> = {
  changed: "the tool's definition changed since it was approved",
  new: 'the tool was added after its server was approved',
  unreadable: 'the approved definitions cannot be read',
};

function withPinFault(decision: Decision, pin: PinFault): Decision {
  return { ...decision, action: 'ask', reason: PIN_FAULT_REASONS[pin], pin, otherwise: decision.action };
}

/** Overrides every allow. If approval is needed anyway, both reasons are combined. */
function withFlowFault(decision: Decision, { action, reason }: FlowFault): Decision {
  const more = decision.action === 'ask' ? `; ${decision.reason}` : '';
  const otherwise = decision.otherwise ?? decision.action;
  return { ...decision, action, reason: `${reason}${more}`, flow: true, otherwise };
}

const limitRulesOf = ({ limits }: Caller, { limitRules }: PolicyOptions): RuleSet | undefined =>
  limits?.rules === undefined ? undefined : limitRules?.(limits.rules);

/** Returns the stricter of the decision and the rules of the caller's view. */
function withLimitRules(
  decision: Decision,
  { caller, subject, options }: DecisionRequest & { readonly caller: Caller },
): Decision {
  const context = contextOf(agentOf(caller), subject, options);
  const rules = limitRulesOf(caller, options);
  const found = rules?.find(subject, context) ?? NO_MATCH;
  const rule = found.rule === undefined || found.rule.action === 'allow' ? found.minimum : found.rule;
  if (rule === undefined || decision.action === 'deny') return decision;
  const limit = rule.placed;
  const reason = reasonOf(rule, 'a rule for this view');
  if (rule.action === 'deny') {
    const hidden = rules?.hides(subject, context) === true;
    return { action: 'deny', reason, hidden, rule: decidedBy(rule), limit };
  }
  // One approval covers both.
  if (decision.action === 'ask') return { ...decision, reason: `${decision.reason}; ${reason}`, limit };
  return { action: 'ask', reason, hidden: false, rule: decidedBy(rule), limit };
}

const ACTION_VERBS: Readonly<Record<Action, string>> = {
  allow: 'allows it',
  ask: 'requires approval',
  deny: 'denies it',
};

/** Without the rule's file: agents read the reason, and must not learn local paths. */
const reasonOf = ({ action, placed: { rule } }: CompiledRule, source = 'a rule'): string =>
  `${source} ${ACTION_VERBS[action]}${rule.reason === undefined ? '' : ` with the reason "${rule.reason}"`}`;

const decidedBy = ({ index, action, placed: { rule, from, file, line } }: CompiledRule): DecidingRule => ({
  index,
  action,
  from,
  ...(file !== undefined && { file }),
  ...(line !== undefined && { line }),
  ...(rule.reason !== undefined && { reason: rule.reason }),
});
