/**
 * The one decision about a call: may this caller make it with these arguments? Every surface passes here.
 * Capabilities come first, then the rules or, where none fits, the defaults: the host's own code is allowed; an
 * agent is asked for unless its call only reads from a server whose word is trusted. What is let through then
 * still has to carry no secret of ours, to be the tool that was approved, and to close no way out of a run.
 */
import type { FlowMode, PlacedRule, RuleFlag } from '../config/rule-schema.js';
import type { DecidingRule } from '../events.js';
import { agentOf, type Caller, findGrant, isWithin, type KnownServers } from './capabilities.js';
import type { CompiledRule, Found, RuleContext, RuleSet, RuleSubject, SecretSearch, Sent } from './rules.js';

export type Action = 'allow' | 'ask' | 'deny';

/** Why a tool is not taken for the one that was approved. */
export type PinFault = 'changed' | 'new' | 'unreadable';

export interface Decision {
  readonly action: Action;
  readonly reason: string;
  /** The caller may not even know that it exists: answer as if it did not. */
  readonly hidden: boolean;
  /** A word of the caller that would have granted it if it had one meaning only. */
  readonly ambiguous?: { readonly word: string; readonly meanings: readonly string[] } | undefined;
  readonly rule?: DecidingRule | undefined;
  /** The rule of the way that the caller came, where that made it stricter. */
  readonly limit?: PlacedRule | undefined;
  /** The definition is not the approved one. What would hold otherwise is in `otherwise`. */
  readonly pin?: PinFault | undefined;
  /** With this call its run has private data, text of strangers, and a way out. */
  readonly flow?: true | undefined;
  readonly otherwise?: Action | undefined;
}

export interface Subject extends RuleSubject, Sent {
  /** What its tool is, where the caller's connection may have another than that which all know. */
  readonly definition?: object | undefined;
}

export interface ServerPolicy {
  readonly trusted: boolean;
  readonly requires: readonly string[];
  readonly scope?: RuleContext['scope'];
  /** Of the host's own functions: whether one is for every agent that has any capability. */
  readonly isPublic?: ((tool: string) => boolean) | undefined;
}

export interface PolicyOptions {
  /** What holds when nothing more special does; absent: allow for the host, ask for agents. */
  readonly defaultDecision?: Action | undefined;
  readonly rules?: RuleSet | undefined;
  readonly known: KnownServers;
  /** What the server's configuration says: is its word believed, what does it require? */
  readonly serverPolicy: (server: string) => ServerPolicy;
  /** What is wrong with a tool's definition; absent when nothing is pinned. */
  readonly pinFault?: ((subject: Subject) => PinFault | undefined) | undefined;
  /** The rules of a way to come, compiled. */
  readonly limitRules?: ((rules: readonly PlacedRule[]) => RuleSet) | undefined;
  /** What no agent may send; absent: nothing is looked for. */
  readonly secrets?: SecretSearch | undefined;
  /** What holds a call back for what its run did before; absent when nothing does. */
  readonly flow?: ((caller: Caller, subject: Subject) => FlowFault | undefined) | undefined;
}

export interface FlowFault {
  readonly action: Exclude<FlowMode, 'off'>;
  readonly reason: string;
}

const allow = (reason: string): Decision => ({ action: 'allow', reason, hidden: false });
const hide = (reason: string): Decision => ({ action: 'deny', reason, hidden: true });

const HOST_ALLOWED = allow('the host itself calls');
const NOTHING_FOUND: Found = { rule: undefined, least: undefined };
/** Flags of texts that are made to lead a model astray. */
const LURES: ReadonlySet<RuleFlag> = new Set(['instructions', 'hidden-characters', 'mentions-other-server']);

export function decide(caller: Caller | undefined, subject: Subject, options: PolicyOptions): Decision {
  if (caller !== undefined) {
    const granted = grant(caller, subject, options);
    if (granted.action === 'deny') return granted;
  }
  const agent = agentOf(caller);
  const decision = byRules(agent, subject, options);
  if (decision.action === 'deny') return decision;
  const fault = subject.kind === 'tool' ? options.pinFault?.(subject) : undefined;
  const held = fault === undefined ? decision : heldBack(decision, fault);
  const flow = agent === undefined ? undefined : options.flow?.(agent, subject);
  const whole = flow === undefined ? held : crossing(held, flow);
  return caller?.limits?.rules === undefined ? whole : tightened(whole, { caller, subject, options });
}

/** The part of the decision that lists share with calls: whether the caller may see it at all. */
export function mayKnow(caller: Caller, subject: RuleSubject, options: PolicyOptions): Decision {
  const granted = grant(caller, subject, options);
  if (granted.action === 'deny') return granted;
  const limits = limitRulesOf(caller, options);
  if (options.rules === undefined && limits === undefined) return granted;
  const agent = agentOf(caller);
  const context = contextOf(agent, subject, options);
  // As in `decide`: the host is told why. What is not in its view is not there for the host either.
  const isHidden = agent !== undefined && options.rules?.hides(subject, context) === true;
  return isHidden || limits?.hides(subject, context) === true ? hide('a rule denies it') : granted;
}

/** The same of what may not be there now: where it depends on what it says of itself, the caller may not know it. */
export function surelyKnows(caller: Caller, subject: RuleSubject, options: PolicyOptions): boolean {
  if (mayKnow(caller, subject, options).action === 'deny') return false;
  if (subject.hints !== 'unknown' || subject.kind !== 'tool') return true;
  const agent = agentOf(caller);
  const context = contextOf(agent, subject, options);
  const couldHide = agent !== undefined && options.rules?.couldHide(subject, context) === true;
  return !couldHide && limitRulesOf(caller, options)?.couldHide(subject, context) !== true;
}

function grant(caller: Caller, subject: RuleSubject, options: PolicyOptions): Decision {
  if (!isWithin(caller.limits, subject)) return hide('it is not in this view');
  const capabilities = caller.isHost === true ? caller.limits?.capabilities : caller.capabilities;
  if (capabilities === undefined) return HOST_ALLOWED;
  const { requires, isPublic } = options.serverPolicy(subject.server);
  if (capabilities.length > 0 && isPublic?.(subject.tool) === true)
    return allow('a public function of the host');
  const found = findGrant({ capabilities }, subject, options.known);
  if (!found.granted) {
    const [ambiguous] = found.ambiguous;
    if (ambiguous === undefined) return hide('the caller has no capability for it');
    return { ...hide(`"${ambiguous.word}" could mean ${ambiguous.meanings.join(' or ')}`), ambiguous };
  }
  const missing = requires.find((word) => !capabilities.includes(word));
  return missing === undefined ? allow(`granted by "${found.by}"`) : hide(`the caller lacks "${missing}"`);
}

function contextOf(
  caller: Caller | undefined,
  { server }: RuleSubject,
  { serverPolicy }: PolicyOptions,
): RuleContext {
  const { trusted, scope } = serverPolicy(server);
  return { callerId: caller?.id, trusted, scope };
}

interface Asked {
  readonly caller: Caller | undefined;
  readonly subject: Subject;
  readonly options: PolicyOptions;
}

function byRules(caller: Caller | undefined, subject: Subject, options: PolicyOptions): Decision {
  const context = contextOf(caller, subject, options);
  const found = options.rules?.find(subject, context) ?? NOTHING_FOUND;
  const decision = byFound(found, context, { caller, subject, options });
  if (caller === undefined || decision.action === 'deny' || vouches(found.rule)) return decision;
  return options.secrets?.knows(subject) === true ? givenAway(decision) : decision;
}

function byFound({ rule, least }: Found, context: RuleContext, asked: Asked): Decision {
  if (rule === undefined) return atLeast(byDefault(asked), least);
  if (rule.action === 'allow') return atLeast(toDecision(rule), least);
  if (rule.action === 'ask') {
    // A project may raise the guard; where nothing goes by default, its question changes nothing.
    const usual = isOfProject(rule) ? byDefault(asked) : undefined;
    return usual?.action === 'deny' ? usual : toDecision(rule);
  }
  // The owner is told why; an agent does not learn of what it can never call.
  const isHidden = asked.caller !== undefined && asked.options.rules?.hides(asked.subject, context) === true;
  return { ...toDecision(rule), hidden: isHidden };
}

const isOfProject = ({ placed: { from } }: CompiledRule): boolean => from === 'project' || from === 'local';

/** Only a rule that speaks of secrets lets one pass, and none of a project. */
const vouches = (rule: CompiledRule | undefined): boolean =>
  rule?.placed.rule.secrets === true && !isOfProject(rule);

/** A question that a rule puts says more than the same one by default. */
const atLeast = (decision: Decision, least: CompiledRule | undefined): Decision =>
  least !== undefined && decision.action !== 'deny' ? toDecision(least) : decision;

const toDecision = (rule: CompiledRule): Decision => ({
  action: rule.action,
  reason: reasonOf(rule),
  hidden: false,
  rule: decidedBy(rule),
});

function byDefault(asked: Asked): Decision {
  const decision = usually(asked);
  const { caller, subject, options } = asked;
  if (decision.action !== 'allow' || caller === undefined || subject.kind !== 'tool') return decision;
  if (options.serverPolicy(subject.server).trusted) return decision;
  const lure = subject.flags?.().find((flag) => LURES.has(flag));
  if (lure === undefined) return decision;
  return {
    action: 'ask',
    reason: `its texts are flagged (${lure}), and its server is not trusted`,
    hidden: false,
  };
}

function usually({ caller, subject, options }: Asked): Decision {
  const { defaultDecision } = options;
  if (defaultDecision !== undefined && !(caller === undefined && defaultDecision === 'allow'))
    return { action: defaultDecision, reason: `the default is ${defaultDecision}`, hidden: false };
  if (caller === undefined) return HOST_ALLOWED;
  if (subject.kind !== 'tool') return allow('reading is allowed to who may use the server');
  const { hints } = subject;
  const saysReadOnly = hints !== 'unknown' && hints?.readOnlyHint === true;
  if (saysReadOnly && options.serverPolicy(subject.server).trusted)
    return allow('a trusted server says that it only reads');
  return { action: 'ask', reason: 'agent calls require approval by default', hidden: false };
}

const givenAway = (decision: Decision): Decision => ({
  ...decision,
  action: 'deny',
  reason: 'its arguments hold a secret that is known here, and no rule about secrets lets it pass',
  otherwise: decision.action,
});

const FAULTS: Readonly<Record<PinFault, string>> = {
  changed: 'it changed since it was approved',
  new: 'it came after its server was approved',
  unreadable: 'what was approved cannot be read',
};

function heldBack(decision: Decision, pin: PinFault): Decision {
  return { ...decision, action: 'ask', reason: FAULTS[pin], pin, otherwise: decision.action };
}

/** Stands above every yes; what else there is to ask is asked with it. */
function crossing(decision: Decision, { action, reason }: FlowFault): Decision {
  const more = decision.action === 'ask' ? `; ${decision.reason}` : '';
  const otherwise = decision.otherwise ?? decision.action;
  return { ...decision, action, reason: `${reason}${more}`, flow: true, otherwise };
}

const limitRulesOf = ({ limits }: Caller, { limitRules }: PolicyOptions): RuleSet | undefined =>
  limits?.rules === undefined ? undefined : limitRules?.(limits.rules);

/** The stricter of what holds anywhere and what the rules of the way that the caller came say. */
function tightened(
  decision: Decision,
  { caller, subject, options }: Asked & { readonly caller: Caller },
): Decision {
  const context = contextOf(agentOf(caller), subject, options);
  const rules = limitRulesOf(caller, options);
  const found = rules?.find(subject, context) ?? NOTHING_FOUND;
  const rule = found.rule === undefined || found.rule.action === 'allow' ? found.least : found.rule;
  if (rule === undefined || decision.action === 'deny') return decision;
  const limit = rule.placed;
  const reason = reasonOf(rule, 'a rule of this view');
  if (rule.action === 'deny') {
    const hidden = rules?.hides(subject, context) === true;
    return { action: 'deny', reason, hidden, rule: decidedBy(rule), limit };
  }
  // One question for both.
  if (decision.action === 'ask') return { ...decision, reason: `${decision.reason}; ${reason}`, limit };
  return { action: 'ask', reason, hidden: false, rule: decidedBy(rule), limit };
}

/** Where the rule stands is told beside it: an agent that reads the reason needs no paths of the machine. */
const reasonOf = ({ action, placed: { rule } }: CompiledRule, whose = 'a rule'): string =>
  `${whose} says ${action}${rule.reason === undefined ? '' : `: ${rule.reason}`}`;

const decidedBy = ({ index, action, placed: { rule, from, file, line } }: CompiledRule): DecidingRule => ({
  index,
  action,
  from,
  ...(file !== undefined && { file }),
  ...(line !== undefined && { line }),
  ...(rule.reason !== undefined && { reason: rule.reason }),
});
