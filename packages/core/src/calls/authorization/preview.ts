/** The decision about a hypothetical call: no event, no approval request, no record. */
import type { Pins } from '../../approvals/pins.js';
import type { Catalog } from '../../catalog/catalog.js';
import type { CallKind } from '../../events.js';
import { withExactNumbers } from '../../json/exact-number.js';
import type { Caller } from '../../policy/capabilities.js';
import { type Decision, decide, isSurelyVisible, type Subject } from '../../policy/decide.js';
import { type Explanation, explain } from '../../policy/explain.js';
import { toolSubject } from './call-subject.js';
import type { EffectivePolicy } from './effective-policy.js';

export interface DecisionRequest {
  readonly server: string;
  readonly tool: string;
  readonly kind?: CallKind | undefined;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly caller?: Caller | undefined;
}

export class DecisionPreview {
  readonly #policy: EffectivePolicy;
  readonly #pins: Pins;
  readonly #catalog: Catalog;

  constructor({ policy, pins, catalog }: { policy: EffectivePolicy; pins: Pins; catalog: Catalog }) {
    this.#policy = policy;
    this.#pins = pins;
    this.#catalog = catalog;
  }

  decide({ caller, ...request }: DecisionRequest): Decision {
    return decide(caller, this.#subjectOf(request), this.#policy.options);
  }

  /** The same, with the rules that were evaluated. */
  explain({ caller, ...request }: DecisionRequest): Explanation {
    const subject = this.#subjectOf(request);
    const explanation = explain(caller, subject, this.#policy.options);
    const isHeld = subject.hints === 'unknown' && this.#pins.appliesTo(request.server, request.tool);
    const unsure = explanation.unsure || (isHeld && explanation.decision.action !== 'deny');
    return { ...explanation, unsure, labels: this.#policy.labelsOf(subject) };
  }

  /** Whether a caller can see it, whether or not it exists now. */
  canSee({ caller, ...request }: DecisionRequest): boolean {
    return caller === undefined || isSurelyVisible(caller, this.#subjectOf(request), this.#policy.options);
  }

  #subjectOf({ server, tool, kind = 'tool', arguments: given }: Omit<DecisionRequest, 'caller'>): Subject {
    const args = given && withExactNumbers(given);
    const found = kind === 'tool' ? this.#catalog.find(server, tool) : undefined;
    if (found !== undefined) return toolSubject(found, args);
    return { server, tool, kind, hints: 'unknown', arguments: args };
  }
}
