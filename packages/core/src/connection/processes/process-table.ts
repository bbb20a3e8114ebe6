/**
 * Owns every child process of a runtime: each starts in its own process group and is gone, with all its descendants,
 * when it is stopped, when the host exits or is signalled, and (by a sweep at the next start) when the host was
 * killed. Processes that leave their group are found by a tag in their environment; detached ones
 * (`detached-processes.ts`) are spared.
 */
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import spawn from 'cross-spawn';
import { type ChildStreams, childStreams } from '../../files/child-streams.js';
import { isSameProcess, pidNamespace } from '../../files/process-identity.js';
import { END_DETACHED_SUFFIX, withoutDetached } from './detached-processes.js';
import { inheritedDescriptors } from './inherited-descriptors.js';
import { findByEnvironment, inspectProcess, isGroupAlive, type TaggedProcess } from './proc.js';
import { acquireSpawnSlot } from './spawn-slots.js';

const TAG_VARIABLE = 'TURNBUCKLE_TAG';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** How long to wait for a killed process: one that hangs in the kernel is not waited for. */
const KILL_TIMEOUT_MS = 2_000;

export interface SpawnOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  /** Processes that it started in their own session end with it too. In a sandbox they always do. */
  readonly endDetached?: boolean | undefined;
  /**
   * For a server in a sandbox: what the started program reads from descriptor 3, including the server's environment.
   * The program itself, which runs outside, gets none of that.
   */
  readonly toPreamble?: ((env: Readonly<Record<string, string>>) => string) | undefined;
}

export interface Child {
  readonly process: ChildProcess;
  readonly streams: ChildStreams;
  readonly pid: number | undefined;
  /** Closes its input, then sends SIGTERM, then SIGKILL; resolves when the whole tree is gone. */
  stop(): Promise<void>;
}

export interface ProcessTableOptions {
  /** Time to exit by itself after its input was closed. */
  readonly exitGraceMs?: number;
  /** Time between SIGTERM and SIGKILL. */
  readonly termMs?: number;
}

export class ProcessTable {
  readonly #host = hostIdentity();
  readonly #id = randomUUID().slice(0, 8);
  readonly #children = new Map<number, Child>();
  readonly #exitGraceMs: number;
  readonly #termMs: number;
  #spawned = 0;

  constructor(options: ProcessTableOptions = {}) {
    this.#exitGraceMs = options.exitGraceMs ?? 1_000;
    this.#termMs = options.termMs ?? 2_000;
  }

  /** When a process may be started; undefined: now. */
  acquireSpawnSlot(): Promise<void> | undefined {
    return acquireSpawnSlot();
  }

  spawn(options: SpawnOptions): Child {
    this.#spawned += 1;
    const isAll = options.endDetached === true || options.toPreamble !== undefined;
    const tag = `${this.#host}.${this.#id}.${this.#spawned}${isAll ? END_DETACHED_SUFFIX : ''}`;
    const { child, streams } = start(options, tag);
    let stopping: Promise<void> | undefined;
    const owned: Child = {
      process: child,
      streams,
      pid: child.pid,
      stop: () => {
        stopping ??= this.#stop(child, { tag, shielded: options.toPreamble !== undefined });
        return stopping;
      },
    };
    if (child.pid !== undefined) {
      this.#children.set(child.pid, owned);
      registerExitCleanup(this);
    }
    return owned;
  }

  /** Stops every child, including those of removed servers whose descendants still run. */
  async close(): Promise<void> {
    await Promise.all([...this.#children.values()].map((child) => child.stop()));
  }

  /** Kills every child and its descendants immediately: for the last moment of the host. */
  endAll(): void {
    for (const pid of this.#children.keys()) kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
    const mine = `${this.#host}.${this.#id}.`;
    const tagged = findByEnvironment(TAG_VARIABLE).filter(({ value }) => value.startsWith(mine));
    for (const { pid } of withoutDetached(tagged)) kill(pid, 'SIGKILL');
  }

  /** Kills what an earlier, killed host left behind, once this host has started: also one that ends soon. */
  sweepOrphansSoon(): void {
    setImmediate(() => {
      const found = findByEnvironment(TAG_VARIABLE).filter(({ value }) => isOrphan(value));
      for (const { pid } of withoutDetached(found)) kill(pid, 'SIGKILL');
    });
  }

  /** Kills the processes that killed hosts left behind, and waits until they are gone. */
  async endOrphans(): Promise<void> {
    await killUntilGone(undefined, isOrphan);
  }

  async #stop(child: ChildProcess, { tag, shielded }: { tag: string; shielded: boolean }): Promise<void> {
    const { pid } = child;
    child.stdin?.end();
    if (pid === undefined) return;
    const exited = hasExited(child)
      ? Promise.resolve()
      : new Promise<void>((resolve) => child.once('exit', () => resolve()));
    await waitAtMost(exited, this.#exitGraceMs);
    if (process.platform === 'win32') await killWindowsTree(pid);
    else
      await this.#stopGroup(pid, () => (shielded ? terminateInsideSandbox(pid, tag) : kill(-pid, 'SIGTERM')));
    await killUntilGone(pid, (value) => value === tag);
    await exited;
    this.#children.delete(pid);
    if (this.#children.size === 0) unregisterExitCleanup(this);
  }

  async #stopGroup(group: number, ask: () => void): Promise<void> {
    if (!isGroupAlive(group)) return;
    ask();
    const deadline = performance.now() + this.#termMs;
    for (
      let pauseMs = 5;
      isGroupAlive(group) && performance.now() < deadline;
      pauseMs = Math.min(pauseMs * 2, 100)
    )
      await pause(pauseMs);
  }
}

function start(
  { command, args, env, cwd, toPreamble }: SpawnOptions,
  tag: string,
): { readonly child: ChildProcess; readonly streams: ChildStreams } {
  const tagged = { ...env, [TAG_VARIABLE]: tag };
  const stray = inheritedDescriptors();
  const nothing = stray.length === 0 ? undefined : openSync('/dev/null', 'r');
  const stdio: Extract<StdioOptions, unknown[]> = ['pipe', 'pipe', 'pipe'];
  for (const descriptor of stray) {
    while (stdio.length < descriptor) stdio.push('ignore');
    stdio[descriptor] = nothing;
  }
  if (toPreamble !== undefined) stdio[3] = 'pipe';
  try {
    const child = spawn(command, [...args], {
      env: toPreamble === undefined ? tagged : { [TAG_VARIABLE]: tag },
      cwd,
      stdio,
      detached: process.platform !== 'win32',
      windowsHide: true,
      shell: false,
    });
    const streams = childStreams(child);
    // A program that exited before reading all of it reports that itself.
    if (toPreamble !== undefined) streams.extra?.on('error', () => {}).end(toPreamble(tagged));
    return { child, streams };
  } finally {
    if (nothing !== undefined) closeSync(nothing);
  }
}

/** The sandbox's own process would take the server with it immediately: the server gets SIGTERM and time to exit. */
function terminateInsideSandbox(sandbox: number, tag: string): void {
  for (const { pid, value } of findByEnvironment(TAG_VARIABLE))
    if (value === tag && pid !== sandbox) kill(pid, 'SIGTERM');
}

let pendingLookup: Promise<TaggedProcess[]> | undefined;

/** Looked up after the request, once for all concurrent callers: it reads something of every process. */
function findTagged(): Promise<TaggedProcess[]> {
  pendingLookup ??= new Promise((resolve) => {
    setImmediate(() => {
      pendingLookup = undefined;
      resolve(findByEnvironment(TAG_VARIABLE));
    });
  });
  return pendingLookup;
}

/** Kills the rest of a group and what left it, until nothing is left: a dying process may have forked once more. */
async function killUntilGone(group: number | undefined, matches: (tag: string) => boolean): Promise<void> {
  const deadline = performance.now() + KILL_TIMEOUT_MS;
  for (let pauseMs = 1; performance.now() < deadline; pauseMs = Math.min(pauseMs * 2, 50)) {
    const tagged = withoutDetached((await findTagged()).filter(({ value }) => matches(value)));
    const grouped = group !== undefined && process.platform !== 'win32' && isGroupAlive(group);
    if (!grouped && tagged.length === 0) return;
    if (grouped) kill(-group, 'SIGKILL');
    for (const { pid } of tagged) kill(pid, 'SIGKILL');
    await pause(pauseMs);
  }
}

/** Tables with children: they end with the host, however it ends. */
const activeTables = new Set<ProcessTable>();

/** Distinguishes our signal listeners from the host's, even those of a second copy of this module. */
const SIGNAL_LISTENER_MARK = Symbol.for('turnbuckle.guard');

function registerExitCleanup(table: ProcessTable): void {
  if (activeTables.size === 0) {
    process.on('exit', endActiveTables);
    // First in line, so that a `once` listener of the host is still counted.
    for (const signal of SIGNALS) process.prependListener(signal, onSignal);
  }
  activeTables.add(table);
}

function unregisterExitCleanup(table: ProcessTable): void {
  if (activeTables.delete(table) && activeTables.size === 0) stopListening();
}

function stopListening(): void {
  process.off('exit', endActiveTables);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

function endActiveTables(): void {
  for (const table of activeTables) table.endAll();
}

const onSignal = Object.assign(
  (signal: NodeJS.Signals): void => {
    // A program with its own handlers decides when to exit; it then reaches close() or the exit hook.
    if (process.listeners(signal).some((listener) => !(SIGNAL_LISTENER_MARK in listener))) return;
    endActiveTables();
    activeTables.clear();
    stopListening();
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  },
  { [SIGNAL_LISTENER_MARK]: true },
);

const namespaceId = (): string => pidNamespace().replace(/\D/g, '') || '0';

function hostIdentity(): string {
  return `${namespaceId()}.${process.pid}.${inspectProcess(process.pid)?.start ?? '0'}`;
}

/** Its host is gone. Processes of another PID namespace (a container) are skipped: their ids mean others here. */
function isOrphan(tag: string): boolean {
  const [namespace, pid, start = '0'] = tag.split('.');
  return namespace === namespaceId() && !isSameProcess({ pid: Number(pid), start });
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

async function waitAtMost(done: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([done, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}
