/** Connecting what a command needs: one server, or every one that is switched on. */
import { type ServerStatus, TurnbuckleError } from 'turnbuckle';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { showLine } from '../terminal/untrusted-text.js';
import type { Connectable, Servers } from './servers.js';
import { unknownServer } from './unknown-server.js';

/** All of these (none named: all there are) in parallel, also those that would wait for their first use. Never rejects but for an unknown name. */
export async function connectServers(
  { output, signal }: CommandContext,
  runtime: Connectable,
  names: readonly string[],
): Promise<void> {
  requireServers(runtime, names);
  const wanted = statusOf(runtime, names).filter(({ status }) => status !== 'disabled');
  const work = Promise.all(wanted.map(({ name }) => runtime.connect(name).catch(() => {})));
  await output.withSpinner('Connecting', work);
  // After an interrupt, print and ask nothing.
  signal.throwIfAborted();
}

/** How these are, or all of them. */
export const statusOf = (runtime: Connectable, names: readonly string[]): ServerStatus[] =>
  names.length === 0 ? runtime.status() : names.map((name) => runtime.serverStatus(name));

/** SERVER_UNKNOWN, before anything is started, when one of them is not there. */
export function requireServers(runtime: Connectable, names: readonly string[]): void {
  const known = runtime.serverNames();
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw unknownServer(unknown, known);
}

/** SERVER_UNKNOWN when it is not there, SERVER_DISABLED when its user switched it off. */
export function requireUsable(runtime: Connectable, server: string): void {
  requireServers(runtime, [server]);
  if (runtime.serverStatus(server).status !== 'disabled') return;
  throw new TurnbuckleError('SERVER_DISABLED', `Server "${server}" is disabled.`, {
    server,
    hint: `Enable it: turnbuckle enable ${shellQuote(server)}`,
  });
}

/**
 * The same for what is asked of it next. Which servers there are for a token is the daemon's to say, in its words and its
 * log: a name that is in no list is told here, and asked for all the same.
 */
export async function connectForUse(
  context: CommandContext,
  servers: Servers,
  server: string,
): Promise<TurnbuckleError | undefined> {
  try {
    await connectOneOrAll(context, servers, server);
    return undefined;
  } catch (error) {
    if (servers.isRemote === true && isUnknownServer(error)) return error;
    throw error;
  }
}

/** Prefers the error that also lists the known servers. */
export const preferKnownError =
  (unknown: TurnbuckleError | undefined) =>
  (error: unknown): never => {
    throw unknown !== undefined && isUnknownServer(error) ? unknown : error;
  };

const isUnknownServer = (error: unknown): error is TurnbuckleError =>
  error instanceof TurnbuckleError && error.code === 'SERVER_UNKNOWN';

/** Connects one server and throws if it fails; or all of them, with a warning for each failure. */
export async function connectOneOrAll(
  context: CommandContext,
  runtime: Connectable,
  server: string | undefined,
): Promise<void> {
  const { output, signal } = context;
  if (server !== undefined) {
    requireUsable(runtime, server);
    await output.withSpinner(`Connecting ${showLine(server, 60)}`, runtime.connect(server));
    return signal.throwIfAborted();
  }
  await connectServers(context, runtime, []);
  for (const { name, error } of runtime.status()) {
    if (error === undefined) continue;
    output.warn(
      `${output.color.yellow('warning')} ${showLine(name, 60)} is skipped: ${showLine(error.message, 300)}`,
    );
    if (error.hint !== undefined) output.warn(`        ${showLine(error.hint, 300)}`);
  }
}
