/** Runs the daemon of the built command in the foreground, in its own home and on a free port. */
import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import { environmentOf, type Finished, finished, type RunOptions, start } from '../commands/turnbuckle.js';

export interface RunningDaemon {
  readonly url: string;
  readonly pid: number;
  readonly child: ChildProcess;
  /** The owner's token. */
  readonly token: string;
  /** Sends the signal; returns what the daemon printed. */
  stop(signal?: NodeJS.Signals): Promise<Finished>;
}

/** The caller ends it with `stop`. */
export const startDaemon = (words: readonly string[], options: RunOptions): Promise<RunningDaemon> =>
  startServing(['serve', '--port', '0', ...words], options);

/** The same for the bridge alone. */
export const startBridge = (words: readonly string[], options: RunOptions): Promise<RunningDaemon> =>
  startServing(['bridge', ...words], options);

async function startServing(words: readonly string[], options: RunOptions): Promise<RunningDaemon> {
  const child = start([...words, '--json'], options);
  const ended = finished(child);
  const stop = (signal: NodeJS.Signals = 'SIGTERM'): Promise<Finished> => {
    if (child.exitCode === null) child.kill(signal);
    return ended;
  };
  const first = new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (part: Buffer) => {
      text += part.toString();
      if (text.endsWith('}\n')) resolve(text);
    });
    void ended.then(({ stdout, stderr }) => reject(new Error(`the daemon ended: ${stdout}${stderr}`)));
  });
  const { url, pid, tokenFile } = JSON.parse(await first);
  return { url, pid, child, token: (await readFile(tokenFile, 'utf8')).trim(), stop };
}

/** Starts a daemon that is killed when the test ends. */
export async function daemonForTest(words: readonly string[], options: RunOptions): Promise<RunningDaemon> {
  const daemon = await startDaemon(words, options);
  onTestFinished(async () => {
    await daemon.stop('SIGKILL');
  });
  return daemon;
}

export const stateOf = ({ home }: RunOptions): string => environmentOf(home).TURNBUCKLE_STATE_DIR ?? '';

/** Sends JSON to the daemon with POST. */
export async function post(
  { url, token }: Pick<RunningDaemon, 'url' | 'token'>,
  path: string,
  body: unknown,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

/** Starts a call, and returns when its first progress event has arrived. */
export async function callUnderWay(
  { url, token }: Pick<RunningDaemon, 'url' | 'token'>,
  ms: number,
): Promise<{ readonly rest: Promise<string> }> {
  const response = await fetch(`${url}/mcp/call`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({
      server: 'echo',
      tool_name: 'sleep',
      arguments: { ms, everyMs: 50 },
      timeout_ms: 90_000,
    }),
  });
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error('the response has no body');
  await reader.read();
  const decoder = new TextDecoder();
  const readRest = async (): Promise<string> => {
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += decoder.decode(part.value);
    return text;
  };
  return { rest: readRest() };
}
