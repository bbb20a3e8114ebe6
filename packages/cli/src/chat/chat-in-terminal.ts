/** A conversation with the agent: each line is a message, and replies are printed as they arrive. */
import { createInterface } from 'node:readline';
import { TurnbuckleError } from 'turnbuckle';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import type { Output } from '../terminal/output.js';
import { showLine, showText } from '../terminal/untrusted-text.js';

export interface ChatOptions {
  /** One message, whose reply is printed. Absent: messages are read from stdin. */
  readonly text: string | undefined;
  /** Goes on with it. Absent: a new one. */
  readonly conversation: string | undefined;
}

interface ShownMessage {
  readonly number: number;
  readonly kind: string;
  readonly text: string;
  readonly tool?: string;
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

export async function chatInTerminal(
  { output, signal }: CommandContext,
  client: DaemonClient,
  { text, conversation: known }: ChatOptions,
): Promise<void> {
  let conversation = known;
  const say = async (line: string): Promise<void> => {
    const sent = await client
      .post<Sent>('/message', { text: line, ...(conversation !== undefined && { conversation }) }, { signal })
      .catch((error: unknown) => {
        throw withoutAgent(error);
      });
    conversation = sent.conversation;
    await showReplies(client, { output, sent, signal });
  };
  if (text !== undefined) return say(text);
  const lines = createInterface({ input: process.stdin, terminal: false });
  const end = (): void => lines.close();
  signal.addEventListener('abort', end, { once: true });
  output.note('Each line is a message. Press Ctrl-D to end.');
  for await (const line of lines) if (line.trim() !== '') await say(line.trim());
  if (conversation !== undefined)
    output.note(
      output.color.dim(
        `Go on with this conversation: turnbuckle chat --conversation ${shellQuote(conversation)}`,
      ),
    );
}

interface ReplyOptions {
  readonly output: Output;
  readonly sent: Sent;
  readonly signal: AbortSignal;
}

/** Until the message is answered, or waits for something that may take long. */
async function showReplies(client: DaemonClient, { output, sent, signal }: ReplyOptions): Promise<void> {
  let last = sent.message;
  for (let isToldToWait = false; !signal.aborted; ) {
    const path = `/conversations/${encodeURIComponent(sent.conversation)}`;
    const { messages, isUnanswered, waitsForApproval, state } = await client.get<Conversation>(path, {
      signal,
    });
    for (const message of messages.filter(({ number }) => number > last)) {
      show(message, output);
      last = message.number;
    }
    if (!isUnanswered || state === 'ended') return;
    if (waitsForApproval === true && !isToldToWait) {
      isToldToWait = true;
      output.note('A call is waiting for approval: turnbuckle approvals');
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function show({ kind, text, tool }: ShownMessage, output: Output): void {
  if (output.json) return output.data({ kind, text, ...(tool !== undefined && { tool }) });
  if (kind === 'reply') return output.line(showText(text));
  const label = tool === undefined ? kind : `${kind} ${showLine(tool, 60)}`;
  output.note(output.color.dim(`${label}: ${showLine(text, 200)}`));
}

/** A daemon without an agent does not know the path. */
function withoutAgent(error: unknown): unknown {
  if (!(error instanceof TurnbuckleError) || error.code !== 'PATH_UNKNOWN') return error;
  return new TurnbuckleError('CONFIG_INVALID', 'The daemon runs without an agent.', {
    cause: error,
    hint: 'Set agent.model in your config file and restart the daemon: turnbuckle serve restart. To try it without a model: turnbuckle chat --demo',
  });
}
