/**
 * The "authorize" step of a call: may this caller make this call now? A denial is returned, not thrown. `ask`
 * requests approval from a person.
 */
import type { Pins } from '../../approvals/pins.js';
import type { Catalog } from '../../catalog/catalog.js';
import type { CatalogTool } from '../../catalog/tool.js';
import type { Energy, EnergyUse } from '../../energy/energy.js';
import type { Events } from '../../events.js';
import { agentOf, type Caller } from '../../policy/capabilities.js';
import { type Decision, decide } from '../../policy/decide.js';
import { toolKeepsChanging } from '../call-errors.js';
import type { RequestExtras } from '../call-request.js';
import type { ArgumentScanner } from './argument-scanner.js';
import type { Authorization, FindCurrentDefinition } from './authorization.js';
import type { CallApprover } from './call-approver.js';
import { callSubject } from './call-subject.js';
import { DecisionEvents, type DecisionSubject } from './decision-events.js';
import { type EffectivePolicy, itemOf, spenderOf } from './effective-policy.js';
import type { GuardedCall } from './guarded-call.js';
import type { Permit } from './permit.js';
import type { Visibility } from './visibility.js';

export interface AuthorizerParts {
  readonly policy: EffectivePolicy;
  readonly pins: Pins;
  readonly catalog: Catalog;
  readonly events: Events;
  readonly scanner: ArgumentScanner;
  readonly visibility: Visibility;
  readonly approver: CallApprover;
  readonly energy: Energy | undefined;
  readonly findCurrentDefinition: FindCurrentDefinition;
}

type Arguments = GuardedCall['arguments'];
/** `granted`: it was granted before, and what it may cost is reserved. */
type DecisionBasis = Pick<Authorization, 'definition' | 'permits' | 'granted'>;

/** How often a person is asked about one call if the tool or the rules keep changing. */
const MAX_QUESTIONS = 3;
const NO_PERMITS: readonly Permit[] = [];

export class CallAuthorizer {
  readonly #parts: AuthorizerParts;
  readonly #decisionEvents: DecisionEvents;

  constructor(parts: AuthorizerParts) {
    this.#parts = parts;
    this.#decisionEvents = new DecisionEvents(parts.events);
  }

  /**
   * The arguments with exact numbers; a promise if they are large. If the caller cannot see the tool, large arguments
   * are not scanned.
   */
  prepareArguments(
    { arguments: args, extras }: Pick<GuardedCall, 'arguments' | 'extras'>,
    call: Pick<GuardedCall, 'kind' | 'server' | 'tool'>,
    caller: Caller | undefined,
  ): Promise<Arguments> | Arguments {
    const { scanner, visibility, policy } = this.#parts;
    const isAbout = ({ rule }: EffectivePolicy['rules'][number]): boolean => rule.secrets === true;
    return scanner.prepare({
      arguments: args,
      extras,
      isWanted: () => caller === undefined || visibility.decideUndiscovered(caller, call).action !== 'deny',
      needsSecretScan: () => policy.rules.some(isAbout) || caller?.limits?.rules?.some(isAbout) === true,
    });
  }

  authorize(call: GuardedCall): Authorization {
    // Decide about what will be called: on a dedicated connection of the caller the tool may differ.
    const definition = this.#parts.findCurrentDefinition(call.definition, call.caller) ?? call.definition;
    return this.#decide(call, { definition, permits: NO_PERMITS, granted: false }, true);
  }

  /**
   * Called right before sending and before each retry. Returns the same result if nothing changed that the decision
   * depends on. Otherwise decides again about the current definition.
   */
  reauthorize(call: GuardedCall, before: Authorization): Authorization {
    const { policy, findCurrentDefinition } = this.#parts;
    const definition = findCurrentDefinition(before.definition, call.caller);
    const isSame = definition === before.definition && before.version === policy.version;
    if (isSame && before.config === policy.serverConfig(call.server)) return before;
    if (definition === undefined && before.definition !== undefined)
      return { ...before, definition, granted: false, isAnnounced: false };
    return this.#decide(call, { ...before, definition }, false);
  }

  /** Requests approval, then decides with the answer. Rejects if no approver is available or the answer is no. */
  async ask(call: GuardedCall, before: Authorization): Promise<Authorization> {
    const { policy, pins, approver, findCurrentDefinition } = this.#parts;
    if (before.permits.length >= MAX_QUESTIONS) throw toolKeepsChanging(call.toolName);
    const { definition, permits } = before;
    let { decision } = before;
    if (decision.pin !== undefined) {
      // It may have been approved in another process.
      await pins.load();
      decision = decide(call.caller, callSubject(call, definition), policy.options);
      const current = findCurrentDefinition(definition, call.caller) ?? definition;
      if (decision.action !== 'ask')
        return this.#decide(call, { definition: current, permits, granted: false }, true);
    }
    const permit = await approver.ask(call, { decision, definition, permits });
    // Changes during the wait for approval count.
    return this.reauthorize(call, { ...before, permits: [...permits, permit], version: Number.NaN });
  }

  /**
   * An agent's answer to a server request in the middle of a call goes to the same server. Returns the denial if the
   * call would not have been allowed with this content. No approval is requested here.
   */
  async denialForAnswer(
    call: GuardedCall,
    { definition }: Pick<Authorization, 'definition'>,
    answer: object,
  ): Promise<Decision | undefined> {
    const { policy } = this.#parts;
    const extras: RequestExtras = [undefined, undefined, { answer }, undefined, undefined];
    await this.prepareArguments({ arguments: {}, extras }, call, call.caller);
    const decideWith = (sent: GuardedCall): Decision =>
      decide(sent.caller, { ...callSubject(sent, definition), hasReservation: true }, policy.options);
    const before = decideWith(call);
    const after = decideWith({ ...call, extras });
    const isAsBefore = after.action === before.action && after.reason === before.reason;
    if (after.action === 'allow' || (after.action === 'ask' && isAsBefore)) return undefined;
    const reason = `the response to the server was not sent because ${after.reason}`;
    const decision: Decision = { ...after, action: 'deny', reason };
    this.#decisionEvents.emit(call, decision, false);
    return decision;
  }

  /** Whether the caller can see an item whose definition is not loaded yet; returns the denial if not. */
  denialForUndiscovered(call: DecisionSubject, caller: Caller): Decision | undefined {
    const decision = this.#parts.visibility.decideUndiscovered(caller, call);
    if (decision.action !== 'deny') return undefined;
    this.#decisionEvents.emit(call, decision, false);
    return decision;
  }

  /** The call may use energy from now on: what it probably costs is reserved. Undefined without a meter. */
  reserveEnergy(call: GuardedCall, definition: CatalogTool | undefined): EnergyUse | undefined {
    const { energy } = this.#parts;
    if (energy === undefined || definition?.native === true) return undefined;
    const agent = agentOf(call.caller);
    const { server, tool, kind } = call;
    return energy.begin(itemOf({ server, tool, kind, definition }), agent && spenderOf(agent, server));
  }

  #decide(call: GuardedCall, basis: DecisionBasis, isFirst: boolean): Authorization {
    const { policy, approver } = this.#parts;
    const { definition, permits } = basis;
    const config = policy.serverConfig(call.server);
    const plain = callSubject(call, definition);
    const subject = basis.granted ? ({ ...plain, hasReservation: true } as const) : plain;
    const decision = decide(call.caller, subject, policy.options);
    const decided = { decision, definition, permits };
    const answered = decision.action === 'ask' ? approver.approvalScope(call, decided) : undefined;
    const granted = decision.action === 'allow' || answered !== undefined;
    // A decision that still allows the call is not reported again.
    const isAnnounced = isFirst || !granted;
    const remembered = isFirst && answered === 'session';
    if (isAnnounced) this.#decisionEvents.emit(call, decision, remembered);
    if (decision.budget !== undefined) this.#decisionEvents.emitRefusal(call, decision.budget);
    const agent = agentOf(call.caller);
    // Flows are tracked for agents only, not for the host.
    if (granted && agent !== undefined) policy.recordFlow(agent, subject);
    if (granted) call.observer?.onGranted(definition);
    return {
      decision,
      granted,
      remembered,
      isAnnounced,
      definition,
      permits,
      version: policy.version,
      config,
    };
  }
}
