import { type JsonObject, toObject } from './json.js';

/** `legacy` has the initialize handshake and sessions; `modern` carries everything in each request. */
export type Era = 'legacy' | 'modern';

export const MODERN_REVISION = '2026-07-28';

/** Revisions with a handshake, oldest first. */
export const HANDSHAKE_REVISIONS: readonly string[] = [
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
];

const PREFIX = 'io.modelcontextprotocol/';

export const META = {
  protocolVersion: `${PREFIX}protocolVersion`,
  clientCapabilities: `${PREFIX}clientCapabilities`,
  clientInfo: `${PREFIX}clientInfo`,
  serverInfo: `${PREFIX}serverInfo`,
  subscriptionId: `${PREFIX}subscriptionId`,
} as const;

/** The revision in the metadata of a request; undefined for a request that is not modern. */
export function claimedRevision(params: JsonObject): unknown {
  return toObject(params._meta)[META.protocolVersion];
}

/** The eras and revisions that the server supports. */
export interface Dialect {
  readonly eras: readonly Era[];
  /** Supported revisions of the handshake; with only one, the server answers with that one whatever was requested. */
  readonly handshakes: readonly string[];
}

/** The dialect that the command line selects. */
export function toDialect(era: string, revision: string): Dialect {
  if (!['both', 'legacy', 'modern'].includes(era)) throw new Error(`unknown era ${era}`);
  if (revision === '') {
    return { eras: era === 'both' ? ['legacy', 'modern'] : [toEra(era)], handshakes: HANDSHAKE_REVISIONS };
  }
  if (revision === MODERN_REVISION) return { eras: ['modern'], handshakes: [] };
  if (!HANDSHAKE_REVISIONS.includes(revision)) throw new Error(`unknown revision ${revision}`);
  return { eras: ['legacy'], handshakes: [revision] };
}

function toEra(word: string): Era {
  return word === 'modern' ? 'modern' : 'legacy';
}
