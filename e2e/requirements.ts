/**
 * What Turnbuckle promises. A test cites the ids that it proves in a comment above it: `// requirement C1, C2`.
 * `packages/core/test/docs/requirements.test.ts` fails if an id is cited by no test, or if a test cites an unknown id.
 * Two kinds of promises have their ids elsewhere: threats in docs/threat-model.md, error codes in packages/core/src/errors.ts.
 */
export interface Requirement {
  readonly id: string;
  readonly title: string;
  /** Not built yet. Remove it with the first test that cites the id. */
  readonly planned?: true;
}

export const REQUIREMENTS: readonly Requirement[] = [
  { id: 'C1', title: 'stdio, HTTP, SSE, WebSocket, in-process and proxy transports' },
  { id: 'C2', title: 'fallback from HTTP to SSE; all protocol revisions since 2024-11-05' },
  { id: 'C3', title: 'servers connect in parallel, and a bad one affects no other' },
  { id: 'C4', title: 'eager or lazy start, per server' },
  { id: 'C5', title: 'connection states and public status; a failure is reported once' },
  { id: 'C6', title: 'reconnect with backoff, then a slow probe; retry only what is safe' },
  { id: 'C7', title: 'health checks' },
  { id: 'C8', title: 'connect, disconnect, toggle, refresh, setServers and hot reload' },
  { id: 'C9', title: 'a server process ends with its descendants, however the host ends' },
  { id: 'C10', title: 'limits on servers, time and size' },
  { id: 'C11', title: 'a sandbox per server, and no start without it where it is required' },

  { id: 'T1', title: 'discovery with pages, cache states and refresh' },
  { id: 'T2', title: 'tool names that are valid, unique and reversible' },
  { id: 'T3', title: 'one catalog for native tools and tools of servers' },
  { id: 'T4', title: 'execute never throws; call returns the MCP result or throws a coded error' },
  { id: 'T5', title: 'arguments and results are checked against their schemas' },
  { id: 'T6', title: 'concurrent calls, timeout, cancel and progress' },
  { id: 'T7', title: 'changed tools are noticed and shown; a changed pin needs approval' },
  { id: 'T8', title: 'resources and prompts, also as tools' },
  { id: 'T9', title: 'sampling, elicitation and roots, guarded and off by default' },
  { id: 'T10', title: 'result cache, workflows, selection that learns from use', planned: true },
  { id: 'T11', title: 'tool lists in the formats of LLM APIs' },

  { id: 'P1', title: 'capabilities for everything, a server or a tool; ambiguous words grant nothing' },
  { id: 'P2', title: 'approval by default: once, always or deny; no answer means deny' },
  { id: 'P3', title: 'annotations of an untrusted server never lower the guard' },
  { id: 'P4', title: 'a project runs nothing before its user agrees' },
  { id: 'P5', title: 'decisions are recorded with their reasons' },

  { id: 'K1', title: 'fixed credentials, token file, OAuth sign-in and client credentials' },
  { id: 'K2', title: 'secrets are encrypted at rest, rotated, never shown, and can differ per agent' },
  { id: 'K3', title: 'environment placeholders; a missing variable is named' },
  { id: 'K4', title: 'authentication errors fail fast and are not retried' },

  { id: 'F1', title: 'layers of configuration, with a managed file above all' },
  { id: 'F2', title: 'known formats are read and imported' },
  { id: 'F3', title: 'an invalid entry is located and explained; the rest loads' },
  { id: 'F4', title: 'edits keep comments, are atomic and survive a crash; JSON Schema' },
  { id: 'F5', title: 'environment variables and --mcp-server' },

  { id: 'D1', title: 'bridge: one POST, one call, with pooled connections' },
  { id: 'D2', title: 'gateway: one MCP endpoint for clients of both eras' },
  { id: 'D3', title: 'management API with OpenAPI, events and metrics' },
  { id: 'D4', title: 'web console', planned: true },
  { id: 'D5', title: 'log of calls in SQLite: redaction, retention, statistics' },

  { id: 'E1', title: 'steward: requests, queue and status' },
  { id: 'E2', title: 'steward: separate from the loop of the agent' },
  { id: 'E3', title: 'steward: finds, tests and enables servers' },
  { id: 'E4', title: 'steward: what it may not do, and what it costs' },
  { id: 'E5', title: 'energy: budget, cost and estimates' },
  { id: 'E6', title: 'steward: tools for the model' },
  { id: 'E7', title: 'agent loop with conversations and energy' },
  { id: 'E8', title: 'several stewards at a time' },

  { id: 'L1', title: 'learning loop: registries are watched', planned: true },
  { id: 'L2', title: 'learning loop: conditions and actions', planned: true },
  { id: 'L3', title: 'learning loop: endpoint of an agent', planned: true },
  { id: 'L4', title: 'learning loop: files are fetched and verified', planned: true },
  { id: 'L5', title: 'learning loop: delivery, retries and dead letters', planned: true },
  { id: 'L6', title: 'learning loop: durable queue', planned: true },
  { id: 'L7', title: 'learning loop: a token per agent', planned: true },
  { id: 'L8', title: 'learning loop: batches, updates and the agent kit', planned: true },
];
