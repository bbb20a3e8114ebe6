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

/** The revision a request claims in its own metadata; undefined when it makes no modern claim. */
export function claimedRevision(params: JsonObject): unknown {
  return toObject(params._meta)[META.protocolVersion];
}

/** What the server was told to speak. */
export interface Dialect {
  readonly eras: readonly Era[];
  /** Handshake revisions it knows; with one only, it answers that one whatever was asked. */
  readonly handshakes: readonly string[];
}

/** Narrows the dialect by the words of the command line. */
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
