/** The MCP endpoint on stdin and stdout without a daemon, with separate connections; ends with its client. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  checkDepth,
  createStdioCaller,
  EarlyReports,
  incrementDepth,
  logRuntime,
  McpEndpoint,
  onIdentityEnd,
  openTelemetry,
  type Report,
  type RuntimeLogs,
  type StdioCaller,
  type Telemetry,
  TokenStore,
  telemetryProblem,
} from '@turnbuckle/gateway';
import {
  type ConfiguredOptions,
  type ConfiguredRuntime,
  createConfiguredRuntime,
  TurnbuckleError,
} from 'turnbuckle';
import { Cancellation, offAbort, onAbort } from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { nearestWord } from '../command-line/nearest-word.js';
import { configurationOptions } from '../session/command-runtime.js';
import { currentRoots } from '../session/current-roots.js';
import { stateDirectoryOf } from '../session/state-directory.js';
import { showLine } from '../terminal/untrusted-text.js';
import { VERSION } from '../version.js';
import { createLogOutput } from './log-output.js';
import type { StdioIdentity } from './stdio-tunnel.js';

/** Many clients ask for the tools once, at the start: servers that come up by then are among them. */
const START_TIMEOUT_MS = 5_000;
const MAX_MESSAGE_BYTES = 64 * 1_024 * 1_024;

/** Names are strangers' text: what is to be typed is quoted. */
function approvalHint({ server, tool, callerId = 'host', kind }: ApprovalHintInput): string {
  const [who, where, what] = [callerId, server, tool].map((word) => shellQuote(showLine(word, 200)));
  const allow = kind === 'tool' ? `turnbuckle rules allow ${who} ${where} ${what}` : 'turnbuckle rules';
  return [
    'Approvals over stdio require a running daemon.',
    'Start the daemon (turnbuckle serve start) and restart the client. Then approve or deny pending calls (turnbuckle approvals).',
    `Alternatively, allow such calls with a rule (${allow}).`,
    `If the tool has changed, approve its new definition (turnbuckle rules pin ${where} ${what}).`,
    'To approve calls in a client that supports forms, set "daemon": { "approvalForms": "approve" } in your configuration.',
  ].join(' ');
}

type ApprovalHintInput = Parameters<Exclude<ConfiguredOptions['approvalHint'], string | undefined>>[0];

/** Serves until the client leaves or a signal comes. */
export async function serveStdioStandalone(context: CommandContext, who: StdioIdentity): Promise<void> {
  const { signal } = context;
  checkDepth(context.environment);
  // Check the caller before anything is started.
  const { tokens, ...client } = await openStdioClient(context, who);
  const early = new EarlyReports();
  const { telemetry, ...configured } = await openRuntime(context, early.report);
  const { runtime, config, follow } = configured;
  const front = new McpEndpoint({
    runtime,
    version: VERSION,
    views: config().settings.daemon?.views,
    approvalForms: () => config().settings.daemon?.approvalForms,
    isSingleClient: true,
    telemetry,
  });
  const leave = (): unknown => process.stdin.destroy();
  const ended = new Cancellation();
  ended.addEventListener('abort', leave);
  const forget = client.identity && onIdentityEnd(client.identity, () => ended.cancel());
  let logs: RuntimeLogs | undefined;
  try {
    const view = requireView(context, front, Object.keys(config().settings.daemon?.views ?? {}));
    const stateDir = stateDirectoryOf(context);
    const started = await logRuntime(configured, { stateDir, output: createLogOutput(context) });
    logs = started;
    early.passTo(started.report);
    onAbort(signal, leave);
    const stopFollowing = await follow((reload) => {
      started.reloaded(reload);
      front.setViews(config().settings.daemon?.views ?? {});
      front.invalidate();
    });
    await Promise.race([runtime.connectAll(), delay(START_TIMEOUT_MS, undefined, { ref: false })]);
    if (!ended.aborted && !signal.aborted) await serveClient(front, view, { caller: client.callerOf, ended });
    await stopFollowing();
  } finally {
    forget?.();
    tokens?.close();
    offAbort(signal, leave);
    await front.close();
    await runtime.close();
    await telemetry?.close();
    await logs?.close();
  }
  if (ended.aborted)
    throw new TurnbuckleError(
      'ACCESS_DENIED',
      `The token "${who.name}" was revoked or has expired. Closing the connection to the client.`,
      {
        hint: `Create a new token (turnbuckle token create ${shellQuote(who.name ?? '')}) and restart the client.`,
      },
    );
}

/** The runtime, and the telemetry of its configuration. */
async function openRuntime(
  context: CommandContext,
  report: Report,
): Promise<ConfiguredRuntime & { readonly telemetry: Telemetry | undefined }> {
  const { environment } = context;
  let telemetry: Telemetry | undefined;
  const configured = await createConfiguredRuntime({
    usualNaming: 'server_tool',
    instance: randomBytes(12).toString('base64url'),
    ...configurationOptions(context),
    environment: incrementDepth(environment),
    // stdin belongs to the client, so there is no terminal to prompt on.
    approve: undefined,
    approvals: 'queue',
    approvalHint,
    askInput: undefined,
    handlers: { roots: currentRoots },
    callersAnswer: true,
    createTelemetry: ({ daemon }) => {
      const onWarning = (text: string): void => report(telemetryProblem(text));
      telemetry = openTelemetry({ environment, traces: daemon?.traces, version: VERSION, onWarning });
      return telemetry;
    },
  });
  return { ...configured, telemetry };
}

interface StdioClient {
  readonly caller: StdioCaller['callerOf'];
  readonly ended: Cancellation;
}

/** Whom the client is taken for. A token is only needed, and then has to be there, where it is named. */
async function openStdioClient(
  context: CommandContext,
  who: StdioIdentity,
): Promise<StdioCaller & { readonly tokens?: TokenStore }> {
  if (who.name === undefined) return createStdioCaller(who, () => undefined);
  const tokens = await TokenStore.open({ stateDir: stateDirectoryOf(context) });
  const client = createStdioCaller(who, (name) => tokens.findByName(name));
  tokens.watch();
  return { ...client, tokens };
}

async function serveClient(front: McpEndpoint, view: string, client: StdioClient): Promise<void> {
  const { stdin: input, stdout } = process;
  await front
    .serveStdio({ ...client, input, output: stdout, maxBytes: MAX_MESSAGE_BYTES }, view)
    .catch((error: unknown) => {
      // That the input was cut off is how it ends by a signal.
      if (!input.destroyed) throw error;
    });
}

function requireView({ flags }: CommandContext, front: McpEndpoint, views: readonly string[]): string {
  const { view = '' } = flags;
  if (typeof view === 'string' && front.viewContext(view) !== undefined) return view;
  const close = nearestWord(String(view), views);
  throw new TurnbuckleError('CONFIG_INVALID', `There is no view named "${String(view)}".`, {
    hint:
      close === undefined
        ? 'Views are defined under daemon.views in your configuration.'
        : `Did you mean "${close}"?`,
  });
}
