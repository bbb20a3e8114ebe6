/** Applies the rules of a call to the answers that an agent gives in the middle of it. */

import type { ClientResponder } from '../../connection/server-requests/client-responders.js';
import { agentOf } from '../../policy/capabilities.js';
import type { CallOptions } from '../call-request.js';
import type { AuthorizedCall } from './authorized-call.js';

type Confirm = NonNullable<ClientResponder['confirm']>;

/** The same options, with handlers that check the agent's answers against the rules. */
export function withGuardedAnswers(options: CallOptions, authorized: AuthorizedCall): CallOptions {
  const { responder, caller } = options;
  if (responder === undefined || agentOf(caller) === undefined) return options;
  const answersNothing = !Object.values(responder.answers).some((answer) => answer !== undefined);
  if (answersNothing) return options;
  const confirm: Confirm = (answer) => authorized.authorizeAnswer(answer);
  return { ...options, responder: new GuardedResponder(responder, confirm) };
}

class GuardedResponder implements ClientResponder {
  readonly capabilities: ClientResponder['capabilities'];
  readonly answers: ClientResponder['answers'];
  readonly session: ClientResponder['session'];
  readonly isWaiting: ClientResponder['isWaiting'];
  readonly onUnanswerable: ClientResponder['onUnanswerable'];
  readonly onNotice: ClientResponder['onNotice'];
  readonly confirm: Confirm;

  constructor(responder: ClientResponder, confirm: Confirm) {
    this.capabilities = responder.capabilities;
    this.answers = responder.answers;
    this.session = responder.session;
    this.isWaiting = responder.isWaiting?.bind(responder);
    this.onUnanswerable = responder.onUnanswerable?.bind(responder);
    this.onNotice = responder.onNotice?.bind(responder);
    this.confirm = confirm;
  }
}
