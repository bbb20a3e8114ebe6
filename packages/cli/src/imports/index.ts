/** The configuration files of other MCP clients: found, read into our own shape, and written in theirs. */
export { CLIENTS, clientById } from './clients.js';
export { discover } from './discover.js';
export type { ImportedInput, ImportResult, ServerDraft } from './entries/imported-server.js';
export { removeEntry } from './entries/remove-entry.js';
export { type ImportSource, type MergedServer, mergeImports } from './merge-imports.js';
export { readClientConfig, readUnknownConfig } from './read-client-config.js';
export { readDiscovered } from './read-discovered.js';
export { writeClientConfig } from './write-client-config.js';
