/**
 * Notifies the client behind a call that it waits for approval: by progress if the client wants it, otherwise by a log
 * message, and by a form if it can show one. A form can deny the call; it can approve it only if the configuration
 * allows that, since a program could answer its own form.
 */
import type { ApprovalRequest, Progress, Runtime } from 'turnbuckle';
import {
  type CancelSignal,
  type ClientResponder,
  type DaemonSettings,
  showLine,
  truncateValue,
} from 'turnbuckle/host';

export type ApprovalForms = NonNullable<DaemonSettings['approvalForms']>;

export interface NoticeRecipient {
  readonly callerId: string;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly responder?: ClientResponder | undefined;
  readonly signal?: CancelSignal | undefined;
}

/** The limit for the arguments in a form. */
const MAX_ARGUMENTS_CHARACTERS = 1_000;
/** The limit for the line with the arguments: argument names and escapes take more. */
const MAX_LINE_CHARACTERS = 4_000;

export interface NoticeOptions {
  readonly forms: () => ApprovalForms;
  /** Only the client can be asked: if it cannot show a form that approves, the call fails immediately. */
  readonly isSingleClient: boolean;
}

export class ApprovalNotices {
  readonly #runtime: Runtime;
  readonly #forms: () => ApprovalForms;
  readonly #isSingleClient: boolean;
  /** Approvals for which a form is shown. */
  readonly #shown = new Set<string>();

  constructor(runtime: Runtime, { forms, isSingleClient }: NoticeOptions) {
    this.#runtime = runtime;
    this.#forms = forms;
    this.#isSingleClient = isSingleClient;
    if (!isSingleClient) return;
    runtime.on('approval.asked', ({ id }) =>
      // The client of the call is notified in the same tick.
      queueMicrotask(() => {
        if (!this.#shown.has(id)) runtime.approvals.abandon(id);
      }),
    );
  }

  /** Never throws. */
  notify(asked: ApprovalRequest, { callerId, onProgress, responder, signal }: NoticeRecipient): void {
    try {
      const { elicitation } = responder?.answers ?? {};
      if (this.#isSingleClient) {
        if (elicitation === undefined || this.#forms() !== 'approve') return;
        this.#shown.add(asked.id);
        void this.#showForm(asked, { elicitation, callerId, signal }).finally(() => {
          this.#shown.delete(asked.id);
          // Neither accepted nor declined, and there is no other way to answer.
          this.#runtime.approvals.abandon(asked.id);
        });
        return;
      }
      const data = approvalText(asked);
      if (onProgress !== undefined) onProgress({ progress: 0, message: data });
      else responder?.onNotice?.('notifications/message', { level: 'warning', logger: 'turnbuckle', data });
      if (elicitation !== undefined && this.#forms() !== 'off')
        void this.#showForm(asked, { elicitation, callerId, signal });
    } catch {
      // The call waits even if its client cannot be notified.
    }
  }

  async #showForm(asked: ApprovalRequest, { elicitation, callerId, signal }: FormContext): Promise<void> {
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
      // It was answered elsewhere, or the client cannot show the form after all.
    } finally {
      signal?.removeEventListener('abort', end);
      for (const stop of stops) stop();
    }
  }

  /** The approver sees what would be sent: the redacted arguments, on one line. */
  #messageFor(asked: ApprovalRequest): string {
    if (this.#forms() !== 'approve') return approvalText(asked);
    const { toolName, reason } = asked;
    const { alsoSent } = asked;
    const all = alsoSent === undefined ? asked.arguments : { arguments: asked.arguments, ...alsoSent };
    const { value, isCut } = truncateValue(all, MAX_ARGUMENTS_CHARACTERS);
    const line = showLine(JSON.stringify(value), MAX_LINE_CHARACTERS);
    const sent = isCut || asked.isCut === true ? `${line} (truncated)` : line;
    const first = this.#isSingleClient
      ? `Calling ${toolName} requires approval (${reason}).`
      : `${approvalText(asked)}.`;
    return `${first} Arguments: ${sent}. Accept to approve this call once.`;
  }
}

interface FormContext extends Pick<NoticeRecipient, 'callerId' | 'signal'> {
  readonly elicitation: NonNullable<ClientResponder['answers']['elicitation']>;
}

/** For the person at the client. The id is ours; the tool name comes from the server, and the client knows it anyway. */
const approvalText = ({ id, toolName, reason }: ApprovalRequest): string =>
  `The call to ${toolName} is waiting for approval (${reason}). To approve it, run on the daemon's machine: turnbuckle approvals answer ${id} once`;
