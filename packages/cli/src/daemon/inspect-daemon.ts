/** What `doctor` checks about a running daemon: other commands use it, and its state may differ. */
import type { ServerStatus } from 'turnbuckle';
import type { LoadedConfig } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import type { Check } from '../session/checks/check.js';
import { stateDirectoryOf } from '../session/state-directory.js';
import { showLine } from '../terminal/untrusted-text.js';
import { VERSION } from '../version.js';
import type { DaemonClient } from './daemon-client.js';
import { findDaemonEndpoint } from './daemon-endpoint.js';
import { type ConfigProblem, type ConfigResponse, problemsOf } from './daemon-problems.js';
import { type ServerStatusResponse, toServerStatus } from './server-status-response.js';
import { readStartOptions } from './start-options.js';

export interface DaemonReport {
  readonly checks: readonly Check[];
  /** Where it was started, if that is known here. */
  readonly directory?: string | undefined;
  readonly hasProblems: boolean;
  /** It does not answer. */
  readonly isUnresponsive: boolean;
  /** Of the servers that it has from the same file. */
  readonly statuses: readonly ServerStatus[];
}

const NO_DAEMON: DaemonReport = { checks: [], hasProblems: false, isUnresponsive: false, statuses: [] };

/** Never rejects: a daemon that does not answer is a finding. */
export async function inspectDaemon(context: CommandContext, config: LoadedConfig): Promise<DaemonReport> {
  const attachment = findDaemonEndpoint(context);
  if (attachment === undefined) return NO_DAEMON;
  const { client, isExplicit } = attachment;
  const directory = isExplicit ? undefined : readStartOptions(stateDirectoryOf(context))?.directory;
  try {
    const { version } = await client.get<{ version: string }>('/api/daemon');
    const sent = await client.get<ConfigResponse>('/api/config');
    const problems = problemsOf(sent);
    const files = compareFiles(sent, config);
    const what = [
      `${client.url}, version ${version}`,
      ...(directory === undefined ? [] : [`started in ${directory}`]),
      ...(files.length === 0 ? ['reads the same configuration files as this command'] : files),
    ].join('; ');
    const isOther = version !== VERSION;
    const next = isOther
      ? `This command is version ${VERSION}. Restart the daemon with this version: turnbuckle serve restart`
      : undefined;
    const warns = isOther || files.length > 0;
    return {
      checks: [{ name: 'daemon', ok: true, warns, what, next }, ...problems.map(toCheck)],
      directory,
      hasProblems: problems.length > 0,
      isUnresponsive: false,
      statuses: await readStatuses(client, sent, config),
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const what = `${client.url} did not return its status: ${why}`;
    const next = 'Check the daemon (turnbuckle serve status), or restart it: turnbuckle serve restart';
    return {
      ...NO_DAEMON,
      directory,
      isUnresponsive: true,
      checks: [{ name: 'daemon', ok: false, what, next }],
    };
  }
}

/** What the daemon that has the same files finds wrong with them; nothing where none answers. */
export async function daemonConfigProblems(
  context: CommandContext,
  config: LoadedConfig,
): Promise<ConfigProblem[]> {
  const client = findDaemonEndpoint(context)?.client;
  const sent = await client?.get<ConfigResponse>('/api/config').catch(() => undefined);
  if (sent === undefined) return [];
  const isHere = ({ message }: ConfigProblem): boolean =>
    config.problems.some((one) => one.message === message) ||
    [...config.servers.values()].some(({ problem }) => problem?.message === message);
  return problemsOf(sent).filter((fault) => !isHere(fault));
}

const toCheck = ({ message, hint }: ConfigProblem): Check => ({
  name: 'daemon',
  ok: false,
  what: message,
  next: hint,
});

function compareFiles({ layers }: ConfigResponse, config: LoadedConfig): string[] {
  const there = layers.filter(({ present }) => present).map(({ file }) => file);
  const here = config.layers.filter(({ present }) => present).map(({ layer }) => layer.file);
  const missed = here.filter((file) => !there.includes(file));
  const more = there.filter((file) => !here.includes(file));
  return [
    ...(missed.length === 0 ? [] : [`does not read ${missed.join(', ')}`]),
    ...(more.length === 0 ? [] : [`also reads ${more.join(', ')}`]),
  ];
}

/** One of the same name from another file is another server. */
async function readStatuses(
  client: DaemonClient,
  { servers }: ConfigResponse,
  config: LoadedConfig,
): Promise<ServerStatus[]> {
  const same = servers.filter(
    ({ name, origin }) => config.servers.get(name)?.origin.file === origin?.file && origin !== undefined,
  );
  const sent = same.map(({ name }) =>
    client.get<ServerStatusResponse>(`/api/servers/${encodeURIComponent(name)}`),
  );
  return (await Promise.all(sent)).map(toServerStatus);
}

/** A check if the status of the server in the daemon differs. */
export function compareServerStatus(here: ServerStatus, daemon: DaemonReport): Check[] {
  const there = daemon.statuses.find(({ name }) => name === here.name);
  const isOff = (status: ServerStatus): boolean =>
    status.status === 'pending' || status.status === 'disabled';
  if (there === undefined || there.status === here.status || isOff(there) || isOff(here)) return [];
  const { name } = here;
  if (there.status === 'connected')
    return [{ name, ok: true, what: 'the daemon is connected to this server' }];
  const { code, message, hint } = there.error ?? { code: there.status, message: 'not connected', hint: '' };
  const what = `the daemon reports ${code}: ${showLine(message, 200)}`;
  return [{ name, ok: false, what, next: hint || 'turnbuckle serve restart' }];
}
