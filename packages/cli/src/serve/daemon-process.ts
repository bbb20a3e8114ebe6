/** The daemon in the background: started so that it outlives its terminal, stopped, and asked how it is. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeDirectory, TurnbuckleError } from 'turnbuckle';
import type { CommandContext, Flags } from '../command.js';
import { loadCommandConfig } from '../open.js';
import { stateDirectoryOf } from '../state-directory-of.js';
import { showMoment } from '../time-words.js';
import { showLine, showMessage } from '../untrusted-text.js';
import { agentDecisions } from './agent-decisions.js';
import { DaemonClient, type Refusal, refusalOf } from './daemon-client.js';
import { findDaemon, isLive, type RunningDaemon, readToken } from './find-daemon.js';
import { ownCommand } from './own-command.js';
import { flagsForDaemon, readStartedWith, type StartedWith, toWords } from './started-with.js';
import { readProblems, tellProblems } from './tell-problems.js';

const MOST_LOG_BYTES = 5 * 1_024 * 1_024;
/** Longer than it may take to let calls end. */
const STOP_MS = 15_000;
const LOOK_MS = 50;
const NOT_RUNNING_EXIT = 3;
const SILENT_EXIT = 1;

/** Starts it and waits until it answers, or says why it does not. What is not given now is as it was `before`. */
export async function startDaemonProcess(context: CommandContext, before?: StartedWith): Promise<number> {
  const { output } = context;
  const stateDir = stateDirectoryOf(context);
  const log = join(stateDir, 'daemon.log');
  const { command, args } = ownCommand('serve', ...toWords(flagsAfter(context, before)));
  const cwd = before?.directory ?? process.cwd();
  const file = openLog(stateDir, log);
  // Started from a server's shell, it is not a part of that server.
  const { TURNBUCKLE_TAG: _, ...env } = process.env;
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', file, file, 'ipc'] });
  closeSync(file);
  try {
    const { url, warnings } = await output.during('Starting the daemon', firstWords(child, context, log));
    if (output.json) output.data({ url, mcp: `${url}/mcp`, pid: child.pid, log, warnings });
    else output.line(`Turnbuckle runs at ${url}, process ${child.pid}`);
    output.note(agentDecisions(await loadCommandConfig(context, { warn: false })));
    output.note(output.color.dim(`Its log: ${log}. End it: turnbuckle serve stop`));
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
  const before = withPort(readStartedWith(stateDir), running);
  await stopDaemonProcess(context);
  return startDaemonProcess(context, before);
}

/** Any port that was free is now the one that its agents know. */
function withPort(before: StartedWith | undefined, { url }: RunningDaemon): StartedWith | undefined {
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
    else output.note('No daemon runs.');
    return 0;
  }
  process.kill(daemon.pid, 'SIGTERM');
  await output.during('Waiting until its calls have ended', gone(stateDir, daemon, signal));
  if (context.words[0] !== 'stop') return 0;
  if (output.json) output.data({ running: false, stopped: daemon.pid });
  else output.line(`The daemon at ${daemon.url} has ended.`);
  return 0;
}

export async function showDaemon(context: CommandContext): Promise<number> {
  const { output } = context;
  const stateDir = stateDirectoryOf(context);
  const daemon = findDaemon(stateDir);
  if (daemon === undefined) {
    if (output.json) output.data({ running: false });
    else output.line(output.spell('No daemon runs. Start one: turnbuckle serve start'));
    return NOT_RUNNING_EXIT;
  }
  const client = new DaemonClient({ url: daemon.url, token: readToken(stateDir) });
  type Counted = { readonly servers: readonly CountedServer[] };
  const answer = await client.get<Counted>('/api/servers').catch((error: unknown) => error);
  const said = answer instanceof Error ? undefined : (answer as Counted).servers;
  const servers = Array.isArray(said) ? said.filter(isCounted) : undefined;
  const problems = await readProblems(client);
  const up = servers?.filter(({ status }) => status === 'connected').length;
  if (output.json) {
    const counts = { servers: servers?.length, up, problems };
    output.data({ running: true, answers: servers !== undefined, ...daemon, ...counts });
    return servers === undefined ? SILENT_EXIT : 0;
  }
  output.line(`Turnbuckle ${showLine(daemon.version, 40)} runs at ${daemon.url}`);
  if (daemon.listensAt !== undefined)
    output.line(`It listens at ${showLine(daemon.listensAt, 100)}: other machines can reach it.`);
  output.line(`process ${daemon.pid}, since ${showMoment(Date.parse(daemon.started))}`);
  if (servers !== undefined) {
    output.line(output.spell(`${howManyUp(servers)}: turnbuckle list`));
    await tellProblems(context, client);
    return 0;
  }
  const why = answer instanceof Error ? answer.message : '';
  output.warn(`${output.color.yellow('warning')} It does not answer: ${showLine(why, 200)}`);
  return SILENT_EXIT;
}

interface CountedServer {
  readonly status: string;
  readonly state: string;
}

const isCounted = (value: unknown): value is CountedServer => typeof value === 'object' && value !== null;

/** `2 of 3 servers are up, 1 is connecting`. */
export function howManyUp(servers: readonly CountedServer[]): string {
  const up = servers.filter(({ status }) => status === 'connected').length;
  const coming = servers.filter(({ state }) => state === 'connecting').length;
  const what = servers.length === 1 ? 'server is up' : 'servers are up';
  const rest = coming === 0 ? '' : `, ${coming} ${coming === 1 ? 'is' : 'are'} connecting`;
  return `${up} of ${servers.length} ${what}${rest}`;
}

function flagsAfter({ flags, environment }: CommandContext, before: StartedWith | undefined): Flags {
  const { port, ...others } = before?.flags ?? {};
  // The variable is as good as the flag: the new one takes it from there.
  const isNamed = (environment.PORT ?? '') !== '';
  return { ...others, ...(port !== undefined && !isNamed && { port }), ...flagsForDaemon(flags) };
}

function openLog(stateDir: string, log: string): number {
  makeDirectory(stateDir);
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > MOST_LOG_BYTES) renameSync(log, `${log}.1`);
  return openSync(log, 'a', 0o600);
}

interface FirstWords {
  readonly url?: string;
  readonly warnings?: readonly string[];
  readonly error?: Refusal & { readonly message?: string };
}

/** What it says about its start, with its warnings repeated; the error that it ended with otherwise. */
async function firstWords(
  child: ChildProcess,
  { output }: CommandContext,
  log: string,
): Promise<{ readonly url: string; readonly warnings: readonly string[] }> {
  const ended = once(child, 'exit').then((): FirstWords => ({}));
  const said = once(child, 'message').then(([message]): FirstWords => message);
  const failed = once(child, 'error').then(([error]): FirstWords => ({ error: { message: String(error) } }));
  const { url, warnings = [], error } = await Promise.race([said, ended, failed]);
  for (const warning of warnings) output.warn(`${output.color.yellow('warning')} ${showMessage(warning)}`);
  if (url !== undefined) return { url, warnings };
  if (error !== undefined) throw refusalOf({ ...error, error: error.message });
  throw new TurnbuckleError('INTERNAL', 'The daemon ended before it was ready.', {
    hint: `What it said is in ${log}.`,
  });
}

async function gone(stateDir: string, { pid }: RunningDaemon, signal: AbortSignal): Promise<void> {
  for (const until = performance.now() + STOP_MS; performance.now() < until; ) {
    if (!isLive(pid) && findDaemon(stateDir)?.pid !== pid) return;
    await delay(LOOK_MS, undefined, { signal });
  }
  throw new TurnbuckleError('DAEMON_RUNNING', `The daemon, process ${pid}, does not end.`, {
    hint: `A second SIGTERM ends it at once: kill ${pid}`,
  });
}
