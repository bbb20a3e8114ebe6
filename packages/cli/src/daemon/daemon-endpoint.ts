/** Whether a command works through a daemon, and through which. */
import { lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { TurnbuckleError } from 'turnbuckle';
import { homeDirectory } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { stateDirectoryOf } from '../session/state-directory.js';
import { DaemonClient } from './daemon-client.js';
import { findDaemon, readOwnerToken } from './find-daemon.js';
import { NoResponseError } from './http/send-request.js';

/** What these ask for the daemon does not have. */
const DIRECT_ONLY_FLAGS = ['no-daemon', 'config', 'mcp-server', 'trust-project', 'as', 'capability'];

export interface DaemonEndpoint {
  readonly client: DaemonClient;
  /** By MCP_BRIDGE_URL: then there is nothing to fall back on. */
  readonly isExplicit: boolean;
}

/** Undefined: the command connects servers itself. Sends nothing. */
export function findDaemonEndpoint(context: CommandContext): DaemonEndpoint | undefined {
  const { flags, environment } = context;
  if (DIRECT_ONLY_FLAGS.some((flag) => flags[flag] !== undefined && flags[flag] !== false)) return undefined;
  const stateDir = stateDirectoryOf(context);
  const named = environment.MCP_BRIDGE_URL;
  const daemon = findDaemon(stateDir);
  if (named === undefined || named === '') {
    if (daemon === undefined) return undefined;
    return {
      client: new DaemonClient({ url: daemon.url, token: readOwnerToken(stateDir) }),
      isExplicit: false,
    };
  }
  const url = parseBridgeUrl(named);
  // Send the owner's token only to the owner's daemon.
  const isOwn = daemon !== undefined && new URL(daemon.url).origin === new URL(url).origin;
  const token = environment.TURNBUCKLE_TOKEN || (isOwn ? readOwnerToken(stateDir) : undefined);
  return { client: new DaemonClient({ url, token, isNamed: true }), isExplicit: true };
}

/** The local daemon of this user, ignoring MCP_BRIDGE_URL; undefined if the command does not use it. */
export function findLocalDaemon(context: CommandContext): DaemonClient | undefined {
  const environment = { ...context.environment, MCP_BRIDGE_URL: undefined };
  return findDaemonEndpoint({ ...context, environment })?.client;
}

/**
 * Does the work through the daemon; undefined when there is none that could: the command then makes its own
 * connections. A daemon that does not answer is told in a note.
 */
export async function throughDaemon<T>(
  context: CommandContext,
  work: (client: DaemonClient) => Promise<T>,
): Promise<{ readonly result: T } | undefined> {
  const attachment = findDaemonEndpoint(context);
  if (attachment === undefined) return undefined;
  const { client, isExplicit } = attachment;
  try {
    if (
      !isExplicit &&
      !(await knowsProject(context, client).catch((error: unknown) => client.rethrowAsUnusable(error)))
    )
      return undefined;
    return { result: await withConfigWarnings(context, client, () => work(client)) };
  } catch (error) {
    if (!(error instanceof NoResponseError)) throw error;
    if (isExplicit || error.mayHaveActed) throw unreachableError(client, error, isExplicit);
    context.output.note(
      `The daemon at ${client.url} does not respond (${error.message}). Continuing without the daemon.`,
    );
    return undefined;
  }
}

/** Warns about problems of the daemon's configuration after the work, even if it failed. */
export async function withConfigWarnings<T>(
  context: CommandContext,
  client: DaemonClient,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    return client.rethrowAsUnusable(error);
  } finally {
    if (client.problemCount > 0 && !context.signal.aborted)
      await (await import('./daemon-problems.js')).warnOfDaemonProblems(context, client);
  }
}

/** A project's own servers are in the daemon only if it was started there. */
async function knowsProject({ environment }: CommandContext, client: DaemonClient): Promise<boolean> {
  const files = localConfigFiles(environment);
  if (files.length === 0) return true;
  const { layers } = await client.get<{ layers: readonly { readonly file: string }[] }>('/api/config');
  return files.every((file) => layers.some((layer) => layer.file === file));
}

/** Configuration that depends on where, and in which environment, the command is started. */
function localConfigFiles(environment: CommandContext['environment']): string[] {
  const cwd = process.cwd();
  const home = homeDirectory(environment);
  const named = environment.MCP_CONFIG_PATH;
  const files = [join(cwd, 'mcp-servers.json')];
  for (let last = cwd; ; last = dirname(last)) {
    files.push(join(last, '.turnbuckle', 'mcp.json'), join(last, '.turnbuckle', 'mcp.local.json'));
    if (last === home || last === dirname(last)) break;
  }
  return [...files.filter(pathExists), ...(named ? [resolve(cwd, named)] : [])];
}

/** Includes dangling links: without the daemon they are reported. */
const pathExists = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;

function parseBridgeUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new TurnbuckleError(
    'CONFIG_INVALID',
    `Invalid MCP_BRIDGE_URL "${text}": expected an http or https URL.`,
    {
      hint: 'Example: MCP_BRIDGE_URL=http://127.0.0.1:3001. To ignore the variable, use --no-daemon.',
    },
  );
}

function unreachableError({ url }: DaemonClient, cause: NoResponseError, isNamed: boolean): TurnbuckleError {
  if (cause.mayHaveActed && !isNamed)
    return new TurnbuckleError(
      'CONNECTION_LOST',
      `Lost the connection to the daemon at ${url}: ${cause.message}.`,
      {
        cause,
        hint: 'To run without the daemon, use --no-daemon. Check the daemon: turnbuckle serve status',
      },
    );
  return new TurnbuckleError('CONNECT_FAILED', `No response from ${url}: ${cause.message}.`, {
    cause,
    hint: 'Check MCP_BRIDGE_URL, or use --no-daemon to ignore it.',
  });
}
