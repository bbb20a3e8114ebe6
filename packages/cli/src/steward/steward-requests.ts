/** Requests to the steward: through the daemon, or in its database while none is running. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RequestKind, RequestState, RequestStatus, StewardMode } from '@turnbuckle/steward';
import { TurnbuckleError } from 'turnbuckle';
import { type LoadedConfig, makeDirectory } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import { loadCommandConfig } from '../session/command-runtime.js';
import { stateDirectoryOf } from '../session/state-directory.js';
import { fetchInstallApprovals } from './answer-approval.js';
import type { PendingInstall } from './install-approval-lines.js';
import { findSteward, throughSteward } from './steward-daemon.js';

export interface RequestDraft {
  readonly type: RequestKind;
  readonly params: Readonly<Record<string, unknown>>;
  readonly priority: 'low' | 'medium' | 'high';
}

export interface StewardRequests {
  /** False: what is queued is worked on when a daemon runs. */
  readonly hasDaemon: boolean;
  /** Returns the id. */
  send(draft: RequestDraft): Promise<string>;
  /** PATH_UNKNOWN if there is none. */
  status(id: string): Promise<RequestStatus>;
  list(filter: {
    readonly state?: RequestState | undefined;
    readonly limit: number;
  }): Promise<readonly RequestStatus[]>;
  cancel(id: string, reason: string): Promise<RequestStatus>;
  /** What is asked before the request continues. Nothing is without a daemon. */
  approvals(requestId: string): Promise<readonly PendingInstall[]>;
  readonly mode: StewardMode;
}

/** Does the work with the daemon, if one is running, otherwise with its database. */
export async function withRequests<T>(
  context: CommandContext,
  work: (requests: StewardRequests) => Promise<T>,
): Promise<T> {
  const steward = await findSteward(context);
  if (steward === undefined) return withDatabase(context, work);
  const { client, mode } = steward;
  return throughSteward(context, client, () => work(requestsOfDaemon(context, client, mode)));
}

export function requestsOfDaemon(
  { signal }: Pick<CommandContext, 'signal'>,
  client: DaemonClient,
  mode: StewardMode,
): StewardRequests {
  const pathOf = (id: string): string => `/api/steward/requests/${encodeURIComponent(id)}`;
  return {
    hasDaemon: true,
    mode,
    send: async (draft) =>
      (await client.post<{ requestId: string }>('/api/steward/requests', draft, { signal })).requestId,
    status: (id) => client.get<RequestStatus>(pathOf(id), { signal }),
    list: async ({ state, limit }) => {
      const query = new URLSearchParams({ limit: String(limit), ...(state !== undefined && { state }) });
      const path = `/api/steward/requests?${query}`;
      return (await client.get<{ requests: readonly RequestStatus[] }>(path, { signal })).requests;
    },
    cancel: (id, reason) => client.post<RequestStatus>(`${pathOf(id)}/cancel`, { reason }, { signal }),
    approvals: (requestId) => fetchInstallApprovals(client, { signal }, requestId),
  };
}

const NEITHER: StewardMode = { paused: false, stopped: false };

async function withDatabase<T>(
  context: CommandContext,
  work: (requests: StewardRequests) => Promise<T>,
): Promise<T> {
  const stateDir = stateDirectoryOf(context);
  const file = join(stateDir, 'work.db');
  const { checkRequest, openStewardDatabase, RequestQueue, parseRequest } = await import(
    '@turnbuckle/steward'
  );
  const open = async () => {
    makeDirectory(stateDir);
    return openStewardDatabase(file);
  };
  // A command that only looks leaves no file behind.
  let database = existsSync(file) ? await open() : undefined;
  const queue = (): InstanceType<typeof RequestQueue> | undefined =>
    database === undefined ? undefined : new RequestQueue(database);
  try {
    return await work({
      hasDaemon: false,
      mode: queue()?.mode() ?? NEITHER,
      send: async (draft) => {
        const configuration = await requireEnabled(context);
        const now = Date.now();
        const timestamp = new Date(now).toISOString();
        const request = parseRequest({ ...draft, id: crypto.randomUUID(), timestamp });
        checkRequest(request, configuration);
        database ??= await open();
        return new RequestQueue(database).enqueue(request, now).requestId;
      },
      status: async (id) => queue()?.status(id) ?? unknownRequest(id),
      list: async ({ state, limit }) => queue()?.list({ states: state && [state], limit }) ?? [],
      cancel: async (id, reason) => queue()?.requestCancel(id, reason, Date.now()) ?? unknownRequest(id),
      approvals: async () => [],
    });
  } finally {
    database?.close();
  }
}

/** A daemon would not work on it. */
async function requireEnabled(context: CommandContext): Promise<LoadedConfig> {
  const configuration = await loadCommandConfig(context);
  if (configuration.settings.subAgentEnabled !== false) return configuration;
  throw new TurnbuckleError('CONFIG_INVALID', 'The steward is disabled, so nothing was queued.', {
    hint: 'Enable it: remove "subAgentEnabled": false from your configuration.',
  });
}

export function unknownRequest(id: string): never {
  throw new TurnbuckleError('PATH_UNKNOWN', `There is no request "${id}".`, {
    hint: 'List the requests: turnbuckle steward list',
  });
}
