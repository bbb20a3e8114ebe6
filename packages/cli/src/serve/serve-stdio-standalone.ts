/** The MCP endpoint on stdin and stdout without a daemon: it has connections of its own, and ends with its client. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  checkDepth,
  deeper,
  logCalls,
  McpFront,
  onVisitorEnd,
  type StdioCaller,
  stdioCaller,
  TokenStore,
} from '@turnbuckle/gateway';
import { Cancellation, type ConfiguredOptions, createConfiguredRuntime, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { nearestWord } from '../nearest-word.js';
import { configurationOptions } from '../open.js';
import { rootsHere } from '../roots-here.js';
import { shellWord } from '../shell-word.js';
import { stateDirectoryOf } from '../state-directory-of.js';
import { showLine, showMessage } from '../untrusted-text.js';
import { VERSION } from '../version.js';
import type { StdioWho } from './stdio-through-daemon.js';

/** Many clients ask for the tools once, at the start: servers that come up by then are among them. */
const START_MS = 5_000;
const MOST_BYTES = 64 * 1_024 * 1_024;

/** Names are strangers' text: what is to be typed is quoted. */
function approvalHint({ server, tool, callerId = 'host', kind }: Asked): string {
  const [who, where, what] = [callerId, server, tool].map((word) => shellWord(showLine(word, 200)));
  const allow = kind === 'tool' ? `turnbuckle rules allow ${who} ${where} ${what}` : 'turnbuckle rules';
  return [
    'Nobody can be asked over stdio without a daemon.',
    'Start one (turnbuckle serve start) and restart the client: then such calls wait, and turnbuckle approvals answers them.',
    `Or allow it from now on: ${allow}`,
    `Where the tool has changed: turnbuckle rules pin ${where} ${what}`,
    'A client that can show forms can ask you itself, if your configuration has "daemon": { "approvalForms": "approve" }.',
  ].join(' ');
}

type Asked = Parameters<Exclude<ConfiguredOptions['approvalHint'], string | undefined>>[0];

/** Serves until the client leaves or a signal comes. */
export async function serveStdioHere(context: CommandContext, who: StdioWho): Promise<void> {
  const { output, signal } = context;
  checkDepth(context.environment);
  // Before anything is started for somebody who may not come in.
  const { tokens, ...client } = await clientHere(context, who);
  const { runtime, config, follow } = await createConfiguredRuntime({
    usualNaming: 'server_tool',
    instance: randomBytes(12).toString('base64url'),
    ...configurationOptions(context),
    environment: deeper(context.environment),
    // stdin is the client's: nobody can be asked there but the client.
    approve: undefined,
    approvals: 'queue',
    approvalHint,
    askInput: undefined,
    handlers: { roots: rootsHere },
    callersAnswer: true,
  });
  const warn = (message: string): void =>
    output.warn(`${output.color.yellow('warning')} ${showMessage(message)}`);
  for (const { message } of config().problems) warn(message);
  const front = new McpFront({
    runtime,
    version: VERSION,
    views: config().settings.daemon?.views,
    approvalForms: () => config().settings.daemon?.approvalForms,
    isAlone: true,
  });
  const leave = (): unknown => process.stdin.destroy();
  const ended = new Cancellation();
  ended.addEventListener('abort', leave);
  const forget = client.visitor && onVisitorEnd(client.visitor, () => ended.cancel());
  let stopLog = async (): Promise<void> => {};
  try {
    const view = viewOf(context, front, Object.keys(config().settings.daemon?.views ?? {}));
    const settings = config().settings.daemon?.log;
    stopLog = logCalls(runtime, { stateDir: stateDirectoryOf(context), settings, onWarning: warn });
    signal.addEventListener('abort', leave, { once: true });
    const stopFollowing = await follow(() => {
      front.setViews(config().settings.daemon?.views ?? {});
      front.invalidate();
    });
    await Promise.race([runtime.connectAll(), delay(START_MS, undefined, { ref: false })]);
    if (!ended.aborted) await serve(front, view, { caller: client.callerOf, ended });
    await stopFollowing();
  } finally {
    forget?.();
    tokens?.close();
    signal.removeEventListener('abort', leave);
    await front.close();
    await runtime.close();
    await stopLog();
  }
  if (ended.aborted)
    throw new TurnbuckleError(
      'ACCESS_DENIED',
      `The token "${who.name}" is revoked or has expired, and this client ends with it.`,
      { hint: `Make another one (turnbuckle token create ${who.name}), and have the client start again.` },
    );
}

interface Client {
  readonly caller: StdioCaller['callerOf'];
  readonly ended: Cancellation;
}

/** Whom the client is taken for. A token is only needed, and then has to be there, where it is named. */
async function clientHere(
  context: CommandContext,
  who: StdioWho,
): Promise<StdioCaller & { readonly tokens?: TokenStore }> {
  if (who.name === undefined) return stdioCaller(who, () => undefined);
  const tokens = await TokenStore.open({ stateDir: stateDirectoryOf(context) });
  const client = stdioCaller(who, (name) => tokens.named(name));
  tokens.watch();
  return { ...client, tokens };
}

async function serve(front: McpFront, view: string, client: Client): Promise<void> {
  const { stdin: input, stdout } = process;
  await front
    .serveStdio({ ...client, input, output: stdout, maxBytes: MOST_BYTES }, view)
    .catch((error: unknown) => {
      // That the input was cut off is how it ends by a signal.
      if (!input.destroyed) throw error;
    });
}

function viewOf({ flags }: CommandContext, front: McpFront, views: readonly string[]): string {
  const { view = '' } = flags;
  if (typeof view === 'string' && front.desk(view) !== undefined) return view;
  const close = nearestWord(String(view), views);
  throw new TurnbuckleError('CONFIG_INVALID', `There is no view named "${String(view)}".`, {
    hint:
      close === undefined ? 'Views are in daemon.views of your configuration.' : `Did you mean "${close}"?`,
  });
}
