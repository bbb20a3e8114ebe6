/** What `doctor` says of the daemon: the other commands go through it, and it may see things differently. */
import type { LoadedConfig, ServerStatus } from 'turnbuckle';
import type { Check } from '../check.js';
import type { CommandContext } from '../command.js';
import { stateDirectoryOf } from '../state-directory-of.js';
import { showLine } from '../untrusted-text.js';
import { VERSION } from '../version.js';
import { findAttachment } from './attachment.js';
import type { DaemonClient } from './daemon-client.js';
import { type SentStatus, toStatus } from './sent-status.js';
import { readStartedWith } from './started-with.js';
import { type Fault, faultsOf, type SentConfig } from './tell-problems.js';

export interface DaemonView {
  readonly checks: readonly Check[];
  /** Where it was started, if that is known here. */
  readonly directory?: string | undefined;
  readonly hasProblems: boolean;
  /** It does not answer. */
  readonly isSilent: boolean;
  /** Of the servers that it has from the same file. */
  readonly statuses: readonly ServerStatus[];
}

const NO_DAEMON: DaemonView = { checks: [], hasProblems: false, isSilent: false, statuses: [] };

/** Never rejects: a daemon that does not answer is a finding. */
export async function viewDaemon(context: CommandContext, config: LoadedConfig): Promise<DaemonView> {
  const attachment = findAttachment(context);
  if (attachment === undefined) return NO_DAEMON;
  const { client, isNamed } = attachment;
  const directory = isNamed ? undefined : readStartedWith(stateDirectoryOf(context))?.directory;
  try {
    const { version } = await client.get<{ version: string }>('/api/daemon');
    const sent = await client.get<SentConfig>('/api/config');
    const problems = faultsOf(sent);
    const files = compareFiles(sent, config);
    const what = [
      `${client.url}, version ${version}`,
      ...(directory === undefined ? [] : [`started in ${directory}`]),
      ...(files.length === 0 ? ['reads the same files'] : files),
    ].join('; ');
    const isOther = version !== VERSION;
    const next = isOther ? `This command is version ${VERSION}: turnbuckle serve restart` : undefined;
    const warns = isOther || files.length > 0;
    return {
      checks: [{ name: 'daemon', ok: true, warns, what, next }, ...problems.map(toCheck)],
      directory,
      hasProblems: problems.length > 0,
      isSilent: false,
      statuses: await readStatuses(client, sent, config),
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const what = `${client.url} does not say how it is: ${why}`;
    const next = 'turnbuckle serve status, or turnbuckle serve restart';
    return { ...NO_DAEMON, directory, isSilent: true, checks: [{ name: 'daemon', ok: false, what, next }] };
  }
}

/** What the daemon that has the same files finds wrong with them; nothing where none answers. */
export async function daemonFaults(context: CommandContext, config: LoadedConfig): Promise<Fault[]> {
  const client = findAttachment(context)?.client;
  const sent = await client?.get<SentConfig>('/api/config').catch(() => undefined);
  if (sent === undefined) return [];
  const isHere = ({ message }: Fault): boolean =>
    config.problems.some((one) => one.message === message) ||
    [...config.servers.values()].some(({ problem }) => problem?.message === message);
  return faultsOf(sent).filter((fault) => !isHere(fault));
}

const toCheck = ({ message, hint }: Fault): Check => ({
  name: 'daemon',
  ok: false,
  what: message,
  next: hint,
});

function compareFiles({ layers }: SentConfig, config: LoadedConfig): string[] {
  const there = layers.filter(({ present }) => present).map(({ file }) => file);
  const here = config.layers.filter(({ present }) => present).map(({ layer }) => layer.file);
  const missed = here.filter((file) => !there.includes(file));
  const more = there.filter((file) => !here.includes(file));
  return [
    ...(missed.length === 0 ? [] : [`does not read ${missed.join(', ')}`]),
    ...(more.length === 0 ? [] : [`reads also ${more.join(', ')}`]),
  ];
}

/** One of the same name from another file is another server. */
async function readStatuses(
  client: DaemonClient,
  { servers }: SentConfig,
  config: LoadedConfig,
): Promise<ServerStatus[]> {
  const same = servers.filter(
    ({ name, origin }) => config.servers.get(name)?.origin.file === origin?.file && origin !== undefined,
  );
  const sent = same.map(({ name }) => client.get<SentStatus>(`/api/servers/${encodeURIComponent(name)}`));
  return (await Promise.all(sent)).map(toStatus);
}

/** A line where the daemon sees the server differently; none where both say the same. */
export function checkBoth(here: ServerStatus, daemon: DaemonView): Check[] {
  const there = daemon.statuses.find(({ name }) => name === here.name);
  const isOff = (status: ServerStatus): boolean =>
    status.status === 'pending' || status.status === 'disabled';
  if (there === undefined || there.status === here.status || isOff(there) || isOff(here)) return [];
  const { name } = here;
  if (there.status === 'connected') return [{ name, ok: true, what: 'with the daemon it is connected' }];
  const { code, message, hint } = there.error ?? { code: there.status, message: 'not connected', hint: '' };
  const what = `with the daemon ${code}: ${showLine(message, 200)}`;
  return [{ name, ok: false, what, next: hint || 'turnbuckle serve restart' }];
}
