/** The steward of a running daemon. */
import type { StewardMode } from '@turnbuckle/steward';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import { findDaemonEndpoint, withConfigWarnings } from '../daemon/daemon-endpoint.js';
import { NoResponseError } from '../daemon/http/send-request.js';

export interface RunningSteward {
  readonly client: DaemonClient;
  readonly mode: StewardMode;
  readonly pendingApprovals: number;
}

interface StewardAnswer extends Partial<StewardMode> {
  readonly enabled: boolean;
  readonly pendingApprovals?: number;
}

/** Undefined if no daemon is running. PATH_UNKNOWN if the steward is switched off. */
export async function findSteward(context: CommandContext): Promise<RunningSteward | undefined> {
  // Of the flags for other commands only this one has a meaning here: the steward is always the daemon's own.
  const flags = { 'no-daemon': context.flags['no-daemon'] };
  const endpoint = findDaemonEndpoint({ ...context, flags });
  if (endpoint === undefined) return undefined;
  const { client, isExplicit } = endpoint;
  const answer = await client
    .get<StewardAnswer>('/api/steward', { signal: context.signal })
    .catch((error: unknown) => {
      if (!(error instanceof NoResponseError)) throw error;
      if (isExplicit) throw noResponse(client, error);
      context.output.note(`The daemon at ${client.url} does not respond (${error.message}).`);
      return undefined;
    });
  if (answer === undefined) return undefined;
  const { enabled, paused = false, stopped = false, heldCaller, pendingApprovals = 0 } = answer;
  const mode = { paused, stopped, ...(heldCaller !== undefined && { heldCaller }) };
  if (enabled === true) return { client, mode, pendingApprovals };
  throw new TurnbuckleError('PATH_UNKNOWN', 'The steward is disabled.', {
    hint: 'Enable it: remove "subAgentEnabled": false from your configuration.',
  });
}

/** CONNECT_FAILED without a daemon; `why` is the first sentence of the error. */
export async function requireSteward(context: CommandContext, why: string): Promise<RunningSteward> {
  const steward = await findSteward(context);
  if (steward !== undefined) return steward;
  if (context.flags['no-daemon'] === true)
    throw new TurnbuckleError('ARGUMENTS_INVALID', 'Only the daemon can do this.', {
      hint: 'Omit --no-daemon.',
    });
  throw new TurnbuckleError('CONNECT_FAILED', why, {
    hint: 'Start the daemon: turnbuckle serve start',
  });
}

/** Does the work; a connection that breaks meanwhile is an error with a next step. */
export async function throughSteward<T>(
  context: CommandContext,
  client: DaemonClient,
  work: () => Promise<T>,
): Promise<T> {
  return withConfigWarnings(context, client, work).catch((error: unknown) => {
    throw error instanceof NoResponseError ? noResponse(client, error) : error;
  });
}

const noResponse = ({ url }: DaemonClient, cause: NoResponseError): TurnbuckleError =>
  new TurnbuckleError('CONNECTION_LOST', `Lost the connection to the daemon at ${url}: ${cause.message}.`, {
    cause,
    hint: 'Requests continue when the daemon restarts. Check the daemon: turnbuckle serve status',
  });
