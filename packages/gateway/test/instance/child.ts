import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** Starts one of the programs next to this file; it is gone when the test is over. */
export function start(program: string, ...args: string[]): ChildProcess {
  const file = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

export async function firstLine(child: ChildProcess): Promise<Record<string, unknown>> {
  let text = '';
  for await (const part of child.stdout ?? []) {
    text += String(part);
    if (text.includes('\n')) break;
  }
  return JSON.parse(text);
}

export async function everything(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const part of child.stdout ?? []) text += String(part);
  return text;
}

export async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}
