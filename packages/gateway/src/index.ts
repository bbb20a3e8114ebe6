export { type Daemon, type DaemonOptions, DEFAULT_PORT, startDaemon } from './daemon.js';
export { HttpServer } from './http/http-server.js';
export { onVisitorEnd } from './http/visitor-end.js';
export { checkDepth, deeper } from './mcp/depth.js';
export { McpFront } from './mcp/mcp-front.js';
export { type StdioCaller, stdioCaller } from './mcp/stdio-caller.js';
export { logCalls } from './open-call-log.js';
export { readTokenNames } from './tokens/token-file.js';
export { OWNER, type TokenFacts, TokenStore } from './tokens/token-store.js';
