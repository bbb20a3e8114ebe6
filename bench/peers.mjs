/**
 * The other clients and gateways that the runner compares with, at exact versions. Each is installed separately, so
 * that none uses another's dependencies. `isClient`: it has a file in clients/.
 * @typedef {{ id: string, label: string, dependencies: Record<string, string>, isClient: boolean }} Peer
 */

/** @type {readonly Peer[]} */
export const peers = [
  { id: 'mcporter', label: 'mcporter 0.12.3', dependencies: { mcporter: '0.12.3' }, isClient: true },
  { id: 'ai-sdk', label: 'AI SDK MCP 2.0.93', dependencies: { '@ai-sdk/mcp': '2.0.93' }, isClient: true },
  { id: 'mcp-use', label: 'mcp-use 1.34.6', dependencies: { 'mcp-use': '1.34.6' }, isClient: true },
  { id: 'mastra', label: 'Mastra MCP 2.0.0', dependencies: { '@mastra/mcp': '2.0.0' }, isClient: true },
  { id: 'mcp-hub', label: 'mcp-hub 4.2.1', dependencies: { 'mcp-hub': '4.2.1' }, isClient: false },
  { id: '1mcp', label: '1MCP 0.35.0', dependencies: { '@1mcp/agent': '0.35.0' }, isClient: false },
];
