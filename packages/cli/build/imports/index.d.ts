/** The configuration files of other MCP clients: found, read into our own shape, and written in theirs. */
export type { Client, ReadOptions } from './client.js';
export { CLIENTS, clientById } from './clients.js';
export { type DiscoveredFile, type DiscoverOptions, discover } from './discover.js';
export type {
  Approvals,
  ImportedInput,
  ImportedServer,
  ImportResult,
  OutgoingServer,
  Scope,
  ServerDraft,
  SkippedServer,
} from './imported-server.js';
export type { Place } from './lookout.js';
export { configHash, type ImportSource, type MergedServer, mergeImports } from './merge-imports.js';
export { readClientConfig, readUnknownConfig } from './read-client-config.js';
export { readDiscovered } from './read-discovered.js';
export { type WriteResult, type WriteTarget, writeClientConfig } from './write-client-config.js';
