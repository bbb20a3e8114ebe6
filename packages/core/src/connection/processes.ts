/**
 * Owns every child process of a runtime: each starts in a process group of its own and is gone, with all
 * its descendants, when it is stopped, when the host exits or is told to, and (by a sweep at the next
 * start) when the host was killed. What leaves its group is found by a tag in its environment.
 */
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import spawn from 'cross-spawn';
import { findByEnvironment, inspectProcess, isGroupAlive } from './proc.js';

const TAG = 'TURNBUCKLE_TAG';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface SpawnOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

export interface Child {
  readonly process: ChildProcess;
  readonly pid: number | undefined;
  /** Closes its input, then asks, then forces; resolves when the whole tree is gone. */
  stop(): Promise<void>;
}

export interface ProcessTableOptions {
  /** Time to leave by itself after its input was closed. */
  readonly leaveMs?: number;
  /** Time between SIGTERM and SIGKILL. */
  readonly termMs?: number;
}

export class ProcessTable {
  readonly #host = hostIdentity();
  readonly #id = randomUUID().slice(0, 8);
  readonly #live = new Map<number, string>();
  readonly #leaveMs: number;
  readonly #termMs: number;
  #spawned = 0;
  #guarding = false;

  constructor(options: ProcessTableOptions = {}) {
    this.#leaveMs = options.leaveMs ?? 1_000;
    this.#termMs = options.termMs ?? 2_000;
  }

  spawn(options: SpawnOptions): Child {
    this.#spawned += 1;
    const tag = `${this.#host}.${this.#id}.${this.#spawned}`;
    const child = spawn(options.command, [...options.args], {
      env: { ...options.env, [TAG]: tag },
      cwd: options.cwd,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
      shell: false,
    });
    const { pid } = child;
    if (pid !== undefined) {
      this.#live.set(pid, tag);
      this.#guard();
    }
    let stopping: Promise<void> | undefined;
    return {
      process: child,
      pid,
      stop: () => {
        stopping ??= this.#stop(child, tag);
        return stopping;
      },
    };
  }

  /** Ends what an earlier host left behind when it was killed; answers how many processes that were. */
  sweepOrphans(): number {
    const orphans = findByEnvironment(TAG).filter(({ value }) => !isHostAlive(value));
    for (const { pid } of orphans) kill(pid, 'SIGKILL');
    return orphans.length;
  }

  async #stop(child: ChildProcess, tag: string): Promise<void> {
    const { pid } = child;
    child.stdin?.end();
    if (pid === undefined) return;
    const exited = hasExited(child)
      ? Promise.resolve()
      : new Promise<void>((resolve) => child.once('exit', () => resolve()));
    await within(exited, this.#leaveMs);
    if (process.platform === 'win32') await killWindowsTree(pid);
    else await this.#stopGroup(pid);
    for (const { pid: escapee } of findByEnvironment(TAG).filter(({ value }) => value === tag))
      kill(escapee, 'SIGKILL');
    await exited;
    this.#live.delete(pid);
    if (this.#live.size === 0) this.#unguard();
  }

  async #stopGroup(group: number): Promise<void> {
    if (!isGroupAlive(group)) return;
    kill(-group, 'SIGTERM');
    const deadline = Date.now() + this.#termMs;
    for (let pauseMs = 5; isGroupAlive(group) && Date.now() < deadline; pauseMs = Math.min(pauseMs * 2, 100))
      await pause(pauseMs);
    if (isGroupAlive(group)) kill(-group, 'SIGKILL');
  }

  /** From the first child on, the end of the host is the end of its children, whichever way it comes. */
  #guard(): void {
    if (this.#guarding) return;
    this.#guarding = true;
    guards.add(this.#onSignal);
    process.once('exit', this.#endAll);
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  #unguard(): void {
    this.#guarding = false;
    process.off('exit', this.#endAll);
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }

  readonly #endAll = (): void => {
    for (const pid of this.#live.keys()) kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
    const mine = `${this.#host}.${this.#id}.`;
    for (const { pid } of findByEnvironment(TAG).filter(({ value }) => value.startsWith(mine)))
      kill(pid, 'SIGKILL');
  };

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    // A program with handlers of its own decides when to end; it then reaches close() or the exit hook.
    const foreign = process.listeners(signal).filter((listener) => !guards.has(listener));
    if (foreign.length > 0) return;
    this.#endAll();
    this.#unguard();
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
}

/** Which signal listeners are a process table's, so that several runtimes in one host know each other's. */
const guards = new WeakSet<object>();

function hostIdentity(): string {
  return `${process.pid}.${inspectProcess(process.pid)?.startTicks ?? '0'}`;
}

function isHostAlive(tag: string): boolean {
  const [pid, startTicks] = tag.split('.');
  const facts = inspectProcess(Number(pid));
  return facts !== undefined && !facts.zombie && facts.startTicks === startTicks;
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // already gone
  }
}

function killWindowsTree(pid: number): Promise<void> {
  return new Promise((resolve) => {
    spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' })
      .once('close', () => resolve())
      .once('error', () => resolve());
  });
}

const hasExited = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function within(done: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([done, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}
