/** Emits decision events. */
import type { BudgetFault } from '../../energy/budgets.js';
import type { CallKind, Events } from '../../events.js';
import { agentOf, type Caller } from '../../policy/capabilities.js';
import type { Decision } from '../../policy/decide.js';

export interface DecisionSubject {
  readonly requestId: string;
  readonly kind: CallKind;
  readonly server: string;
  readonly tool: string;
  readonly caller: Caller | undefined;
}

export class DecisionEvents {
  readonly #events: Events;
  readonly #reportedAmbiguities = new Set<string>();

  constructor(events: Events) {
    this.#events = events;
  }

  emit(
    { requestId, kind, server, tool, caller }: DecisionSubject,
    decision: Decision,
    remembered: boolean,
  ): void {
    if (caller !== undefined) this.#emitAmbiguity(caller, decision);
    if (!this.#events.has('call.decided')) return;
    this.#events.emit('call.decided', {
      requestId,
      server,
      tool,
      kind,
      callerId: agentOf(caller)?.id,
      decision: decision.action,
      reason: decision.reason,
      rule: decision.rule,
      remembered,
    });
  }

  /** A budget has too little energy left for the call of an agent. */
  emitRefusal({ requestId, server, tool, caller }: DecisionSubject, fault: BudgetFault): void {
    const { budget, name, left, needed, retryAfterMs } = fault;
    this.#events.emit('energy.refused', {
      requestId,
      server,
      tool,
      callerId: caller?.id ?? '',
      for: budget.for,
      name,
      limit: budget.limit,
      left,
      needed,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }

  /** Reported once for each caller and capability: probably a typo in a grant. */
  #emitAmbiguity(caller: Caller, { ambiguous }: Decision): void {
    if (ambiguous === undefined) return;
    const { word: capability, meanings } = ambiguous;
    const key = JSON.stringify([caller.id, capability]);
    if (this.#reportedAmbiguities.has(key)) return;
    this.#reportedAmbiguities.add(key);
    this.#events.emit('capability.ambiguous', { callerId: caller.id, capability, meanings });
  }
}
