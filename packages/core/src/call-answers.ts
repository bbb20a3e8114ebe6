/** The answers that an agent gives in the middle of a call, held to the rules that hold for the call. */
import type { CallOptions } from './call-request.js';
import type { Respondent } from './connection/respondents.js';

type Confirm = NonNullable<Respondent['confirm']>;

/** The same options, with a respondent whose answers are looked at; those of nobody who answers anything are as they were. */
export function withConfirmed(options: CallOptions, respondent: Respondent, confirm: Confirm): CallOptions {
  const { answers } = respondent;
  const answersNothing = !Object.values(answers).some((answer) => answer !== undefined);
  return answersNothing ? options : { ...options, respondent: new ConfirmedRespondent(respondent, confirm) };
}

class ConfirmedRespondent implements Respondent {
  readonly capabilities: Respondent['capabilities'];
  readonly answers: Respondent['answers'];
  readonly session: Respondent['session'];
  readonly isWaiting: Respondent['isWaiting'];
  readonly onUnanswerable: Respondent['onUnanswerable'];
  readonly onNotice: Respondent['onNotice'];
  readonly confirm: Confirm;

  constructor(respondent: Respondent, confirm: Confirm) {
    this.capabilities = respondent.capabilities;
    this.answers = respondent.answers;
    this.session = respondent.session;
    this.isWaiting = respondent.isWaiting?.bind(respondent);
    this.onUnanswerable = respondent.onUnanswerable?.bind(respondent);
    this.onNotice = respondent.onNotice?.bind(respondent);
    this.confirm = confirm;
  }
}
