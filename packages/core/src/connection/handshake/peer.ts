/** The other side of a link: what was negotiated with it, and how it tells us about changes. */

import type { ClientCapabilities, Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../errors.js';
import type { Era } from './era-verdicts.js';
import type { Lane } from './lane.js';
import type { RequestGuard } from './request-guard.js';
import type { Respondents } from './respondents.js';

/** What a handshake needs to know, whoever makes it. */
export interface PeerOptions {
  readonly server: string;
  readonly clientInfo: Implementation;
  readonly capabilities: ClientCapabilities;
  /** What the server asks back goes through it. */
  readonly requests: RequestGuard;
  /** Those behind the calls on their way over this connection. */
  readonly respondents: Respondents;
  readonly onNotice: (method: string, params: Readonly<Record<string, unknown>>) => void;
  /** What is known: spoken to as that; undefined: it is asked. */
  readonly era: Era | undefined;
  readonly leftMs: number;
  /** What the configuration allows for all attempts together: the figure that errors name. */
  readonly connectTimeoutMs: number;
  readonly signal: AbortSignal;
}

export interface ListenFilter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  readonly resourceSubscriptions?: string[];
}

export interface Listening {
  /** Resolves when it has ended, whoever ended it. */
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
  /** Told once when the connection is gone. */
  onclose?: (() => void) | undefined;
  /** Asks to be told about changes; only in the newer revision, the older ones tell unasked. */
  listen(filter: ListenFilter, timeoutMs: number): Promise<Listening>;
}

/** The revision that is spoken without a session, and the older ones, newest first. */
export const MODERN_REVISION = '2026-07-28';
export const OLDER_REVISIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];

/** It answered, in a revision that is not spoken here. */
export function unknownRevision(server: string, found: unknown): TurnbuckleError {
  return new TurnbuckleError(
    'PROTOCOL_VIOLATION',
    `Server "${server}" speaks a protocol revision that is not known here: ${JSON.stringify(found) ?? 'none'}.`,
    {
      server,
      hint: 'It is too old or too new for this program.',
    },
  );
}
