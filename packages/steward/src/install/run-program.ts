/** Runs a program to its end: without a shell, with limits, and gone with everything it started when it is aborted. */
import { spawn } from 'node:child_process';
import { installError } from './refusal.js';

export interface ProgramRun {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** For errors: what the program is run for. */
  readonly what: string;
  readonly hint: string;
}

export interface ProgramResult {
  readonly code: number | null;
  /** The last part of its output. */
  readonly stdout: string;
  readonly stderr: string;
}

const MAX_OUTPUT_CHARACTERS = 64 * 1_024;
/** A program that writes more is stopped. */
const MAX_TOTAL_CHARACTERS = 16 * 1_024 * 1_024;

/** Resolves when the program ended, with any exit code. Rejects with the reason of the signal on abort. */
export async function tryProgram(run: ProgramRun): Promise<ProgramResult> {
  const { command, args, cwd, env, timeoutMs, signal, what } = run;
  signal.throwIfAborted();
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let killedFor: 'abort' | 'time' | 'output' | undefined;
  const kill = (reason: typeof killedFor): void => {
    killedFor ??= reason;
    killGroup(child.pid);
  };
  const onAbort = (): void => kill('abort');
  const timer = setTimeout(() => kill('time'), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  const stdout = collect(child.stdout, () => kill('output'));
  const stderr = collect(child.stderr, () => kill('output'));
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (killedFor === 'abort') throw signal.reason;
    if (killedFor !== undefined)
      throw installError(
        'CALL_TIMEOUT',
        `${what} was stopped because it ${killedFor === 'time' ? `took longer than ${timeoutMs} ms` : 'wrote too much output'}.`,
        'Try again later, or choose another server.',
      );
    return { code, stdout: stdout(), stderr: stderr() };
  } catch (error) {
    if (killedFor !== undefined || signal.aborted || !isSpawnError(error)) throw error;
    throw installError('COMMAND_NOT_FOUND', `${what} failed because ${command} cannot be started.`, run.hint);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    // What it left running in the background ends too.
    killGroup(child.pid);
  }
}

/** The same; rejects with CONNECT_FAILED if it fails. */
export async function runProgram(run: ProgramRun): Promise<ProgramResult> {
  const result = await tryProgram(run);
  if (result.code === 0) return result;
  const said = result.stderr.trim().slice(-600);
  throw installError('CONNECT_FAILED', `${run.what} failed${said === '' ? '' : `: ${said}`}.`, run.hint);
}

const isSpawnError = (error: unknown): boolean => error instanceof Error && 'syscall' in error;

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // already gone
  }
}

function collect(stream: NodeJS.ReadableStream, onTooMuch: () => void): () => string {
  let text = '';
  let total = 0;
  stream.setEncoding('utf8').on('data', (part: string) => {
    total += part.length;
    text = (text + part).slice(-MAX_OUTPUT_CHARACTERS);
    if (total > MAX_TOTAL_CHARACTERS) onTooMuch();
  });
  return () => text;
}
