/** The open questions of a server of an older revision: each answered once, or ended when the server takes it back. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { keepSpelling } from '../json/spelling.js';
import { answerRequest } from './input-rounds.js';
import type { ServerQuestion } from './message.js';
import type { RequestGuard } from './request-guard.js';
import type { Respondent } from './respondents.js';

export interface QuestionsOptions {
  readonly guard: RequestGuard;
  readonly send: (message: JSONRPCMessage) => Promise<void>;
}

const FAILED = { error: { code: -32603, message: 'The host failed to answer' } };

export class Questions {
  readonly #options: QuestionsOptions;
  readonly #open = new Map<unknown, AbortController>();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** Resolves when the server has been told, or cannot be told any more. Never rejects. */
  async answer(question: ServerQuestion, respondent: Respondent | undefined): Promise<void> {
    const { id, method, params } = question;
    const { guard, send } = this.#options;
    const abort = new AbortController();
    this.#open.set(id, abort);
    const reply = await answerRequest(method, params, { guard, signal: abort.signal, respondent, id }).catch(
      () => FAILED,
    );
    this.#open.delete(id);
    if (abort.signal.aborted) return;
    // An id of more digits than a number holds goes back as it came.
    const tell = async (said: object): Promise<void> =>
      send(keepSpelling(question, { jsonrpc: '2.0', id, ...said } as JSONRPCMessage));
    // What the host answered may be no JSON; a server that asked is not left waiting for that.
    await tell(reply)
      .catch(() => tell(FAILED))
      .catch(() => {});
  }

  /** The server does not want to know any more. */
  cancel(id: unknown): void {
    this.#open.get(id)?.abort();
  }

  close(): void {
    for (const abort of this.#open.values()) abort.abort();
  }
}
