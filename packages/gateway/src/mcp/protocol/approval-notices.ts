/**
 * Tells the client behind a call that a person is asked about it: by progress where the client wants that, by a log
 * message otherwise, and by a form where it can show one. A form can refuse the call; it gives the approval only where
 * the configuration says so, for a program could answer its own question.
 */
import {
  type ApprovalRequest,
  type CancelSignal,
  type DaemonSettings,
  type Progress,
  type Respondent,
  type Runtime,
  shortened,
  showLine,
} from 'turnbuckle';

export type ApprovalForms = NonNullable<DaemonSettings['approvalForms']>;

export interface NoticeTo {
  readonly callerId: string;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly respondent?: Respondent | undefined;
  readonly signal?: CancelSignal | undefined;
}

/** Of the arguments; people read no more in a form. */
const MAX_SENT = 1_000;
/** Of the line that has them: names of many arguments, and what is spelt out, take more. */
const MAX_LINE = 4_000;

export interface NoticeOptions {
  readonly forms: () => ApprovalForms;
  /** Only the client can be asked: where it cannot show a form that approves, the call fails at once. */
  readonly isAlone: boolean;
}

export class ApprovalNotices {
  readonly #runtime: Runtime;
  readonly #forms: () => ApprovalForms;
  readonly #isAlone: boolean;
  /** Questions that a form is shown for. */
  readonly #shown = new Set<string>();

  constructor(runtime: Runtime, { forms, isAlone }: NoticeOptions) {
    this.#runtime = runtime;
    this.#forms = forms;
    this.#isAlone = isAlone;
    if (!isAlone) return;
    runtime.on('approval.asked', ({ id }) =>
      // The client of the call is told in the same turn.
      queueMicrotask(() => {
        if (!this.#shown.has(id)) runtime.approvals.abandon(id);
      }),
    );
  }

  /** Never throws. */
  tell(asked: ApprovalRequest, { callerId, onProgress, respondent, signal }: NoticeTo): void {
    try {
      const { elicitation } = respondent?.answers ?? {};
      if (this.#isAlone) {
        if (elicitation === undefined || this.#forms() !== 'approve') return;
        this.#shown.add(asked.id);
        void this.#show(asked, { elicitation, callerId, signal }).finally(() => {
          this.#shown.delete(asked.id);
          // Neither yes nor no, and there is nobody else.
          this.#runtime.approvals.abandon(asked.id);
        });
        return;
      }
      const data = textOf(asked);
      if (onProgress !== undefined) onProgress({ progress: 0, message: data });
      else respondent?.onNotice?.('notifications/message', { level: 'warning', logger: 'turnbuckle', data });
      if (elicitation !== undefined && this.#forms() !== 'off')
        void this.#show(asked, { elicitation, callerId, signal });
    } catch {
      // The call waits whether its client hears of it or not.
    }
  }

  async #show(asked: ApprovalRequest, { elicitation, callerId, signal }: Showing): Promise<void> {
    const over = new AbortController();
    const end = (): void => over.abort();
    const stops = [
      this.#runtime.on('approval.answered', ({ id }) => {
        if (id === asked.id) end();
      }),
      this.#runtime.on('call.settled', ({ requestId }) => {
        if (requestId === asked.requestId) end();
      }),
    ];
    signal?.addEventListener('abort', end, { once: true });
    try {
      const message = this.#messageFor(asked);
      const requestedSchema = { type: 'object' as const, properties: {} };
      const params = { message, requestedSchema };
      const shown = { server: asked.server, mode: 'form' as const, signal: over.signal, params, ...params };
      const { action } = await elicitation(shown);
      const { approvals } = this.#runtime;
      if (action === 'decline') approvals.answer(asked.id, 'deny', callerId);
      if (action === 'accept' && this.#forms() === 'approve') approvals.answer(asked.id, 'once', callerId);
    } catch {
      // It was answered elsewhere, or the client cannot show it after all.
    } finally {
      signal?.removeEventListener('abort', end);
      for (const stop of stops) stop();
    }
  }

  /** Who approves sees what would be sent: arguments without secrets, as one line. */
  #messageFor(asked: ApprovalRequest): string {
    if (this.#forms() !== 'approve') return textOf(asked);
    const { toolName, reason } = asked;
    const { alsoSent } = asked;
    const all = alsoSent === undefined ? asked.arguments : { arguments: asked.arguments, ...alsoSent };
    const { value, isCut } = shortened(all, MAX_SENT);
    const line = showLine(JSON.stringify(value), MAX_LINE);
    const sent = isCut || asked.isCut === true ? `${line} (not all of it is shown here)` : line;
    const first = this.#isAlone ? `The call of ${toolName} needs an approval (${reason}).` : textOf(asked);
    return `${first} It would be sent: ${sent} Accepting this approves it, once.`;
  }
}

interface Showing extends Pick<NoticeTo, 'callerId' | 'signal'> {
  readonly elicitation: NonNullable<Respondent['answers']['elicitation']>;
}

/** For the person at the client. The id is ours; the name of the tool is its server's, and is told to the client anyway. */
const textOf = ({ id, toolName, reason }: ApprovalRequest): string =>
  `The call of ${toolName} waits for an approval (${reason}). Approve it on the machine of the daemon: turnbuckle approvals answer ${id} once.`;
