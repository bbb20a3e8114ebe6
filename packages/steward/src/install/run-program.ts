/** Runs a program to its end: without a shell, with limits, and gone with everything it started when it is aborted. */
import type { Readable } from 'node:stream';
import { ProcessTable } from 'turnbuckle/host';
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

/** Ended with everything they started, also if this process is killed. */
const processes = new ProcessTable({ exitGraceMs: 0, termMs: 0 });

/** Resolves when the program ended, with any exit code. Rejects with the reason of the signal on abort. */
export async function tryProgram(run: ProgramRun): Promise<ProgramResult> {
  const { command, args, cwd, env, timeoutMs, signal, what } = run;
  signal.throwIfAborted();
  const child = processes.spawn({ command, args, cwd, env, endDetached: true });
  child.streams.stdin?.on('error', () => {}).end();
  let stoppedFor: 'abort' | 'time' | 'output' | undefined;
  const stop = (reason: typeof stoppedFor): void => {
    stoppedFor ??= reason;
    void child.stop();
  };
  const onAbort = (): void => stop('abort');
  const timer = setTimeout(() => stop('time'), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  const stdout = collect(child.streams.stdout, () => stop('output'));
  const stderr = collect(child.streams.stderr, () => stop('output'));
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.process.once('error', reject);
      child.process.once('close', resolve);
    });
    if (stoppedFor === 'abort') throw signal.reason;
    if (stoppedFor !== undefined)
      throw installError(
        'CALL_TIMEOUT',
        `${what} was stopped because it ${stoppedFor === 'time' ? `took longer than ${timeoutMs} ms` : 'wrote too much output'}.`,
        'Try again later, or choose another server.',
      );
    return { code, stdout: stdout(), stderr: stderr() };
  } catch (error) {
    if (stoppedFor !== undefined || signal.aborted || !isSpawnError(error)) throw error;
    throw installError('COMMAND_NOT_FOUND', `${what} failed because ${command} cannot be started.`, run.hint);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    // What it left running in the background ends too.
    await child.stop();
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

function collect(stream: Readable | undefined, onTooMuch: () => void): () => string {
  let text = '';
  let total = 0;
  stream?.setEncoding('utf8').on('data', (part: string) => {
    total += part.length;
    text = (text + part).slice(-MAX_OUTPUT_CHARACTERS);
    if (total > MAX_TOTAL_CHARACTERS) onTooMuch();
  });
  return () => text;
}
