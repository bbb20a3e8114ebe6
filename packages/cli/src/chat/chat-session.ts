/** One conversation with the agent: sends messages, and shows what is new in it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ErrorCode } from 'turnbuckle';
import { ERRORS } from 'turnbuckle/host';
import type { Output } from '../terminal/output.js';
import { showLine, showMessage, showText } from '../terminal/untrusted-text.js';
import type { AgentLink } from './agent-link.js';

interface ShownMessage {
  readonly number: number;
  readonly kind: string;
  readonly text: string;
  readonly tool?: string;
  readonly code?: string;
}

interface Sent {
  readonly conversation: string;
  readonly message: number;
}

interface Conversation {
  readonly state: string;
  readonly waitsForApproval?: boolean;
  readonly isUnanswered: boolean;
  readonly messages: readonly ShownMessage[];
}

const POLL_MS = 200;
const IDLE_POLL_MS = 500;

export interface ChatSessionOptions {
  readonly link: AgentLink;
  readonly output: Output;
  readonly signal: AbortSignal;
  /** Goes on with it. Undefined: a new one. */
  readonly conversation: string | undefined;
}

export class ChatSession {
  readonly #options: ChatSessionOptions;
  #conversation: string | undefined;
  #lastShown: number | undefined;
  #isAnswered = true;
  #isWaitingForApproval = false;
  #failure: string | undefined;

  constructor(options: ChatSessionOptions) {
    this.#options = options;
    this.#conversation = options.conversation;
  }

  /** Undefined until the first message has been sent. */
  get conversation(): string | undefined {
    return this.#conversation;
  }

  /** 0, or that of the failure that the latest message ended with. */
  get exitCode(): number {
    if (this.#failure === undefined) return 0;
    return ERRORS[isCode(this.#failure) ? this.#failure : 'SERVER_ERROR'].exit;
  }

  async send(text: string): Promise<void> {
    const known = this.#conversation;
    const body = { text, ...(known !== undefined && { conversation: known }) };
    const { conversation, message } = await this.#options.link.post<Sent>('/message', body);
    this.#conversation = conversation;
    this.#lastShown ??= message;
    this.#isAnswered = false;
    this.#failure = undefined;
  }

  /** Until everything is answered; `orAsked`: or until a call waits for approval, which may take long. */
  async untilAnswered({ orAsked }: { readonly orAsked: boolean }): Promise<void> {
    while (this.#lastShown !== undefined) {
      await this.#update();
      if (this.#isAnswered || (orAsked && this.#isWaitingForApproval)) return;
      await this.#pause(POLL_MS);
    }
  }

  /** Shows what is new, until the end of the signal. */
  async watch(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      if (this.#lastShown !== undefined) await this.#update();
      await this.#pause(this.#isAnswered ? IDLE_POLL_MS : POLL_MS);
    }
  }

  async end(): Promise<void> {
    await this.#options.link.post(`${pathOf(this.#conversation)}/end`, {});
  }

  async #update(): Promise<void> {
    const { link, output } = this.#options;
    const { messages, isUnanswered, waitsForApproval, state } = await link.get<Conversation>(
      pathOf(this.#conversation),
    );
    for (const message of messages) {
      if (message.number <= (this.#lastShown ?? 0)) continue;
      this.#lastShown = message.number;
      this.#show(message);
    }
    this.#isAnswered = !isUnanswered || state === 'ended';
    const wasWaiting = this.#isWaitingForApproval;
    this.#isWaitingForApproval = waitsForApproval === true;
    if (this.#isWaitingForApproval && !wasWaiting)
      output.note('A call is waiting for approval: turnbuckle approvals');
  }

  #show({ kind, text, tool, code }: ShownMessage): void {
    const { output } = this.#options;
    if (kind === 'user') return;
    if (kind === 'failure') this.#failure = code ?? 'SERVER_ERROR';
    if (output.json)
      return output.data({
        kind,
        text,
        ...(tool !== undefined && { tool }),
        ...(code !== undefined && { code }),
        conversation: this.#conversation,
      });
    if (kind === 'reply') return output.line(showText(text));
    const { color } = output;
    if (kind === 'failure')
      return output.warn(`${color.red('error')} ${color.dim(showLine(code ?? '', 40))} ${showMessage(text)}`);
    const label = tool === undefined ? kind : `${kind} ${showLine(tool, 60)}`;
    output.note(color.dim(`${label}: ${showLine(text, 200)}`));
  }

  #pause(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.#options.signal });
  }
}

const isCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

const pathOf = (id: string | undefined): string => `/conversations/${encodeURIComponent(id ?? '')}`;
