/**
 * Owns every child process of a runtime: each starts in a process group of its own and is gone, with all
 * its descendants, when it is stopped, when the host exits or is told to, and (by a sweep at the next
 * start) when the host was killed. What leaves its group is found by a tag in its environment; what was let go
 * for good (`let-go.ts`) is spared.
 */
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { Writable } from 'node:stream';
import spawn from 'cross-spawn';
import { strayDescriptors } from './descriptors.js';
import { END_ALL, endingWithServer } from './let-go.js';
import { findByEnvironment, inspectProcess, isGroupAlive, processSpace, type Tagged } from './proc.js';
import { takeTurn } from './spawn-turns.js';

const TAG = 'TURNBUCKLE_TAG';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** How long a killed process may take to be gone: one that hangs in the kernel is not waited for. */
const GONE_MS = 2_000;

export interface SpawnOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  /** What it started in a session of its own ends with it, too. In a sandbox it always does. */
  readonly endDetached?: boolean | undefined;
  /**
   * For a server in a sandbox: what the started program reads from descriptor 3, the server's environment included.
   * The program itself, which runs outside, gets none of that.
   */
  readonly toPreamble?: ((env: Readonly<Record<string, string>>) => string) | undefined;
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
  readonly #live = new Map<number, Child>();
  readonly #leaveMs: number;
  readonly #termMs: number;
  #spawned = 0;

  constructor(options: ProcessTableOptions = {}) {
    this.#leaveMs = options.leaveMs ?? 1_000;
    this.#termMs = options.termMs ?? 2_000;
  }

  /** When a process may be started; undefined: now. */
  turn(): Promise<void> | undefined {
    return takeTurn();
  }

  spawn(options: SpawnOptions): Child {
    this.#spawned += 1;
    const isAll = options.endDetached === true || options.toPreamble !== undefined;
    const tag = `${this.#host}.${this.#id}.${this.#spawned}${isAll ? END_ALL : ''}`;
    const child = start(options, tag);
    let stopping: Promise<void> | undefined;
    const owned: Child = {
      process: child,
      pid: child.pid,
      stop: () => {
        stopping ??= this.#stop(child, { tag, shielded: options.toPreamble !== undefined });
        return stopping;
      },
    };
    if (child.pid !== undefined) {
      this.#live.set(child.pid, owned);
      guard(this);
    }
    return owned;
  }

  /** Stops every child, also those whose server is long forgotten but whose descendants still run. */
  async close(): Promise<void> {
    await Promise.all([...this.#live.values()].map((child) => child.stop()));
  }

  /** Ends every child and its descendants at once, without a question: for the last moment of the host. */
  endAll(): void {
    for (const pid of this.#live.keys()) kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
    const mine = `${this.#host}.${this.#id}.`;
    const tagged = findByEnvironment(TAG).filter(({ value }) => value.startsWith(mine));
    for (const { pid } of endingWithServer(tagged)) kill(pid, 'SIGKILL');
  }

  /** Ends what an earlier host left behind when it was killed; answers how many processes that were. */
  sweepOrphans(): number {
    const orphans = endingWithServer(findByEnvironment(TAG).filter(({ value }) => isOrphan(value)));
    for (const { pid } of orphans) kill(pid, 'SIGKILL');
    return orphans.length;
  }

  async #stop(child: ChildProcess, { tag, shielded }: { tag: string; shielded: boolean }): Promise<void> {
    const { pid } = child;
    child.stdin?.end();
    if (pid === undefined) return;
    const exited = hasExited(child)
      ? Promise.resolve()
      : new Promise<void>((resolve) => child.once('exit', () => resolve()));
    await within(exited, this.#leaveMs);
    if (process.platform === 'win32') await killWindowsTree(pid);
    else await this.#stopGroup(pid, () => (shielded ? askInside(pid, tag) : kill(-pid, 'SIGTERM')));
    await forceTree(pid, tag);
    await exited;
    this.#live.delete(pid);
    if (this.#live.size === 0) unguard(this);
  }

  async #stopGroup(group: number, ask: () => void): Promise<void> {
    if (!isGroupAlive(group)) return;
    ask();
    const deadline = Date.now() + this.#termMs;
    for (let pauseMs = 5; isGroupAlive(group) && Date.now() < deadline; pauseMs = Math.min(pauseMs * 2, 100))
      await pause(pauseMs);
  }
}

function start({ command, args, env, cwd, toPreamble }: SpawnOptions, tag: string): ChildProcess {
  const tagged = { ...env, [TAG]: tag };
  const stray = strayDescriptors();
  const nothing = stray.length === 0 ? undefined : openSync('/dev/null', 'r');
  const stdio: Extract<StdioOptions, unknown[]> = ['pipe', 'pipe', 'pipe'];
  for (const descriptor of stray) {
    while (stdio.length < descriptor) stdio.push('ignore');
    stdio[descriptor] = nothing;
  }
  if (toPreamble !== undefined) stdio[3] = 'pipe';
  try {
    const child = spawn(command, [...args], {
      env: toPreamble === undefined ? tagged : { [TAG]: tag },
      cwd,
      stdio,
      detached: process.platform !== 'win32',
      windowsHide: true,
      shell: false,
    });
    const preamble = child.stdio[3];
    // A program that ended before it read all of it says so itself.
    if (toPreamble !== undefined && preamble instanceof Writable)
      preamble.on('error', () => {}).end(toPreamble(tagged));
    return child;
  } finally {
    if (nothing !== undefined) closeSync(nothing);
  }
}

/** The sandbox's own process would take the server with it at once: the server is asked, and has time. */
function askInside(sandbox: number, tag: string): void {
  for (const { pid, value } of findByEnvironment(TAG))
    if (value === tag && pid !== sandbox) kill(pid, 'SIGTERM');
}

let looking: Promise<Tagged[]> | undefined;

/** Looked up after this was asked, once for all who ask meanwhile: it reads something of every process there is. */
function findTagged(): Promise<Tagged[]> {
  looking ??= new Promise((resolve) => {
    setImmediate(() => {
      looking = undefined;
      resolve(findByEnvironment(TAG));
    });
  });
  return looking;
}

/** Kills what is left of a group and what left it, until nothing is: a dying process may have forked once more. */
async function forceTree(group: number, tag: string): Promise<void> {
  const deadline = Date.now() + GONE_MS;
  for (let pauseMs = 1; Date.now() < deadline; pauseMs = Math.min(pauseMs * 2, 50)) {
    const tagged = endingWithServer((await findTagged()).filter(({ value }) => value === tag));
    const grouped = process.platform !== 'win32' && isGroupAlive(group);
    if (!grouped && tagged.length === 0) return;
    if (grouped) kill(-group, 'SIGKILL');
    for (const { pid } of tagged) kill(pid, 'SIGKILL');
    await pause(pauseMs);
  }
}

/** Tables with children: the end of the host is their end, whichever way it comes. */
const guarded = new Set<ProcessTable>();

/** Tells our signal listeners from the host's, also those of a second copy of this module. */
const GUARD = Symbol.for('turnbuckle.guard');

function guard(table: ProcessTable): void {
  if (guarded.size === 0) {
    process.on('exit', endGuarded);
    // First in line, so that a `once` listener of the host is still there to be counted.
    for (const signal of SIGNALS) process.prependListener(signal, onSignal);
  }
  guarded.add(table);
}

function unguard(table: ProcessTable): void {
  if (guarded.delete(table) && guarded.size === 0) stopListening();
}

function stopListening(): void {
  process.off('exit', endGuarded);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

function endGuarded(): void {
  for (const table of guarded) table.endAll();
}

const onSignal = Object.assign(
  (signal: NodeJS.Signals): void => {
    // A program with handlers of its own decides when to end; it then reaches close() or the exit hook.
    if (process.listeners(signal).some((listener) => !(GUARD in listener))) return;
    endGuarded();
    guarded.clear();
    stopListening();
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  },
  { [GUARD]: true },
);

function hostIdentity(): string {
  return `${processSpace()}.${process.pid}.${inspectProcess(process.pid)?.startTicks ?? '0'}`;
}

/** Its host is gone. What another process space (a container) started is not ours to judge: its ids mean others here. */
function isOrphan(tag: string): boolean {
  const [space, pid, startTicks] = tag.split('.');
  if (space !== processSpace()) return false;
  const facts = inspectProcess(Number(pid));
  return facts === undefined || facts.zombie || facts.startTicks !== startTicks;
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
