import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Writer {
  readonly child: ChildProcess;
  /** The edits acknowledged so far, in order. */
  readonly acknowledged: unknown[];
  /** Resolves when it ends normally; rejects with its stderr when it fails. */
  readonly done: Promise<void>;
}

const script = fileURLToPath(new URL('writer.mjs', import.meta.url));

export function startWriter(
  task: 'sequences' | 'increments',
  file: string,
  [name, count]: [string, number],
): Writer {
  const child = spawn(process.execPath, [script, task, file, name, String(count)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const acknowledged: unknown[] = [];
  let rest = '';
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    acknowledged.push(...lines.map((line): unknown => JSON.parse(line)));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const done = once(child, 'close').then(([code, signal]) => {
    if (code !== 0 && signal !== 'SIGKILL') throw new Error(`writer ${name} failed: ${complaint}`);
  });
  return { child, acknowledged, done };
}
