/** The part of the command table that is about the daemon. */
import type { Command } from '../command.js';

const LISTEN_OPTIONS = {
  port: { type: 'string', short: 'p', value: 'n', summary: 'Port to listen on; 0 for any free port' },
  host: { type: 'string', value: 'address', summary: 'Address to listen on (default: 127.0.0.1)' },
  'log-level': {
    type: 'string',
    value: 'error|warn|info|debug',
    summary: 'Minimum log level (default: daemon.logLevel, or info)',
  },
  demo: { type: 'boolean', summary: 'Include a demo server with the tools echo, add and clock' },
} as const;

export const DAEMON_COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    arguments: '[start|stop|restart|status]',
    maxPositionals: 1,
    summary: 'Run the daemon, which offers all servers to agents and programs at one endpoint',
    description:
      "Without a subcommand, runs in the foreground until Ctrl-C, with the MCP endpoint at /mcp. The subcommands start, stop and restart control a background daemon; restart keeps that daemon's options. While a daemon is running, other commands use its connections. With --stdio, the command serves one MCP client on stdin and stdout. It uses the running daemon or, if no daemon is running, its own connections to the servers. Rules, approvals and the call history treat this client like any other agent.",
    endsBySignal: true,
    options: {
      ...LISTEN_OPTIONS,
      stdio: {
        type: 'boolean',
        summary: 'Serve one MCP client on stdin and stdout instead of listening on a port',
      },
      view: {
        type: 'string',
        value: 'name',
        summary: 'With --stdio, serve only this view from daemon.views',
      },
      as: {
        type: 'string',
        value: 'name',
        summary:
          'With --stdio, grant the client the rights of this token (default: no token; the caller is named "stdio:<client name>")',
      },
      capability: {
        type: 'string',
        multiple: true,
        value: 'capability',
        summary:
          'With --stdio, grant the client this capability (default: the capabilities of its token, or everything if it has no token)',
      },
    },
    examples: [
      { line: 'turnbuckle serve', what: 'at http://127.0.0.1:7420, until Ctrl-C' },
      { line: 'turnbuckle serve --demo', what: 'with a demo server' },
      { line: 'turnbuckle serve start', what: 'in the background' },
      {
        line: 'turnbuckle serve status',
        what: 'exit codes: 0 if running, 3 if not running, 1 if not responding',
      },
      {
        line: 'turnbuckle serve --stdio --as zed',
        what: "use this line as the server command in an agent's configuration",
      },
    ],
    load: () => import('../commands/serve.js'),
  },
  {
    name: 'bridge',
    arguments: '',
    maxPositionals: 0,
    summary: 'Run only the bridge, on port 3001, for programs that call tools with POST /mcp/call',
    description:
      "Serves the bridge without the MCP endpoint and the API, until Ctrl-C. It uses the daemon's configuration, tokens, secrets and call log, but its own connections to the servers, and runs with or without a daemon. The port comes from --port, the environment variable PORT, or MCP_BRIDGE_URL if it points to this machine. The bridge prompts for approvals in its terminal. Without a terminal, calls that require approval fail.",
    endsBySignal: true,
    options: LISTEN_OPTIONS,
    examples: [{ line: 'PORT=8080 turnbuckle bridge', what: 'listen on a different port' }],
    load: () => import('../commands/bridge.js'),
  },
  {
    name: 'token',
    arguments: '<create|list|revoke> [name]',
    maxPositionals: 2,
    summary: 'Create, list and revoke tokens for the daemon',
    description:
      'The create subcommand prints the token once; only a hash of the token is stored. A running daemon accepts the new token within a second. The token name is the caller name in rules, approvals and the call history.',
    options: {
      capability: {
        type: 'string',
        deprecatedName: 'can',
        multiple: true,
        value: 'capability',
        summary:
          'With create, grant the token this capability (default: "mcp_integration", which covers all servers); replaces the default; can be repeated',
      },
      access: {
        type: 'string',
        value: 'call,read,admin',
        summary: 'With create, the access that the token grants (default: "call")',
      },
      expires: {
        type: 'string',
        value: '30m|12h|7d|date',
        summary: 'With create, when the token expires (default: never)',
      },
    },
    examples: [
      {
        line: 'turnbuckle token create ci --capability mcp_github --expires 7d',
        what: 'only for calls to the server "github", for seven days',
      },
      {
        line: 'turnbuckle token create claude --capability mcp_integration --capability mcp_steward',
        what: 'for all servers, and for the tools of the steward',
      },
      { line: 'turnbuckle token create dashboard --access read', what: 'read-only' },
      { line: 'turnbuckle token list', what: 'names, never tokens' },
      { line: 'turnbuckle token revoke ci', what: 'the token stops working immediately' },
    ],
    load: () => import('../commands/token.js'),
  },
  {
    name: 'approvals',
    arguments: '[list|show|watch|answer] [id] [once|session|always|deny]',
    maxPositionals: 3,
    summary: 'List calls that are waiting for approval, and approve or deny them',
    description:
      'In a terminal, the watch subcommand prompts you to approve or deny each new call. Without a terminal, it only prints the calls.',
    options: {
      full: { type: 'boolean', summary: 'With show, print everything that would be sent, untruncated' },
    },
    examples: [
      { line: 'turnbuckle approvals', what: 'pending approvals' },
      { line: 'turnbuckle approvals watch', what: 'prompt for each new call until Ctrl-C' },
      { line: 'turnbuckle approvals show <id> --full', what: 'everything that would be sent, untruncated' },
      { line: 'turnbuckle approvals answer <id> once', what: 'allow this call' },
    ],
    load: () => import('../commands/approvals.js'),
  },
  {
    name: 'setup',
    arguments: '[client]',
    maxPositionals: 1,
    summary: "Add the daemon to an agent's configuration",
    description:
      'Without a client, lists the clients found on this machine. With a client, shows the changes, asks for confirmation and creates a token for the client. --undo restores the configuration file and revokes the token. If the file has changed since the setup, --undo removes only the entry that setup added.',
    options: {
      stdio: {
        type: 'boolean',
        summary:
          'Let the client start a command instead of connecting by URL; the command uses the daemon if one is running',
      },
      view: {
        type: 'string',
        value: 'name',
        summary: 'Connect the client only to this view from daemon.views',
      },
      file: { type: 'string', value: 'file', summary: 'File to write instead of the default one' },
      yes: { type: 'boolean', short: 'y', summary: 'Skip the confirmation prompt' },
      undo: { type: 'boolean', summary: 'Revert the setup' },
    },
    examples: [
      { line: 'turnbuckle setup', what: 'list the agents on this machine' },
      { line: 'turnbuckle setup cursor', what: 'connect by URL, with a separate token for this client' },
      { line: 'turnbuckle setup zed --stdio', what: 'let the client start a command instead' },
      { line: 'turnbuckle setup cursor --undo', what: 'revert the setup' },
    ],
    load: () => import('../commands/setup.js'),
  },
];

/** Commands that are started by others, not by people. */
export const HIDDEN_COMMANDS: readonly Command[] = [
  {
    name: 'demo-server',
    arguments: '',
    maxPositionals: 0,
    summary: 'Demo MCP server on stdin and stdout',
    endsBySignal: true,
    options: {},
    examples: [],
    load: () => import('../commands/demo-server.js'),
  },
];
