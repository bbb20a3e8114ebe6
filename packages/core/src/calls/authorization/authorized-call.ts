/**
 * One call during authorization: requests approval, records the decision, and keeps it valid until the call is sent.
 */
import type { CatalogTool } from '../../catalog/tool.js';
import { type TurnbuckleError, toTurnbuckleError } from '../../errors.js';
import type { GivenApproval } from '../../events.js';
import { callDenied, subscriptionNeedsApproval } from '../call-errors.js';
import type { Invocation } from '../invocation.js';
import type { Authorization } from './authorization.js';
import type { CallAuthorizer } from './authorize.js';
import type { AuthorizationObserver, GuardedCall } from './guarded-call.js';

export interface AuthorizedCallParts {
  readonly authorizer: CallAuthorizer;
  /** Where it is recorded. */
  readonly call: Invocation;
  readonly guarded: GuardedCall;
  /** The error if the caller cannot see that the tool exists. */
  readonly unknownError: () => TurnbuckleError;
  /** A subscription: it is allowed, or fails. */
  readonly isSubscription?: boolean | undefined;
}

export class AuthorizedCall implements AuthorizationObserver {
  readonly #parts: AuthorizedCallParts;
  #authorization: Authorization;

  constructor(parts: AuthorizedCallParts) {
    const { authorizer, guarded } = parts;
    this.#parts = parts;
    guarded.observer = this;
    this.#authorization = this.#record(authorizer.authorize(guarded));
  }

  onGranted(definition: CatalogTool | undefined): void {
    const { authorizer, call, guarded } = this.#parts;
    call.energy ??= authorizer.reserveEnergy(guarded, definition);
  }

  onAnswered({ answer, by }: GivenApproval): void {
    this.#parts.call.approval = { answer, by };
  }

  /** The definition that the decision is about. */
  get definition(): CatalogTool | undefined {
    return this.#authorization.definition;
  }

  /** Throws if the call is denied; returns a promise if approval is required; nothing if it is allowed. */
  ensureGranted(): Promise<void> | undefined {
    this.#assertNeedsNoApproval();
    return this.#authorization.granted ? undefined : this.#waitForGrant();
  }

  /** Decides again with the current state. */
  reauthorize(): Promise<void> | undefined {
    const { authorizer, guarded } = this.#parts;
    this.#authorization = this.#record(authorizer.reauthorize(guarded, this.#authorization));
    return this.ensureGranted();
  }

  /** Rejects if the agent's answer in the middle of the call must not be sent. */
  async authorizeAnswer(answer: object): Promise<void> {
    const { authorizer, call, guarded } = this.#parts;
    try {
      const decision = await authorizer.denialForAnswer(guarded, this.#authorization, answer);
      if (decision === undefined) return;
      call.decision = decision;
      call.remembered = false;
      throw callDenied(guarded, decision);
    } catch (thrown) {
      // An answer that cannot be checked is not sent either: the call fails.
      call.answerError ??= toTurnbuckleError(thrown);
      throw call.answerError;
    }
  }

  #waitForGrant(): Promise<void> {
    this.#assertNotDenied();
    return this.#ask();
  }

  async #ask(): Promise<void> {
    const { authorizer, call, guarded } = this.#parts;
    while (!this.#authorization.granted) {
      this.#assertNotDenied();
      const asking = authorizer.ask(guarded, this.#authorization);
      this.#authorization = this.#record(await excludeFromClock(call, asking));
    }
  }

  #assertNeedsNoApproval(): void {
    const { isSubscription, guarded } = this.#parts;
    const { action, reason } = this.#authorization.decision;
    if (isSubscription === true && action === 'ask') throw subscriptionNeedsApproval(guarded, reason);
  }

  /** Throws unless the decision can be changed by an approval. */
  #assertNotDenied(): void {
    const { guarded, unknownError } = this.#parts;
    const { decision, definition } = this.#authorization;
    const isGone = definition === undefined && guarded.definition !== undefined;
    if (isGone || decision.hidden) throw unknownError();
    if (decision.action === 'deny') throw callDenied(guarded, decision);
  }

  #record(authorization: Authorization): Authorization {
    if (!authorization.isAnnounced) return authorization;
    const { call } = this.#parts;
    call.decision = authorization.decision;
    call.remembered = authorization.remembered;
    return authorization;
  }
}

/** The time spent waiting for a person does not count. */
async function excludeFromClock<Result>(call: Invocation, asked: Promise<Result>): Promise<Result> {
  const from = performance.now();
  try {
    return await asked;
  } finally {
    const waitedMs = performance.now() - from;
    call.waitedMs += waitedMs;
    call.clock.exclude(waitedMs);
  }
}
