/** Emits decision events. */
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
