/** The daemon in this process: from its start to the signal that ends it. */
import { once } from 'node:events';
import { join } from 'node:path';
import { type Daemon, startDaemon } from '@turnbuckle/gateway';
import { TurnbuckleError } from 'turnbuckle';
import { toTurnbuckleError } from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';
import { handleApprovalsInTerminal } from '../approvals/handle-approvals.js';
import type { CommandContext } from '../command.js';
import { toReachableUrl } from '../daemon/find-daemon.js';
import { type DaemonStartOptions, pickDaemonFlags } from '../daemon/start-options.js';
import { configurationOptions, loadCommandConfig } from '../session/command-runtime.js';
import { stateDirectoryOf } from '../session/state-directory.js';
import { ownCommand } from '../terminal/own-command.js';
import { showMessage } from '../terminal/untrusted-text.js';
import { VERSION } from '../version.js';
import { describeAgentPolicy } from './agent-policy.js';
import { createParts } from './create-parts.js';
import { createLogOutput, type LogLine, ownLogFile } from './log-output.js';
import { parsePort } from './parse-port.js';

/** How long running calls may take to finish. */
export const DRAIN_TIMEOUT_MS = 10_000;
const DEMO_SERVER = 'demo';

/** Resolves with the exit code when it has ended. */
export async function serveInForeground(context: CommandContext): Promise<number> {
  const { signal } = context;
  // What it starts belongs to it, whichever server's shell it was itself started from.
  delete process.env.TURNBUCKLE_TAG;
  const lost = new AbortController();
  const { daemon, isDemo } = await start(context, () => lost.abort());
  announce(context, daemon, isDemo);
  const stopAsking = handleApprovalsInTerminal(context, daemon);
  const ends = AbortSignal.any([signal, lost.signal]);
  if (!ends.aborted) await once(ends, 'abort');
  if (!lost.signal.aborted)
    context.output.note('Stopping. Waiting up to 10 s for running requests to finish.');
  stopAsking();
  await daemon.close(DRAIN_TIMEOUT_MS);
  return lost.signal.aborted ? 1 : 0;
}

async function start(
  context: CommandContext,
  onLost: () => void,
): Promise<{ readonly daemon: Daemon; readonly isDemo: boolean }> {
  const { output, flags, environment } = context;
  const warnings: string[] = [];
  try {
    const options = configurationOptions(context);
    const port = parsePort(flags.port, environment.PORT);
    const startedWith: DaemonStartOptions = {
      directory: process.cwd(),
      flags: { ...pickDaemonFlags(flags), ...(port !== undefined && { port: String(port) }) },
      log: ownLogFile(stateDirectoryOf(context)),
    };
    const operatorLog = createLogOutput(context, (line) => {
      // For the parent process, while it is connected.
      if (process.connected && isStartupWarning(line)) warnings.push([line.text, line.next].join(' ').trim());
    });
    const demo = await demoServer(context, (message) => {
      warnings.push(message);
      output.warn(`${output.color.yellow('warning')} ${showMessage(message)}`);
    });
    const daemon = await startDaemon({
      ...options,
      // The weakest: one of that name that is added later is the one that is meant.
      usual: new Map(demo),
      // The daemon queues approvals; its terminal is one way to answer them.
      approve: undefined,
      stateDir: stateDirectoryOf(context),
      version: VERSION,
      host: typeof flags.host === 'string' ? flags.host : undefined,
      port,
      startedWith,
      onLost,
      operatorLog,
      parts: createParts({ cwd: options.cwd, files: options.files }),
    });
    process.send?.({ url: toReachableUrl(daemon.url), warnings });
    return { daemon, isDemo: demo.length > 0 };
  } catch (error) {
    process.send?.({ error: toTurnbuckleError(error).toJSON(), warnings });
    throw withNpmHint(error, environment);
  } finally {
    // The parent process needs no more messages.
    if (process.connected) process.disconnect();
  }
}

/** Servers connect while it starts: whether one has failed by then is a matter of chance. */
const isStartupWarning = ({ level, server, kind }: LogLine): boolean =>
  level !== 'info' && level !== 'debug' && (server === undefined || kind === 'entry-invalid');

/** npm keeps options for itself unless they come after `--`. */
export function withNpmHint(
  error: unknown,
  { npm_lifecycle_event: script = '' }: CommandContext['environment'],
): unknown {
  if (!(error instanceof TurnbuckleError) || error.code !== 'LISTEN_FAILED') return error;
  if (!/^[\w:.-]+$/.test(script)) return error;
  const { code, message, hint = '', cause, data } = error;
  const start = script === 'start' ? 'npm start' : `npm run ${script}`;
  return new TurnbuckleError(code, message, {
    hint: hint.replace('--port <n>', `${start} -- --port <n>`),
    cause,
    data,
  });
}

/** With --demo; nothing where the user has a server of that name: it is the one that is meant everywhere else. */
export async function demoServer(
  context: CommandContext,
  warn: (message: string) => void,
): Promise<ReadonlyArray<[string, ReturnType<typeof ownCommand>]>> {
  if (context.flags.demo !== true) return [];
  const own = (await loadCommandConfig(context, { warn: false })).servers.get(DEMO_SERVER);
  if (own === undefined) return [[DEMO_SERVER, ownCommand('demo-server')]];
  warn(`Skipping the demo server because ${own.origin.file} already has a server named "${DEMO_SERVER}".`);
  return [];
}

function announce(context: CommandContext, daemon: Daemon, isDemo: boolean): void {
  const { output } = context;
  const url = toReachableUrl(daemon.url);
  const tokenFile = join(stateDirectoryOf(context), 'daemon-token');
  const mcp = `${url}/mcp`;
  if (output.json) return output.data({ url, mcp, pid: process.pid, tokenFile });
  const { color } = output;
  output.line(`Turnbuckle is running at ${color.bold(url)}`);
  output.line(`MCP endpoint             ${color.bold(mcp)}`);
  output.line('');
  output.line(curlLine({ url, tokenFile, isDemo }));
  output.line('');
  output.note(describeAgentPolicy(daemon.configured.config()));
  output.note(
    'Press Ctrl-C to stop. Next, connect an agent (turnbuckle setup), or create a token: turnbuckle token create <name>',
  );
}

/** To be pasted: the token is read from its file, so that it is neither shown nor kept in a history. */
function curlLine({
  url,
  tokenFile,
  isDemo,
}: {
  readonly url: string;
  readonly tokenFile: string;
  readonly isDemo: boolean;
}): string {
  const token = `-H "Authorization: Bearer $(cat ${shellQuote(tokenFile)})"`;
  if (!isDemo) return `curl ${token} ${url}/tools`;
  const body = JSON.stringify({ server: DEMO_SERVER, tool_name: 'add', arguments: { a: 2, b: 3 } });
  return `curl ${token} -H 'Content-Type: application/json' -d '${body}' ${url}/mcp/call`;
}
