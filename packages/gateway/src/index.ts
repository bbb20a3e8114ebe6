export { type Daemon, type DaemonOptions, DEFAULT_PORT, startDaemon } from './daemon.js';
export { HttpServer } from './http/http-server.js';
export { checkDepth, deeper } from './mcp/depth.js';
export { McpFront } from './mcp/mcp-front.js';
export { stdioCaller } from './mcp/stdio-caller.js';
export { logCalls } from './open-call-log.js';
export { OWNER, type TokenFacts, TokenStore } from './tokens/token-store.js';
