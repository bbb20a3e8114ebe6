/** The client behind a call, which can answer requests and receive notifications while the call is in flight. */
import type { RequestKind } from '../../config/schema/schema.js';
import type { ServerRequestAnswers } from './host-requests.js';

export interface ClientResponder {
  /** The requests it can answer, in the protocol's terms (`ClientCapabilities`); other members pass unchanged. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly answers: ServerRequestAnswers;
  /** Responders of one session can replace each other; a client without sessions is named. */
  readonly session?: object | string | undefined;
  /** It has a pending request: other messages of the server are rather for another. */
  readonly isWaiting?: (() => boolean) | undefined;
  /** The server sent a request, allowed by its configuration, that this one cannot answer. */
  readonly onUnanswerable?: ((kind: RequestKind) => void) | undefined;
  /**
   * Called for each answer before it is sent; rejects if it must not be sent. Set by the runtime, according to the
   * rules for its call.
   */
  readonly confirm?: ((answer: object) => Promise<void>) | undefined;
  /** A notification that belongs to the call, such as a log message. Untrusted. */
  readonly onNotice?: ((method: string, params: Readonly<Record<string, unknown>>) => void) | undefined;
}

/**
 * The responders of the calls in flight on one connection. Over a channel a server does not say which call a message
 * belongs to: it is for a responder only if no other is possible.
 */
export class ClientResponders {
  /** One per call, in order of their start. Not a Map: see pending-requests.ts. */
  readonly #responders: ClientResponder[] = [];

  add(responder: ClientResponder): void {
    this.#responders.push(responder);
  }

  remove(responder: ClientResponder): void {
    const at = this.#responders.indexOf(responder);
    if (at !== -1) this.#responders.splice(at, 1);
  }

  /** The only one, or the latest of the only session that has no pending request. */
  get unambiguous(): ClientResponder | undefined {
    const all = [...this.#responders];
    const last = all.at(-1);
    if (all.every((one) => one === last)) return last;
    const session = last?.session;
    if (session === undefined || all.some((one) => one.session !== session)) return undefined;
    return all.reverse().find((one) => one.isWaiting?.() !== true) ?? last;
  }
}
