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
  /** Asked about each answer before it is sent; rejects when it may not be. Set by the runtime, by the rules for its call. */
  readonly confirm?: ((answer: object) => Promise<void>) | undefined;
  /** A notification that belongs to the call, such as a log message. Untrusted. */
  readonly onNotice?: ((method: string, params: Readonly<Record<string, unknown>>) => void) | undefined;
}

/**
 * Those behind the calls that are on their way over one connection. Over a channel a server does not say
 * which call it speaks about: what it says is for a respondent only where no other can be meant.
 */
export class Respondents {
  /** Once for each call, in the order in which they began. Not a Map: see slots.ts. */
  readonly #calls: Respondent[] = [];

  add(respondent: Respondent): void {
    this.#calls.push(respondent);
  }

  remove(respondent: Respondent): void {
    const at = this.#calls.indexOf(respondent);
    if (at !== -1) this.#calls.splice(at, 1);
  }

  /** The only one there is, or of the only session the latest that does not wait for an answer. */
  get only(): Respondent | undefined {
    const all = [...this.#calls];
    const last = all.at(-1);
    if (all.every((one) => one === last)) return last;
    const session = last?.session;
    if (session === undefined || all.some((one) => one.session !== session)) return undefined;
    return all.reverse().find((one) => one.isWaiting?.() !== true) ?? last;
  }
}
