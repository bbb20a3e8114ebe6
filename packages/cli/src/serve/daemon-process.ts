/** The daemon in the background: started so that it outlives its terminal, stopped, and asked how it is. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { TurnbuckleError } from 'turnbuckle';
import { makeDirectory } from 'turnbuckle/host';
import { isProcessAlive } from 'turnbuckle/light';
import type { CommandContext, Flags } from '../command.js';
import { DaemonClient, type DaemonErrorBody, errorFromBody } from '../daemon/daemon-client.js';
import { readProblemMessages, warnOfDaemonProblems } from '../daemon/daemon-problems.js';
import { findDaemon, type RunningDaemon, readOwnerToken } from '../daemon/find-daemon.js';
import {
  type DaemonStartOptions,
  pickDaemonFlags,
  readStartOptions,
  toCommandLine,
} from '../daemon/start-options.js';
import { loadCommandConfig } from '../session/command-runtime.js';
import { stateDirectoryOf } from '../session/state-directory.js';
import { ownCommand } from '../terminal/own-command.js';
import { formatTimestamp } from '../terminal/time-format.js';
import { showLine, showMessage } from '../terminal/untrusted-text.js';
import { describeAgentPolicy } from './agent-policy.js';
import { daemonLogFile } from './log-output.js';

/** Longer than it may take to let calls end. */
const STOP_TIMEOUT_MS = 15_000;
const POLL_MS = 50;
const NOT_RUNNING_EXIT = 3;
const UNRESPONSIVE_EXIT = 1;

/** Starts it and waits until it is ready or has failed. Options default to those of `before`. */
export async function startDaemonProcess(
  context: CommandContext,
  before?: DaemonStartOptions,
): Promise<number> {
  const { output } = context;
  const stateDir = stateDirectoryOf(context);
  const log = daemonLogFile(stateDir);
  const { command, args } = ownCommand(
    'serve',
    // Its log file holds nothing but lines of JSON.
    '--json',
    ...toCommandLine(mergeStartFlags(context, before)),
  );
  const cwd = before?.directory ?? process.cwd();
  const file = openLogFile(stateDir, log);
  // Started from a server's shell, it is not a part of that server.
  const { TURNBUCKLE_TAG: _, ...env } = process.env;
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'ignore', file, 'ipc'] });
  closeSync(file);
  try {
    const { url, warnings } = await output.withSpinner(
      'Starting the daemon',
      waitForStartup(child, context, log),
    );
    if (output.json) output.data({ url, mcp: `${url}/mcp`, pid: child.pid, log, warnings });
    else output.line(`Turnbuckle is running at ${url} (pid ${child.pid})`);
    output.note(describeAgentPolicy(await loadCommandConfig(context, { warn: false })));
    output.note(output.color.dim(`Log file: ${log}. Stop the daemon: turnbuckle serve stop`));
    return 0;
  } finally {
    if (child.connected) child.disconnect();
    child.unref();
  }
}

/** Ends the one that runs, if one does, and starts another like it. */
export async function restartDaemonProcess(context: CommandContext): Promise<number> {
  const stateDir = stateDirectoryOf(context);
  const running = findDaemon(stateDir);
  if (running === undefined) return startDaemonProcess(context);
  // It goes with the daemon.
  const before = keepPort(readStartOptions(stateDir), running);
  await stopDaemonProcess(context);
  return startDaemonProcess(context, before);
}

/** Any port that was free is now the one that its agents know. */
function keepPort(
  before: DaemonStartOptions | undefined,
  { url }: RunningDaemon,
): DaemonStartOptions | undefined {
  if (before?.flags.port !== '0') return before;
  return { ...before, flags: { ...before.flags, port: new URL(url).port } };
}

/** Asks it to end and waits until it is gone. */
export async function stopDaemonProcess(context: CommandContext): Promise<number> {
  const { output, signal } = context;
  const stateDir = stateDirectoryOf(context);
  const daemon = findDaemon(stateDir);
  if (daemon === undefined) {
    if (output.json) output.data({ running: false });
    else output.note('No daemon is running.');
    return 0;
  }
  process.kill(daemon.pid, 'SIGTERM');
  await output.withSpinner('Waiting for running calls to finish', waitUntilStopped(stateDir, daemon, signal));
  if (context.positionals[0] !== 'stop') return 0;
  if (output.json) output.data({ running: false, stopped: daemon.pid });
  else output.line(`The daemon at ${daemon.url} stopped.`);
  return 0;
}

export async function showDaemonStatus(context: CommandContext): Promise<number> {
  const { output } = context;
  const stateDir = stateDirectoryOf(context);
  const daemon = findDaemon(stateDir);
  if (daemon === undefined) {
    if (output.json) output.data({ running: false });
    else output.line(output.rewriteCommands('No daemon is running. Start it: turnbuckle serve start'));
    return NOT_RUNNING_EXIT;
  }
  const client = new DaemonClient({ url: daemon.url, token: readOwnerToken(stateDir) });
  type Counted = { readonly servers: readonly ListedServer[] };
  const answer = await client.get<Counted>('/api/servers').catch((error: unknown) => error);
  const said = answer instanceof Error ? undefined : (answer as Counted).servers;
  const servers = Array.isArray(said) ? said.filter(isListedServer) : undefined;
  const problems = await readProblemMessages(client);
  const up = servers?.filter(({ status }) => status === 'connected').length;
  const log = readStartOptions(stateDir)?.log;
  if (output.json) {
    const counts = { servers: servers?.length, up, problems };
    output.data({ running: true, answers: servers !== undefined, ...daemon, ...counts, log });
    return servers === undefined ? UNRESPONSIVE_EXIT : 0;
  }
  output.line(`Turnbuckle ${showLine(daemon.version, 40)} is running at ${daemon.url}`);
  if (daemon.listensAt !== undefined)
    output.line(`It listens on ${showLine(daemon.listensAt, 100)} and is reachable from other machines.`);
  if (log !== undefined) output.line(`Log file: ${showLine(log, 300)}`);
  output.line(`pid ${daemon.pid}, running since ${formatTimestamp(Date.parse(daemon.started))}`);
  if (servers !== undefined) {
    output.line(output.rewriteCommands(`${summarizeServers(servers)}. Details: turnbuckle list`));
    await warnOfDaemonProblems(context, client);
    return 0;
  }
  const why = answer instanceof Error ? answer.message : '';
  output.warn(`${output.color.yellow('warning')} The daemon does not respond: ${showLine(why, 200)}`);
  return UNRESPONSIVE_EXIT;
}

interface ListedServer {
  readonly status: string;
  readonly state: string;
}

const isListedServer = (value: unknown): value is ListedServer => typeof value === 'object' && value !== null;

/** `2 of 3 servers are up, 1 is connecting`. */
export function summarizeServers(servers: readonly ListedServer[]): string {
  const up = servers.filter(({ status }) => status === 'connected').length;
  const coming = servers.filter(({ state }) => state === 'connecting').length;
  const what = servers.length === 1 ? 'server is connected' : 'servers are connected';
  const rest = coming === 0 ? '' : `, ${coming} ${coming === 1 ? 'is' : 'are'} connecting`;
  return `${up} of ${servers.length} ${what}${rest}`;
}

function mergeStartFlags(
  { flags, environment }: CommandContext,
  before: DaemonStartOptions | undefined,
): Flags {
  const { port, ...others } = before?.flags ?? {};
  // The variable is as good as the flag: the new one takes it from there.
  const isNamed = (environment.PORT ?? '') !== '';
  return { ...others, ...(port !== undefined && !isNamed && { port }), ...pickDaemonFlags(flags) };
}

function openLogFile(stateDir: string, log: string): number {
  makeDirectory(stateDir);
  return openSync(log, 'a', 0o600);
}

interface StartupMessage {
  readonly url?: string;
  readonly warnings?: readonly string[];
  readonly error?: DaemonErrorBody & { readonly message?: string };
}

/** Resolves with its startup message and repeats its warnings; throws its error if it failed. */
async function waitForStartup(
  child: ChildProcess,
  { output }: CommandContext,
  log: string,
): Promise<{ readonly url: string; readonly warnings: readonly string[] }> {
  const ended = once(child, 'exit').then((): StartupMessage => ({}));
  const said = once(child, 'message').then(([message]): StartupMessage => message);
  const failed = once(child, 'error').then(
    ([error]): StartupMessage => ({ error: { message: String(error) } }),
  );
  const { url, warnings = [], error } = await Promise.race([said, ended, failed]);
  for (const warning of warnings) output.warn(`${output.color.yellow('warning')} ${showMessage(warning)}`);
  if (url !== undefined) return { url, warnings };
  if (error !== undefined) throw errorFromBody({ ...error, error: error.message });
  throw new TurnbuckleError('INTERNAL', 'The daemon exited before it was ready.', {
    hint: `See its log: ${log}`,
  });
}

async function waitUntilStopped(
  stateDir: string,
  { pid }: RunningDaemon,
  signal: AbortSignal,
): Promise<void> {
  for (const until = performance.now() + STOP_TIMEOUT_MS; performance.now() < until; ) {
    if (!isProcessAlive(pid) && findDaemon(stateDir)?.pid !== pid) return;
    await delay(POLL_MS, undefined, { signal });
  }
  throw new TurnbuckleError('DAEMON_RUNNING', `The daemon (pid ${pid}) did not stop.`, {
    hint: `Send a second SIGTERM to stop it immediately: kill ${pid}`,
  });
}
