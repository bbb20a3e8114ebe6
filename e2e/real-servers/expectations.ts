import path from 'node:path';
import type { PublishedName } from './published-servers.mjs';

const LATEST_WITH_SESSIONS = '2025-11-25';

/** The expected behaviour of a published server, as a client sees it. */
export interface Expectation {
  readonly era: 'legacy' | 'modern';
  readonly protocolVersion: string;
  readonly tools: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly calls: readonly ExpectedCall[];
}

interface ExpectedCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** `failed`: the server answers with a JSON-RPC error instead of a result. */
  readonly outcome: 'ok' | 'tool-error' | 'failed';
  readonly says?: RegExp;
}

/** Needs a browser that does not exist, so that the result is the same on every machine. */
const navigate: ExpectedCall = {
  tool: 'browser_navigate',
  arguments: { url: 'about:blank' },
  outcome: 'tool-error',
  says: /executable/i,
};

/** Nothing listens on port 9 of the loopback address: the database is never available. */
const connectDatabase: ExpectedCall = {
  tool: 'connect',
  arguments: { connectionString: 'mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=500' },
  outcome: 'tool-error',
};

/** The ten servers; they may write to `directory`. */
export function expectations(directory: string): Record<PublishedName, Expectation> {
  const note = path.join(directory, 'note.txt');
  const legacy = { era: 'legacy', protocolVersion: LATEST_WITH_SESSIONS } as const;
  const modern = { era: 'modern', protocolVersion: '2026-07-28' } as const;
  const ok = 'ok';
  return {
    everything: {
      ...legacy,
      tools: 13,
      calls: [
        { tool: 'echo', arguments: { message: 'over here' }, outcome: ok, says: /^Echo: over here$/ },
        { tool: 'get-sum', arguments: { a: 19, b: 23 }, outcome: ok, says: /42/ },
      ],
    },
    filesystem: {
      ...legacy,
      tools: 14,
      args: [directory],
      calls: [
        { tool: 'write_file', arguments: { path: note, content: 'kept' }, outcome: ok },
        { tool: 'read_text_file', arguments: { path: note }, outcome: ok, says: /^kept$/ },
        {
          tool: 'read_text_file',
          arguments: { path: '/etc/hostname' },
          outcome: 'tool-error',
          says: /denied/i,
        },
      ],
    },
    memory: {
      ...legacy,
      tools: 9,
      env: { MEMORY_FILE_PATH: path.join(directory, 'memory.jsonl') },
      calls: [
        {
          tool: 'create_entities',
          arguments: { entities: [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }] },
          outcome: ok,
        },
        { tool: 'search_nodes', arguments: { query: 'programs' }, outcome: ok, says: /Ada/ },
      ],
    },
    thinking: {
      ...legacy,
      tools: 1,
      calls: [
        {
          tool: 'sequentialthinking',
          arguments: { thought: 'First.', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
          outcome: ok,
          says: /"thoughtHistoryLength": 1/,
        },
      ],
    },
    github: {
      era: 'legacy',
      protocolVersion: '2024-11-05',
      tools: 26,
      env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'none' },
      calls: [
        { tool: 'get_file_contents', arguments: { owner: 'o', repo: 'r', path: 'p' }, outcome: 'failed' },
      ],
    },
    mongodb: {
      ...modern,
      tools: 27,
      env: { MDB_MCP_TELEMETRY: 'disabled' },
      calls: [{ tool: 'list-connections', arguments: {}, outcome: ok }, connectDatabase],
    },
    shadcn: {
      ...modern,
      tools: 7,
      args: ['mcp'],
      calls: [{ tool: 'get_audit_checklist', arguments: {}, outcome: ok, says: /Component Audit Checklist/ }],
    },
    runner: {
      ...legacy,
      tools: 1,
      calls: [
        {
          tool: 'run-code',
          arguments: { code: 'console.log(6 * 7)', languageId: 'javascript' },
          outcome: ok,
          says: /^42\s*$/,
        },
      ],
    },
    playwright: {
      ...legacy,
      tools: 25,
      args: ['--headless', '--executable-path', path.join(directory, 'no-browser')],
      calls: [navigate],
    },
    // With a database: postgres.test.ts.
    postgres: {
      era: 'legacy',
      protocolVersion: '2024-11-05',
      tools: 1,
      args: ['postgresql://127.0.0.1:9/none'],
      calls: [{ tool: 'query', arguments: { sql: 'SELECT 1' }, outcome: 'failed' }],
    },
  };
}

/** The servers that can also listen on a port. */
export const ENDPOINTS: readonly Endpoint[] = [
  { server: 'everything', mode: ['streamableHttp'], path: '/mcp', type: 'http', transport: 'http' },
  { server: 'everything', mode: ['sse'], path: '/sse', type: 'sse', transport: 'sse' },
  // Configured as Streamable HTTP; the runtime falls back to SSE.
  { server: 'everything', mode: ['sse'], path: '/sse', type: 'http', transport: 'sse' },
  { server: 'playwright', mode: [], path: '/mcp', type: 'http', transport: 'http' },
  { server: 'playwright', mode: [], path: '/sse', type: 'sse', transport: 'sse' },
  { server: 'mongodb', mode: ['--transport', 'http'], path: '/mcp', type: 'http', transport: 'http' },
];

export interface Endpoint {
  readonly server: 'everything' | 'playwright' | 'mongodb';
  readonly mode: readonly string[];
  readonly path: string;
  /** The configured transport, and the transport that is used. */
  readonly type: 'http' | 'sse';
  readonly transport: 'http' | 'sse';
}

/** The option that sets the port; undefined: the environment variable PORT. */
export const PORT_OPTION: Readonly<Record<Endpoint['server'], string | undefined>> = {
  everything: undefined,
  playwright: '--port',
  mongodb: '--httpPort',
};
