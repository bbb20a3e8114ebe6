/** A minimal MCP client on stdin and stdout: writes lines, reads messages. */
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

export interface StdioClient {
  readonly child: ChildProcess;
  /** Every line received so far; throws for a line that is not JSON. */
  messages(): Message[];
  send(id: number, method: string, params: object): void;
  sendLine(text: string): void;
  /** Waits for the response to a request. */
  response(id: number | null): Promise<Message>;
  /** Closes stdin or sends the signal; returns the exit code. */
  close(signal?: NodeJS.Signals): Promise<number | null>;
  /** The exit code, when the process ends by itself. */
  ended(): Promise<number | null>;
  stderr(): string;
}

/** Starts the command as an MCP server; it is killed when the test ends. */
export function startClientForTest(words: readonly string[], options: RunOptions): StdioClient {
  const client = startClient(words, options);
  onTestFinished(() => void client.child.kill('SIGKILL'));
  return client;
}

/** Starts the command as an MCP server; it runs until the client closes it. */
export function startClient(words: readonly string[], { home, cwd, env }: RunOptions): StdioClient {
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
    sendLine: (line) => void child.stdin.write(`${line}\n`),
    response: async (id) => {
      await waitUntil(() => find(id) !== undefined, 20_000);
      return find(id) ?? {};
    },
    close: async (signal) => {
      if (signal === undefined) child.stdin.end();
      else child.kill(signal);
      return ended();
    },
    ended,
    stderr: () => errors,
  };
}
