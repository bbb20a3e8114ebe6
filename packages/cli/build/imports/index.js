export { CLIENTS, clientById } from './clients.js';
export { discover } from './discover.js';
export { configHash, mergeImports } from './merge-imports.js';
export { readClientConfig, readUnknownConfig } from './read-client-config.js';
export { readDiscovered } from './read-discovered.js';
export { writeClientConfig } from './write-client-config.js';
//# sourceMappingURL=index.js.map
