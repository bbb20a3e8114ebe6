/** Explains a decision: the rules that nearly matched, and the key by which each of them did not. */
import type { PlacedRule } from '../config/schema/rule-schema.js';
import type { Label } from '../config/schema/schema.js';
import { agentOf, type Caller } from './capabilities.js';
import { type Decision, decide, type PolicyOptions, type Subject } from './decide.js';
import { dependsOnTool, firstMismatch, type RuleKey } from './rules.js';

/** A rule for this server and tool that did not decide. */
export interface SkippedRule {
  readonly index: number;
  readonly placed: PlacedRule;
  /** The key that the call does not match. */
  readonly because: RuleKey;
}

export interface Explanation {
  readonly decision: Decision;
  /** Rules for this server and tool that were tried before the deciding one, in order. */
  readonly passed: readonly SkippedRule[];
  /** The tool's current definition was not known, and might change the decision. */
  readonly unsure: boolean;
  /** The labels that the call would add to its run. */
  readonly labels: readonly Label[];
}

export function explain(
  caller: Caller | undefined,
  subject: Subject,
  options: PolicyOptions,
): Omit<Explanation, 'labels'> {
  const decision = decide(caller, subject, options);
  const { trusted, scope } = options.serverPolicy(subject.server);
  const context = { callerId: agentOf(caller)?.id, trusted, scope };
  const last = decision.rule?.from === 'view' ? Infinity : (decision.rule?.index ?? Infinity);
  const asked = options.rules?.candidates(subject) ?? [];
  const passed =
    decision.hidden && decision.rule === undefined ? [] : asked.filter(({ index }) => index < last);
  const isUnknown = subject.hints === 'unknown' && subject.kind === 'tool';
  return {
    decision,
    passed: passed.map((rule) => ({
      index: rule.index,
      placed: rule.placed,
      because: firstMismatch(rule, subject, context) ?? argumentKey(rule.placed),
    })),
    unsure:
      isUnknown &&
      (asked.some((rule) => rule.index <= last && dependsOnTool(rule)) ||
        (decision.rule === undefined && trusted && decision.action === 'ask')),
  };
}

const argumentKey = ({ rule }: PlacedRule): RuleKey =>
  rule.secrets === true && rule.arguments === undefined ? 'secrets' : 'arguments';
