/** Who stands behind a call, and can be asked and told something while it is on its way. */
import type { RequestKind } from '../config/schema.js';
import type { ServerRequestAnswers } from './server-requests.js';

export interface Respondent {
  /** What it can be asked, in the protocol's words (`ClientCapabilities`); other members pass as they are. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly answers: ServerRequestAnswers;
  /** Respondents of one session can stand in for each other; a client without sessions is named. */
  readonly session?: object | string | undefined;
  /** It has been asked and has not answered yet: what else the server says is rather for another. */
  readonly isWaiting?: (() => boolean) | undefined;
  /** The server asked something, allowed by its configuration, that this one cannot be asked. */
  readonly onUnanswerable?: ((kind: RequestKind) => void) | undefined;
  /** A notification that belongs to the call, such as a log message. Untrusted. */
  readonly onNotice?: ((method: string, params: Readonly<Record<string, unknown>>) => void) | undefined;
}

/**
 * Those behind the calls that are on their way over one connection. Over a channel a server does not say
 * which call it speaks about: what it says is for a respondent only where no other can be meant.
 */
export class Respondents {
  readonly #calls = new Map<Respondent, number>();

  add(respondent: Respondent): void {
    this.#calls.set(respondent, (this.#calls.get(respondent) ?? 0) + 1);
  }

  remove(respondent: Respondent): void {
    const left = (this.#calls.get(respondent) ?? 1) - 1;
    if (left > 0) this.#calls.set(respondent, left);
    else this.#calls.delete(respondent);
  }

  /** The only one there is, or of the only session the latest that does not wait for an answer. */
  get only(): Respondent | undefined {
    const all = [...this.#calls.keys()];
    const last = all.at(-1);
    if (all.length <= 1) return last;
    const session = last?.session;
    if (session === undefined || all.some((one) => one.session !== session)) return undefined;
    return all.reverse().find((one) => one.isWaiting?.() !== true) ?? last;
  }
}
