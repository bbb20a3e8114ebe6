/** The other side of a link: what was negotiated with it, and how it reports changes. */

import type { ClientCapabilities, Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../../errors.js';
import type { Lane } from '../lanes/lane.js';
import type { ClientResponders } from '../server-requests/client-responders.js';
import type { RequestGuard } from '../server-requests/request-guard.js';
import type { Era } from './era-verdicts.js';

/** What every handshake needs. */
export interface PeerOptions {
  readonly server: string;
  readonly clientInfo: Implementation;
  readonly capabilities: ClientCapabilities;
  /** Handles requests of the server. */
  readonly requestGuard: RequestGuard;
  /** The responders of the calls in flight on this connection. */
  readonly responders: ClientResponders;
  readonly onNotice: (method: string, params: Readonly<Record<string, unknown>>) => void;
  /** The known era to use; undefined: probe for it. */
  readonly era: Era | undefined;
  readonly leftMs: number;
  /** The configured time limit for all attempts together: the number shown in errors. */
  readonly connectTimeoutMs: number;
  readonly signal: AbortSignal;
}

export interface ListenFilter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  readonly resourceSubscriptions?: string[];
}

export interface Subscription {
  /** Resolves when it has ended, for any reason. */
  readonly closed: Promise<unknown>;
  close(): Promise<void>;
}

export interface Peer {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly serverInfo: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
  readonly lane: Lane;
  /** Called once when the connection is gone. */
  onclose?: (() => void) | undefined;
  /** Subscribes to changes; only in the newer revision, older servers report them without a subscription. */
  listen(filter: ListenFilter, timeoutMs: number): Promise<Subscription>;
}

/** It responded with an unsupported revision. */
export function unknownRevision(server: string, found: unknown): TurnbuckleError {
  return new TurnbuckleError(
    'PROTOCOL_VIOLATION',
    `Server "${server}" uses an unsupported protocol revision: ${JSON.stringify(found) ?? 'none'}.`,
    {
      server,
      hint: 'Update the server, or update Turnbuckle.',
    },
  );
}
