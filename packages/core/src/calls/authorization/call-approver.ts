/** Requests approval for a call: what is shown, what the answer covers, and how "always" is stored. */
import { createHash } from 'node:crypto';
import type { ApprovalAnswer } from '../../approvals/approval-request.js';
import type { ApprovalQuestion, Approvals, FullCall } from '../../approvals/approvals.js';
import type { Pins } from '../../approvals/pins.js';
import type { CatalogTool } from '../../catalog/tool.js';
import type { PlacedRule, Rule } from '../../config/schema/rule-schema.js';
import type { Energy } from '../../energy/energy.js';
import type { ApprovalRequestData, Events } from '../../events.js';
import { withExactNumbers, withNumbersAsText } from '../../json/exact-number.js';
import { isRecord } from '../../json/is-record.js';
import { inSlices } from '../../json/slices.js';
import type { OmittedCounts } from '../../json/truncate-value.js';
import { agentOf, identityOf } from '../../policy/capabilities.js';
import type { Decision, PolicyOptions } from '../../policy/decide.js';
import type { Redactor } from '../../redaction/redactor.js';
import { escapeGlob } from '../../text/glob.js';
import { toolChangedDuringApproval } from '../call-errors.js';
import { describeExtras, hasMeaningfulMeta, requestSignature } from '../request-content.js';
import type { Authorization, FindCurrentDefinition } from './authorization.js';
import type { AuthorizationSettings } from './authorization-settings.js';
import { itemOf } from './effective-policy.js';
import type { AuthorizationObserver, GuardedCall } from './guarded-call.js';
import type { Permit } from './permit.js';

export interface CallApproverOptions {
  readonly approvals: Approvals;
  readonly pins: Pins;
  /** The current definition of the tool. */
  readonly findCurrentDefinition: FindCurrentDefinition;
  readonly events: Events;
  readonly now: () => number;
  readonly redactor: Pick<Redactor, 'truncated' | 'large'>;
  readonly serverPolicy: PolicyOptions['serverPolicy'];
  /** The rules in effect. */
  readonly rules: () => readonly PlacedRule[];
  readonly onAlways: AuthorizationSettings['onAlways'];
  /** How long an agent's call waits before APPROVAL_PENDING. */
  readonly maxWaitMs: number | undefined;
  readonly energy: Energy | undefined;
  /** False if the servers are not in a configuration file, where a rule would have no effect. */
  readonly offersAlways: boolean;
}

/** Shown characters of the arguments; longer text is unreadable. */
const MAX_SHOWN_CHARACTERS = 32 * 1_024;
/** The same for the other content that is sent. */
const MAX_SHOWN_EXTRAS_CHARACTERS = 8 * 1_024;

/** A decision, with the definition it was about. */
type DecidedCall = Pick<Authorization, 'decision' | 'definition' | 'permits'>;

interface ShownCall extends Pick<ApprovalRequestData, 'arguments'> {
  readonly alsoSent: ApprovalRequestData['alsoSent'] | undefined;
  readonly notShown: OmittedCounts;
}

/** Sources of rules that take precedence over an "always" rule. */
const OVERRIDING_SOURCES: ReadonlySet<string> = new Set(['managed', 'options', 'flags', 'environment']);

/** Equal for the same caller, tool, definition, reason and content. */
const callKey = (call: GuardedCall, memory: string): string =>
  createHash('sha256').update(memory).update(requestSignature(call)).digest('base64url');

export class CallApprover {
  readonly #options: CallApproverOptions;

  constructor(options: CallApproverOptions) {
    this.#options = options;
  }

  /** Whether an existing approval covers this call: for the session or for this call. */
  approvalScope(call: GuardedCall, decided: DecidedCall): 'session' | 'call' | undefined {
    if (this.#options.approvals.hasSessionApproval(this.#sessionKeyOf(call, decided))) return 'session';
    const asked = this.#permitFor(decided);
    // The approval was for the original content: what is sent now has not been seen.
    const isSeen = call.extras === undefined || !hasMeaningfulMeta(call.extras);
    if (call.permit !== undefined && isSeen && covers(call.permit, asked)) return 'session';
    return decided.permits.some((permit) => covers(permit, asked)) ? 'call' : undefined;
  }

  /** Resolves when approved, with what the approval covers; rejects otherwise. */
  async ask(call: GuardedCall, decided: DecidedCall): Promise<Permit> {
    const { approvals } = this.#options;
    // Computed before waiting: the approval is about this state.
    const memory = this.#sessionKeyOf(call, decided);
    const permit = this.#permitFor(decided);
    const rule = this.#askingRule(decided.decision);
    const question = {
      ...this.#toQuestion(call, decided, memory),
      key: callKey(call, memory),
      saveAlways: () => this.#saveAlways(call, decided, rule),
      loadFull: () => this.#redactFullCall(call),
    };
    const maxWaitMs = this.#maxWaitFor(call);
    const { onApproval: onAsked, observer } = call;
    const onAnswered: AuthorizationObserver['onAnswered'] = (given) => observer?.onAnswered(given);
    const answer = await approvals.ask(question, call.signal, { maxWaitMs, onAsked, onAnswered });
    this.#assertUnchanged(call, decided);
    call.onPermit?.(permit);
    if (answer !== 'once') approvals.approveForSession(memory);
    if (answer === 'always') await this.#saveAlways(call, decided, rule);
    return permit;
  }

  /** The host waits indefinitely for its own calls, unless it sets a limit; an agent's client times out. */
  #maxWaitFor({ caller, approvalWaitMs }: GuardedCall): number | undefined {
    const usual = agentOf(caller) === undefined ? undefined : this.#options.maxWaitMs;
    if (usual === undefined || approvalWaitMs === undefined) return approvalWaitMs ?? usual;
    return Math.min(usual, approvalWaitMs);
  }

  #permitFor({ decision, definition }: DecidedCall): Permit {
    const rules = [this.#askingRule(decision)?.rule, decision.limit?.rule].filter(
      (rule) => rule !== undefined,
    );
    return {
      hash: definition === undefined ? null : this.#options.pins.hashOf(definition),
      asking: rules.map(ruleHash),
      pin: decision.pin,
      flow: decision.flow === true,
    };
  }

  #toQuestion(
    call: GuardedCall,
    { decision, definition }: DecidedCall,
    sessionKey: string,
  ): ApprovalQuestion {
    const { requestId, kind, server, tool, toolName } = call;
    const caller = agentOf(call.caller);
    const change =
      decision.pin === 'changed' && definition && this.#options.pins.diffSinceApproval(definition);
    const { arguments: args, alsoSent, notShown } = this.#redactCall(call);
    const isCut = notShown.characters + notShown.members > 0;
    return {
      sessionKey,
      requestId,
      kind,
      server,
      tool,
      toolName,
      ...(caller !== undefined && { callerId: caller.id, identity: identityOf(caller) }),
      arguments: args,
      ...(alsoSent !== undefined && { alsoSent }),
      ...(isCut && { isCut, notShown }),
      ...(definition?.annotations !== undefined && { annotations: { ...definition.annotations } }),
      trusted: this.#options.serverPolicy(server).trusted,
      reason: decision.reason,
      ...(decision.rule !== undefined && { rule: decision.rule }),
      ...this.#estimateFor(call, definition),
      ...(change && { change }),
      answers: answersFor(decision, { isCut, offersAlways: this.#options.offersAlways }),
    };
  }

  #estimateFor(
    { server, tool, kind }: GuardedCall,
    definition: CatalogTool | undefined,
  ): Pick<ApprovalRequestData, 'energy'> {
    const { energy } = this.#options;
    if (energy === undefined || definition?.native === true) return {};
    return { energy: energy.estimate(itemOf({ server, tool, kind, definition })) };
  }

  /** Everything that is sent, up to the display limits. */
  #redactCall({ exactArguments, extras }: GuardedCall): ShownCall {
    const { redactor } = this.#options;
    const args = redactor.truncated(exactArguments, MAX_SHOWN_CHARACTERS);
    const sent = extras && describeExtras(extras);
    const also = sent && redactor.truncated(withExactNumbers(sent), MAX_SHOWN_EXTRAS_CHARACTERS);
    return {
      arguments: isRecord(args.value) ? args.value : {},
      alsoSent: isRecord(also?.value) ? also.value : undefined,
      notShown: {
        characters: args.notShown.characters + (also?.notShown.characters ?? 0),
        members: args.notShown.members + (also?.notShown.members ?? 0),
      },
    };
  }

  /** The same without limits, in slices. */
  async #redactFullCall({ exactArguments, extras }: GuardedCall): Promise<FullCall> {
    const { large } = this.#options.redactor;
    const whole = async (value: object): Promise<Readonly<Record<string, unknown>>> => {
      const clean = await large.value(await inSlices(withNumbersAsText(value)));
      return isRecord(clean) ? clean : {};
    };
    const sent = extras && describeExtras(extras);
    return {
      arguments: await whole(exactArguments),
      ...(sent !== undefined && { alsoSent: await whole(withExactNumbers(sent)) }),
    };
  }

  /** A session approval covers this caller, definition and reason. */
  #sessionKeyOf(call: GuardedCall, { decision, definition }: DecidedCall): string {
    const { kind, server, tool } = call;
    const { pin, flow, limit } = decision;
    const caller = agentOf(call.caller);
    const asking = [this.#askingRule(decision)?.rule ?? null, limit?.rule ?? null];
    const hash = definition === undefined ? null : this.#options.pins.hashOf(definition);
    // Flows of one run do not affect another.
    const run = flow === true ? [caller?.run ?? null] : null;
    const who = caller === undefined ? null : identityOf(caller);
    return JSON.stringify([who, kind, server, tool, hash, pin ?? null, asking, run]);
  }

  /** The rule that decided, if any. */
  #askingRule({ rule }: Decision): PlacedRule | undefined {
    return rule === undefined || rule.from === 'view' ? undefined : this.#options.rules()[rule.index];
  }

  /** Pins the definition that was shown, not what the server changed it to meanwhile. */
  #assertUnchanged({ toolName, caller }: GuardedCall, { definition }: DecidedCall): void {
    if (definition === undefined || definition.native) return;
    const now = this.#options.findCurrentDefinition(definition, caller);
    if (now === undefined || this.#options.pins.hashOf(now) !== this.#options.pins.hashOf(definition))
      throw toolChangedDuringApproval(toolName);
  }

  /** Stores a rule for the caller and pins the definition. If that fails, the approval holds for the session. */
  async #saveAlways(
    call: GuardedCall,
    { decision, definition }: DecidedCall,
    asked: PlacedRule | undefined,
  ): Promise<void> {
    const { server, tool } = call;
    const { onAlways } = this.#options;
    try {
      if (definition !== undefined) await this.#options.pins.pinTools([definition], 'approval');
      if (decision.otherwise === 'allow' || onAlways === undefined) return;
      await onAlways(this.#toRule(call, asked), asked);
    } catch (error) {
      this.#options.events.emit('approval.lost', { server, tool, error });
    }
  }

  #toRule({ server, tool, kind, ...call }: GuardedCall, asked: PlacedRule | undefined): Rule {
    const caller = agentOf(call.caller);
    const { scope } = this.#options.serverPolicy(server);
    return {
      action: 'allow',
      server: escapeGlob(server),
      tool: escapeGlob(tool),
      ...(kind !== 'tool' && { kind }),
      ...(scope !== undefined && { scope }),
      caller: caller === undefined ? 'host' : escapeGlob(caller.id),
      // If arguments caused the request, the rule is limited to such arguments.
      ...(asked?.rule.arguments !== undefined && { arguments: asked.rule.arguments }),
      ...(asked?.rule.secrets !== undefined && { secrets: asked.rule.secrets }),
      reason: `approved ${new Date(this.#options.now()).toISOString().slice(0, 10)}`,
    };
  }
}

/** Short, because permits are stored in ids; changes with any part of the rule. */
const ruleHash = (rule: Rule): string =>
  createHash('sha256').update(JSON.stringify(rule)).digest('base64url').slice(0, 22);

/** An approval covers the same or fewer reasons, never other ones. */
const covers = (permit: Permit, asked: Permit): boolean =>
  permit.hash === asked.hash &&
  asked.asking.every((rule) => permit.asking.includes(rule)) &&
  (asked.pin === undefined || asked.pin === permit.pin) &&
  (!asked.flow || permit.flow);

interface AnswerOptions {
  readonly isCut: boolean;
  readonly offersAlways: boolean;
}

function answersFor(
  { rule, otherwise, flow, limit }: Decision,
  { isCut, offersAlways }: AnswerOptions,
): readonly ApprovalAnswer[] {
  // Someone who has not seen all of one call cannot approve further ones.
  if (isCut) return ['once', 'deny'];
  // The rule, or the flow of the run, would ask again: "always" would have no effect or remove the guard.
  const isUseless =
    !offersAlways ||
    flow === true ||
    limit !== undefined ||
    (rule !== undefined && otherwise !== 'allow' && OVERRIDING_SOURCES.has(rule.from));
  return isUseless ? ['once', 'session', 'deny'] : ['once', 'session', 'always', 'deny'];
}
