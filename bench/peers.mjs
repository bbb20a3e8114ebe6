/**
 * The other clients that the runner compares with, at exact versions. Each is installed separately, so that none
 * uses another's dependencies.
 * @typedef {{ id: string, label: string, dependencies: Record<string, string> }} Peer
 */

/** @type {readonly Peer[]} */
export const peers = [
  { id: 'mcporter', label: 'mcporter 0.12.3', dependencies: { mcporter: '0.12.3' } },
  { id: 'ai-sdk', label: 'AI SDK MCP 2.0.93', dependencies: { '@ai-sdk/mcp': '2.0.93' } },
  { id: 'mcp-use', label: 'mcp-use 1.34.6', dependencies: { 'mcp-use': '1.34.6' } },
  { id: 'mastra', label: 'Mastra MCP 2.0.0', dependencies: { '@mastra/mcp': '2.0.0' } },
];
