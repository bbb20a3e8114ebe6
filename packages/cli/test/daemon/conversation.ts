/** A client of MCP on stdin and stdout, by hand: lines go in, messages come out. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { waitUntil } from '@turnbuckle/testing';
import { onTestFinished } from 'vitest';
import { BIN, environmentOf, type RunOptions } from '../commands/turnbuckle.js';

interface Message {
  readonly id?: number | null;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface Conversation {
  readonly child: ChildProcess;
  /** Every line that came; throws for one that is not JSON. */
  messages(): Message[];
  send(id: number, method: string, params: object): void;
  say(text: string): void;
  /** The answer to a request. */
  answer(id: number | null): Promise<Message>;
  /** Leaves; answers the exit code. */
  leave(signal?: NodeJS.Signals): Promise<number | null>;
  /** The exit code when it ends by itself. */
  ended(): Promise<number | null>;
  stderr(): string;
}

/** Ends with the test. */
export function converse(words: readonly string[], options: RunOptions): Conversation {
  const conversation = openConversation(words, options);
  onTestFinished(() => void conversation.child.kill('SIGKILL'));
  return conversation;
}

/** Ends when it is left. */
export function openConversation(words: readonly string[], { home, cwd, env }: RunOptions): Conversation {
  const child = spawn(process.execPath, [BIN, ...words], {
    cwd: cwd ?? home.project,
    env: { ...environmentOf(home), ...env },
    stdio: 'pipe',
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    errors += part;
  });
  child.stdin.on('error', () => {});
  const closed = once(child, 'close');
  const ended = async (): Promise<number | null> => {
    const [code] = await closed;
    return typeof code === 'number' ? code : null;
  };
  const messages = (): Message[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const find = (id: number | null): Message | undefined =>
    messages().find((message) => message.id === id && message.method === undefined);
  return {
    child,
    messages,
    send: (id, method, params) =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`),
    say: (line) => void child.stdin.write(`${line}\n`),
    answer: async (id) => {
      await waitUntil(() => find(id) !== undefined, 20_000);
      return find(id) ?? {};
    },
    leave: async (signal) => {
      if (signal === undefined) child.stdin.end();
      else child.kill(signal);
      return ended();
    },
    ended,
    stderr: () => errors,
  };
}
