/**
 * The one decision about a call: may this caller make it with these arguments? Every surface passes here.
 * Capabilities come first, then the rules, then whether the tool is still the one that was approved, then the
 * defaults: the host's own code is allowed; an agent is asked for unless its call only reads from a server
 * whose word is trusted.
 */
import type { DecidingRule } from '../events.js';
import { type Caller, findGrant, type KnownTools } from './capabilities.js';
import type { CompiledRule, RuleContext, RuleSet, RuleSubject } from './rules.js';

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
  /** The definition is not the approved one. What would hold otherwise is in `otherwise`. */
  readonly pin?: PinFault | undefined;
  readonly otherwise?: Action | undefined;
}

export interface Subject extends RuleSubject {
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

export interface ServerPolicy {
  readonly trusted: boolean;
  readonly requires: readonly string[];
  readonly scope?: RuleContext['scope'];
  /** Needs no capability: the host's own functions, registered for its agents. */
  readonly open?: boolean;
}

export interface PolicyOptions {
  /** What holds when nothing more special does; absent: allow for the host, ask for agents. */
  readonly defaultDecision?: Action | undefined;
  readonly rules?: RuleSet | undefined;
  readonly known: KnownTools;
  /** What the server's configuration says: is its word believed, what does it require? */
  readonly serverPolicy: (server: string) => ServerPolicy;
  /** What is wrong with a tool's definition; absent when nothing is pinned. */
  readonly pinFault?: ((server: string, tool: string) => PinFault | undefined) | undefined;
}

const allow = (reason: string): Decision => ({ action: 'allow', reason, hidden: false });
const hide = (reason: string): Decision => ({ action: 'deny', reason, hidden: true });

const HOST_ALLOWED = allow('the host itself calls');
const NO_ARGUMENTS = {};

export function decide(caller: Caller | undefined, subject: Subject, options: PolicyOptions): Decision {
  if (caller !== undefined) {
    const granted = grant(caller, subject, options);
    if (granted.action === 'deny') return granted;
  }
  const decision = byRules(caller, subject, options);
  const fault =
    subject.kind === 'tool' && decision.action !== 'deny'
      ? options.pinFault?.(subject.server, subject.tool)
      : undefined;
  return fault === undefined ? decision : heldBack(decision, fault);
}

/** The part of the decision that lists share with calls: whether the caller may see it at all. */
export function mayKnow(caller: Caller, subject: RuleSubject, options: PolicyOptions): Decision {
  const granted = grant(caller, subject, options);
  if (granted.action === 'deny' || options.rules === undefined) return granted;
  return options.rules.hides(subject, contextOf(caller, subject, options))
    ? hide('a rule denies it')
    : granted;
}

function grant(caller: Caller, subject: RuleSubject, options: PolicyOptions): Decision {
  const { requires, open } = options.serverPolicy(subject.server);
  if (open === true) return allow('a function of the host');
  const found = findGrant(caller, subject, options.known);
  if (!found.granted) {
    const [ambiguous] = found.ambiguous;
    if (ambiguous === undefined) return hide('the caller has no capability for it');
    return { ...hide(`"${ambiguous.word}" could mean ${ambiguous.meanings.join(' or ')}`), ambiguous };
  }
  const missing = requires.find((word) => !caller.capabilities.includes(word));
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

function byRules(caller: Caller | undefined, subject: Subject, options: PolicyOptions): Decision {
  const { rules } = options;
  if (rules === undefined) return byDefault(caller, subject, options);
  const context = contextOf(caller, subject, options);
  const { rule, least } = rules.find(subject, context, subject.arguments ?? NO_ARGUMENTS);
  if (rule === undefined) return atLeast(byDefault(caller, subject, options), least);
  if (rule.action === 'allow') return atLeast(toDecision(rule), least);
  if (rule.action === 'ask') {
    // A project may raise the guard; where nothing goes by default, its question changes nothing.
    const usual = isOfProject(rule) ? byDefault(caller, subject, options) : undefined;
    return usual?.action === 'deny' ? usual : toDecision(rule);
  }
  // The owner is told why; an agent does not learn of what it can never call.
  return { ...toDecision(rule), hidden: caller !== undefined && rules.hides(subject, context) };
}

const isOfProject = ({ placed: { from } }: CompiledRule): boolean => from === 'project' || from === 'local';

const atLeast = (decision: Decision, least: CompiledRule | undefined): Decision =>
  least !== undefined && decision.action === 'allow' ? toDecision(least) : decision;

const toDecision = (rule: CompiledRule): Decision => ({
  action: rule.action,
  reason: reasonOf(rule),
  hidden: false,
  rule: decidedBy(rule),
});

function byDefault(caller: Caller | undefined, subject: Subject, options: PolicyOptions): Decision {
  const { defaultDecision } = options;
  if (defaultDecision !== undefined && !(caller === undefined && defaultDecision === 'allow'))
    return { action: defaultDecision, reason: `the default is ${defaultDecision}`, hidden: false };
  if (caller === undefined) return HOST_ALLOWED;
  if (subject.kind !== 'tool') return allow('reading is allowed to who may use the server');
  const { hints } = subject;
  const saysReadOnly = hints !== 'unknown' && hints?.readOnlyHint === true;
  if (saysReadOnly && options.serverPolicy(subject.server).trusted)
    return allow('a trusted server says that it only reads');
  return { action: 'ask', reason: 'calls of agents are asked for by default', hidden: false };
}

const FAULTS: Readonly<Record<PinFault, string>> = {
  changed: 'it changed since it was approved',
  new: 'it came after its server was approved',
  unreadable: 'what was approved cannot be read',
};

function heldBack(decision: Decision, pin: PinFault): Decision {
  return { ...decision, action: 'ask', reason: FAULTS[pin], pin, otherwise: decision.action };
}

/** Where the rule stands is told beside it: an agent that reads the reason needs no paths of the machine. */
const reasonOf = ({ action, placed: { rule } }: CompiledRule): string =>
  `a rule says ${action}${rule.reason === undefined ? '' : `: ${rule.reason}`}`;

const decidedBy = ({ index, action, placed: { rule, from, file, line } }: CompiledRule): DecidingRule => ({
  index,
  action,
  from,
  ...(file !== undefined && { file }),
  ...(line !== undefined && { line }),
  ...(rule.reason !== undefined && { reason: rule.reason }),
});
