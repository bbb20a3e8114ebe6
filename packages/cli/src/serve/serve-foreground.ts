/** The daemon in this process: from its start to the signal that ends it. */
import { once } from 'node:events';
import { join } from 'node:path';
import { type Daemon, startDaemon } from '@turnbuckle/gateway';
import { TurnbuckleError, toTurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { configurationOptions, loadCommandConfig } from '../open.js';
import { shellWord } from '../shell-word.js';
import { stateDirectoryOf } from '../state-directory-of.js';
import { showMessage } from '../untrusted-text.js';
import { VERSION } from '../version.js';
import { agentDecisions } from './agent-decisions.js';
import { reachable } from './find-daemon.js';
import { ownCommand } from './own-command.js';
import { portOf } from './port-of.js';
import { flagsForDaemon, type StartedWith } from './started-with.js';
import { showApprovals } from './terminal-approvals.js';

/** Calls on their way have so long to end. */
const DRAIN_MS = 10_000;
const DEMO = 'demo';

/** Resolves with the exit code when it has ended. `usualPort` is for when neither flag nor variable names one. */
export async function serveHere(context: CommandContext, usualPort?: number): Promise<number> {
  const { output, signal } = context;
  // What it starts belongs to it, whichever server's shell it was itself started from.
  delete process.env.TURNBUCKLE_TAG;
  const lost = new AbortController();
  const { daemon, isDemo } = await start(context, usualPort, () => lost.abort());
  announce(context, daemon, isDemo);
  const stopAsking = showApprovals(context, daemon);
  const ends = AbortSignal.any([signal, lost.signal]);
  if (!ends.aborted) await once(ends, 'abort');
  if (lost.signal.aborted) output.warn('Another daemon has taken over the state directory: this one ends.');
  else output.note('Ending: no new requests; those on their way have 10 s.');
  stopAsking();
  await daemon.close(DRAIN_MS);
  return lost.signal.aborted ? 1 : 0;
}

async function start(
  context: CommandContext,
  usualPort: number | undefined,
  onLost: () => void,
): Promise<{ readonly daemon: Daemon; readonly isDemo: boolean }> {
  const { output, flags, environment } = context;
  const warnings: string[] = [];
  const warn = (message: string): void => {
    // For whoever started it in the background, as long as somebody listens there.
    if (process.connected) warnings.push(message);
    output.warn(`${output.color.yellow('warning')} ${showMessage(message)}`);
  };
  try {
    const options = configurationOptions(context);
    const port = portOf(flags.port, environment.PORT) ?? usualPort;
    const startedWith: StartedWith = {
      directory: process.cwd(),
      flags: { ...flagsForDaemon(flags), ...(port !== undefined && { port: String(port) }) },
    };
    const demo = await demoServer(context, warn);
    const daemon = await startDaemon({
      ...options,
      // The weakest: one of that name that is added later is the one that is meant.
      usual: new Map(demo),
      // Whoever calls is asked, not whoever sees the daemon's terminal.
      approve: undefined,
      stateDir: stateDirectoryOf(context),
      version: VERSION,
      host: typeof flags.host === 'string' ? flags.host : undefined,
      port,
      startedWith,
      onLost,
      onWarning: warn,
    });
    for (const { message } of daemon.configured.config().problems) warn(message);
    process.send?.({ url: reachable(daemon.url), warnings });
    return { daemon, isDemo: demo.length > 0 };
  } catch (error) {
    process.send?.({ error: toTurnbuckleError(error).toJSON(), warnings });
    throw underNpm(error, environment);
  } finally {
    // Whoever started it in the background has heard enough.
    if (process.connected) process.disconnect();
  }
}

/** npm keeps options for itself unless they come after `--`. */
function underNpm(
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
async function demoServer(
  context: CommandContext,
  warn: (message: string) => void,
): Promise<ReadonlyArray<[string, ReturnType<typeof ownCommand>]>> {
  if (context.flags.demo !== true) return [];
  const own = (await loadCommandConfig(context, { warn: false })).servers.get(DEMO);
  if (own === undefined) return [[DEMO, ownCommand('demo-server')]];
  warn(`The demo server is left out: there is a server named "${DEMO}" in ${own.origin.file}.`);
  return [];
}

function announce(context: CommandContext, daemon: Daemon, isDemo: boolean): void {
  const { output } = context;
  const url = reachable(daemon.url);
  const tokenFile = join(stateDirectoryOf(context), 'daemon-token');
  const mcp = `${url}/mcp`;
  if (output.json) return output.data({ url, mcp, pid: process.pid, tokenFile });
  const { color } = output;
  output.line(`Turnbuckle runs at ${color.bold(url)}`);
  output.line(`MCP endpoint       ${color.bold(mcp)}`);
  output.line('');
  output.line(curlLine({ url, tokenFile, isDemo }));
  output.line('');
  output.note(agentDecisions(daemon.configured.config()));
  output.note(
    'Next: turnbuckle setup connects an agent, turnbuckle token create makes a token. Ctrl-C ends it.',
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
  const token = `-H "Authorization: Bearer $(cat ${shellWord(tokenFile)})"`;
  if (!isDemo) return `curl ${token} ${url}/tools`;
  const body = JSON.stringify({ server: DEMO, tool_name: 'add', arguments: { a: 2, b: 3 } });
  return `curl ${token} -H 'Content-Type: application/json' -d '${body}' ${url}/mcp/call`;
}
