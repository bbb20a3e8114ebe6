/** A conversation with the agent: each line is a message, and replies are printed as they arrive. */
import { createInterface, type Interface } from 'node:readline';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import type { AgentLink } from './agent-link.js';
import { ChatSession } from './chat-session.js';

export interface ChatOptions {
  /** One message, whose reply is printed. Absent: messages are read from stdin. */
  readonly text: string | undefined;
  /** Goes on with it. Absent: a new one. */
  readonly conversation: string | undefined;
  /** Does not end the conversation of one message. */
  readonly keeps: boolean;
  /** The conversation is there when the command has ended. */
  readonly isLasting: boolean;
}

/** Resolves with the exit code: that of the failure which the last message ended with, if it did. */
export async function chatInTerminal(
  { output, signal }: CommandContext,
  link: AgentLink,
  { text, conversation, keeps, isLasting }: ChatOptions,
): Promise<number> {
  const session = new ChatSession({ link, output, signal, conversation });
  try {
    if (text === undefined) await talk(session, { output, signal });
    else {
      await session.send(text);
      await session.untilAnswered({ orAsked: false });
      if (conversation === undefined && !keeps) await session.end();
    }
  } finally {
    const id = session.conversation;
    if (isLasting && id !== undefined)
      output.note(
        output.color.dim(`Continue this conversation: turnbuckle chat --conversation ${shellQuote(id)}`),
      );
  }
  return session.exitCode;
}

async function talk(
  session: ChatSession,
  { output, signal }: Pick<CommandContext, 'output' | 'signal'>,
): Promise<void> {
  const lines = createInterface({ input: process.stdin, terminal: false });
  signal.addEventListener('abort', () => lines.close(), { once: true });
  output.note('Each line is a message. Press Ctrl-D to end.');
  if (process.stdin.isTTY === true) return sendAsTyped(session, lines);
  for await (const line of lines) {
    if (line.trim() === '') continue;
    await session.send(line.trim());
    await session.untilAnswered({ orAsked: true });
  }
  await session.untilAnswered({ orAsked: false });
}

/** A person need not wait for the answer, and types while a call waits for approval. */
async function sendAsTyped(session: ChatSession, lines: Interface): Promise<void> {
  const typing = new AbortController();
  const watching = session.watch(typing.signal);
  watching.catch(() => lines.close());
  try {
    for await (const line of lines) if (line.trim() !== '') await session.send(line.trim());
  } finally {
    typing.abort();
  }
  await watching;
  await session.untilAnswered({ orAsked: true });
}
