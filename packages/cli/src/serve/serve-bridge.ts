/** The bridge in this process, alone or beside a daemon: from its start to the signal that ends it. */
import { once } from 'node:events';
import { join } from 'node:path';
import { startBridge } from '@turnbuckle/gateway';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { toReachableUrl } from '../daemon/find-daemon.js';
import { configurationOptions } from '../session/command-runtime.js';
import { stateDirectoryOf } from '../session/state-directory.js';
import { showMessage } from '../terminal/untrusted-text.js';
import { VERSION } from '../version.js';
import { createLogOutput } from './log-output.js';
import { parsePort } from './parse-port.js';
import { DRAIN_TIMEOUT_MS, demoServer, withNpmHint } from './serve-foreground.js';

const DEFAULT_BRIDGE_PORT = 3_001;
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

const APPROVAL_HINT =
  'The bridge can ask for approval only in its own terminal. Allow such calls with a rule (turnbuckle rules allow <caller> <server> <tool>), or send the call to the daemon (turnbuckle serve), where you can approve it.';

/** Resolves with the exit code when it has ended. */
export async function serveBridge(context: CommandContext): Promise<number> {
  const { output, flags, environment, signal } = context;
  // What it starts belongs to it, whichever server's shell it was itself started from.
  delete process.env.TURNBUCKLE_TAG;
  const warn = (message: string): void =>
    output.warn(`${output.color.yellow('warning')} ${showMessage(message)}`);
  const options = configurationOptions(context);
  const port = parsePort(flags.port, environment.PORT) ?? namedPort(environment.MCP_BRIDGE_URL);
  const bridge = await startBridge({
    ...options,
    usual: new Map(await demoServer(context, warn)),
    approvalHint: APPROVAL_HINT,
    host: typeof flags.host === 'string' ? flags.host : undefined,
    port: port ?? DEFAULT_BRIDGE_PORT,
    version: VERSION,
    operatorLog: createLogOutput(context),
  }).catch((error: unknown) => {
    throw withNpmHint(error, environment);
  });
  announce(context, toReachableUrl(bridge.url));
  if (!signal.aborted) await once(signal, 'abort');
  output.note('Stopping. Waiting up to 10 s for running requests to finish.');
  await bridge.close(DRAIN_TIMEOUT_MS);
  return 0;
}

/** The port at which programs of this machine look for the bridge. */
function namedPort(url: string | undefined): number | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { protocol, hostname, port } = new URL(url);
  return protocol === 'http:' && LOOPBACK_HOSTS.has(hostname) && port !== '' ? Number(port) : undefined;
}

function announce(context: CommandContext, url: string): void {
  const { output } = context;
  const tokenFile = join(stateDirectoryOf(context), 'daemon-token');
  if (output.json) return output.data({ url, call: `${url}/mcp/call`, pid: process.pid, tokenFile });
  const { color } = output;
  output.line(`The bridge is running at ${color.bold(`${url}/mcp/call`)}`);
  output.line('');
  output.line(`curl -H "Authorization: Bearer $(cat ${shellQuote(tokenFile)})" ${url}/tools`);
  output.line('');
  output.note('Press Ctrl-C to stop. Create a token for a program: turnbuckle token create <name>');
}
