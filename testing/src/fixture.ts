import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** All fixtures; each is a file in `servers`. */
export type FixtureName =
  | 'asking'
  | 'auth-wall'
  | 'bad-tools'
  | 'crash-mid-call'
  | 'echo'
  | 'flaky'
  | 'fuzzing'
  | 'hostile-text'
  | 'junk-on-stdout'
  | 'list-changing'
  | 'oversized'
  | 'paging'
  | 'probe-hostile'
  | 'schema-changing'
  | 'sdk-echo'
  | 'slow'
  | 'stubborn';

// One level up from `src` as well as from `dist`: children always run the compiled servers.
const SERVERS = new URL('../dist/servers/', import.meta.url);
const READY_TIMEOUT_MS = 15_000;
const STOP_TIMEOUT_MS = 2_000;

/** Command and arguments of a fixture, ready to be the configuration of a stdio server. */
export function fixture(name: FixtureName, ...flags: string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [fileURLToPath(new URL(`${name}.js`, SERVERS)), ...flags] };
}

export interface StartFixtureOptions {
  readonly transport: 'http' | 'sse' | 'websocket';
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface RunningFixture {
  readonly url: string;
  readonly pid: number;
  /** Its stderr so far. */
  stderr(): string;
  /** Ends the process and waits for its exit; with a signal, sends that signal at once. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a network fixture and waits until it listens. It ends with this process. */
export async function startFixture(name: FixtureName, options: StartFixtureOptions): Promise<RunningFixture> {
  const { command, args } = fixture(name, '--transport', options.transport, ...(options.flags ?? []));
  const child = spawn(command, args, { stdio: 'pipe', env: { ...process.env, ...options.env } });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-64_000);
  });
  child.stdin.on('error', () => {});
  const exited = once(child, 'exit');
  try {
    const url = await readUrl(child, exited);
    return { url, pid: child.pid ?? 0, stderr: () => stderr, stop: (signal) => stop(child, exited, signal) };
  } catch (cause) {
    child.kill('SIGKILL');
    throw new Error(`fixture ${name} did not get ready: ${stderr}`, { cause });
  }
}

async function readUrl(child: ChildProcess, exited: Promise<unknown>): Promise<string> {
  let stdout = '';
  const ready = new Promise<string>((resolve) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const url = /^READY (\S+)$/m.exec(stdout)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
  const early = exited.then(() => Promise.reject(new Error('it exited')));
  return withTimeout(Promise.race([ready, early]), READY_TIMEOUT_MS);
}

async function stop(child: ChildProcess, exited: Promise<unknown>, signal?: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (signal) child.kill(signal);
  else child.stdin?.end();
  await withTimeout(exited, STOP_TIMEOUT_MS).catch(() => child.kill('SIGKILL'));
  await exited;
}

async function withTimeout<Value>(promise: Promise<Value>, timeoutMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing within ${timeoutMs} ms`)), timeoutMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The processes a stubborn fixture wrote to its `--pid-file`, by role. */
export function readPids(file: string): Record<string, number> {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return Object.fromEntries(
    lines.map((line) => line.split(' ')).map(([role = '', pid]) => [role, Number(pid)]),
  );
}
