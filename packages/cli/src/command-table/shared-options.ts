/** Options that several commands have. */
export const SCOPE_OPTION = {
  type: 'string',
  value: 'user|project|local',
  summary: 'Config file to write (default: the file that defines the server, or "user" if none does)',
} as const;

export const CAPABILITY_OPTION = {
  deprecatedName: 'can',
  type: 'string',
  multiple: true,
  value: 'capability',
  summary: 'Grant the agent this capability (default: "mcp_integration", which covers all servers)',
} as const;

export const AGENT_OPTION = {
  type: 'string',
  value: 'name',
  summary: `Use this agent's account; the agent needs its own "auth" under "credentials" in the server's configuration`,
} as const;
