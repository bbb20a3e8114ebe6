/** Whether a command works through a daemon, and through which. */
import { lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { homeDirectory, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { stateDirectoryOf } from '../state-directory-of.js';
import { DaemonClient } from './daemon-client.js';
import { NoAnswer } from './exchange.js';
import { findDaemon, readToken } from './find-daemon.js';

/** What these ask for the daemon does not have. */
const OWN_FLAGS = ['no-daemon', 'config', 'mcp-server', 'trust-project', 'as', 'can'];

export interface Attachment {
  readonly client: DaemonClient;
  /** By MCP_BRIDGE_URL: then there is nothing to fall back on. */
  readonly isNamed: boolean;
}

/** Undefined: the command makes connections of its own. Nothing is sent yet. */
export function findAttachment(context: CommandContext): Attachment | undefined {
  const { flags, environment } = context;
  if (OWN_FLAGS.some((flag) => flags[flag] !== undefined && flags[flag] !== false)) return undefined;
  const stateDir = stateDirectoryOf(context);
  const named = environment.MCP_BRIDGE_URL;
  const daemon = findDaemon(stateDir);
  if (named === undefined || named === '') {
    if (daemon === undefined) return undefined;
    return { client: new DaemonClient({ url: daemon.url, token: readToken(stateDir) }), isNamed: false };
  }
  const url = urlOf(named);
  // The owner's token is for the owner's daemon and nobody else.
  const isOwn = daemon !== undefined && new URL(daemon.url).origin === new URL(url).origin;
  const token = environment.TURNBUCKLE_TOKEN || (isOwn ? readToken(stateDir) : undefined);
  return { client: new DaemonClient({ url, token }), isNamed: true };
}

/** The daemon of this user on this machine, whatever MCP_BRIDGE_URL says; undefined where the command is not about it. */
export function findOwnDaemon(context: CommandContext): DaemonClient | undefined {
  const environment = { ...context.environment, MCP_BRIDGE_URL: undefined };
  return findAttachment({ ...context, environment })?.client;
}

/**
 * Does the work through the daemon; undefined when there is none that could: the command then makes its own
 * connections. A daemon that does not answer is told in a note.
 */
export async function throughDaemon<T>(
  context: CommandContext,
  work: (client: DaemonClient) => Promise<T>,
): Promise<{ readonly result: T } | undefined> {
  const attachment = findAttachment(context);
  if (attachment === undefined) return undefined;
  const { client, isNamed } = attachment;
  try {
    if (!isNamed && !(await knowsProject(context, client).catch((error: unknown) => client.misread(error))))
      return undefined;
    return { result: await withWarnings(context, client, () => work(client)) };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    if (isNamed || error.mayHaveActed) throw silent(client, error, isNamed);
    context.output.note(
      `The daemon at ${client.url} does not answer (${error.message}): going on without it.`,
    );
    return undefined;
  }
}

/** What is wrong with the daemon's configuration is told whatever comes of the work, after it: loaded when it is needed. */
export async function withWarnings<T>(
  context: CommandContext,
  client: DaemonClient,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    return client.misread(error);
  } finally {
    if (client.problems > 0 && !context.signal.aborted)
      await (await import('./tell-problems.js')).tellProblems(context, client);
  }
}

/** A project's own servers are in the daemon only if it was started there. */
async function knowsProject({ environment }: CommandContext, client: DaemonClient): Promise<boolean> {
  const files = filesHere(environment);
  if (files.length === 0) return true;
  const { layers } = await client.get<{ layers: readonly { readonly file: string }[] }>('/api/config');
  return files.every((file) => layers.some((layer) => layer.file === file));
}

/** Configuration that depends on where, and in which environment, the command is started. */
function filesHere(environment: CommandContext['environment']): string[] {
  const cwd = process.cwd();
  const home = homeDirectory(environment);
  const named = environment.MCP_CONFIG_PATH;
  const files = [join(cwd, 'mcp-servers.json')];
  for (let last = cwd; ; last = dirname(last)) {
    files.push(join(last, '.turnbuckle', 'mcp.json'), join(last, '.turnbuckle', 'mcp.local.json'));
    if (last === home || last === dirname(last)) break;
  }
  return [...files.filter(isThere), ...(named ? [resolve(cwd, named)] : [])];
}

/** A link that leads nowhere is there too: without the daemon, that is told. */
const isThere = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;

function urlOf(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new TurnbuckleError('CONFIG_INVALID', `MCP_BRIDGE_URL is not an address: "${text}".`, {
    hint: 'For example MCP_BRIDGE_URL=http://127.0.0.1:3001. --no-daemon does without it.',
  });
}

function silent({ url }: DaemonClient, cause: NoAnswer, isNamed: boolean): TurnbuckleError {
  if (cause.mayHaveActed && !isNamed)
    return new TurnbuckleError('CONNECTION_LOST', `The daemon at ${url} went away: ${cause.message}.`, {
      cause,
      hint: 'turnbuckle serve status says how it is. --no-daemon does without it.',
    });
  return new TurnbuckleError('CONNECT_FAILED', `Nobody answers at ${url}: ${cause.message}.`, {
    cause,
    hint: 'That address is in MCP_BRIDGE_URL. --no-daemon does without it.',
  });
}
