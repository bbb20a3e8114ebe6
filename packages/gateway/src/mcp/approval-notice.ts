/**
 * Tells the client behind a call that a person is asked about it: by progress where the client wants that, by a log
 * message otherwise, and by a form where it can show one. A form can refuse the call; it gives the approval only where
 * the configuration says so, for a program could answer its own question.
 */
import type {
  ApprovalRequest,
  CancelSignal,
  DaemonSettings,
  Progress,
  Respondent,
  Runtime,
} from 'turnbuckle';

export type ApprovalForms = NonNullable<DaemonSettings['approvalForms']>;

export interface NoticeTo {
  readonly callerId: string;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly respondent?: Respondent | undefined;
  readonly signal?: CancelSignal | undefined;
}

export class ApprovalNotices {
  readonly #runtime: Runtime;
  readonly #forms: () => ApprovalForms;

  constructor(runtime: Runtime, forms: () => ApprovalForms) {
    this.#runtime = runtime;
    this.#forms = forms;
  }

  /** Never throws. */
  tell(asked: ApprovalRequest, { callerId, onProgress, respondent, signal }: NoticeTo): void {
    try {
      const data = textOf(asked);
      if (onProgress !== undefined) onProgress({ progress: 0, message: data });
      else respondent?.onNotice?.('notifications/message', { level: 'warning', logger: 'turnbuckle', data });
      const { elicitation } = respondent?.answers ?? {};
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
      const message =
        this.#forms() === 'approve' ? `${textOf(asked)} Accepting this approves it, once.` : textOf(asked);
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
}

interface Showing extends Pick<NoticeTo, 'callerId' | 'signal'> {
  readonly elicitation: NonNullable<Respondent['answers']['elicitation']>;
}

/** For the person at the client. The id is ours; the name of the tool is its server's, and is told to the client anyway. */
const textOf = ({ id, toolName, reason }: ApprovalRequest): string =>
  `The call of ${toolName} waits for an approval (${reason}). Approve it on the machine of the daemon: turnbuckle approvals answer ${id} once.`;
