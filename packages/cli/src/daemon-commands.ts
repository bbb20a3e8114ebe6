/** The part of the command table that is about the daemon. */
import type { Command } from './command.js';

const LISTEN_OPTIONS = {
  port: { type: 'string', short: 'p', value: 'n', summary: 'Which port; 0 for any that is free' },
  host: { type: 'string', value: 'address', summary: 'Which address of this machine (default: 127.0.0.1)' },
  demo: { type: 'boolean', summary: 'With a server to try it out: echo, add, clock' },
} as const;

export const DAEMON: readonly Command[] = [
  {
    name: 'serve',
    arguments: '[start|stop|restart|status]',
    mostWords: 1,
    summary: 'Run the daemon: every server behind one address, for agents and programs',
    description:
      'Without words: until Ctrl-C, with the MCP endpoint at /mcp. start, stop and restart run it in the background; restart keeps the options of the one that runs. While it runs, the other commands use its connections. --stdio serves one MCP client on stdin and stdout: through the daemon if one runs, with connections of its own if not. Rules, approvals and the log know the client as any other agent.',
    endsBySignal: true,
    options: {
      ...LISTEN_OPTIONS,
      stdio: { type: 'boolean', summary: 'Speak MCP on stdin and stdout instead' },
      view: { type: 'string', value: 'name', summary: '--stdio: only what this view of daemon.views has' },
      as: {
        type: 'string',
        value: 'name',
        summary:
          '--stdio: the token that the client acts as (default: none; its name is stdio: and what it calls itself)',
      },
      capability: {
        type: 'string',
        multiple: true,
        value: 'word',
        summary: '--stdio: what it may know of (default: as its token of that name, or everything)',
      },
    },
    examples: [
      { line: 'turnbuckle serve', what: 'at http://127.0.0.1:7420, until Ctrl-C' },
      { line: 'turnbuckle serve --demo', what: 'with something to call' },
      { line: 'turnbuckle serve start', what: 'in the background' },
      { line: 'turnbuckle serve status', what: 'exit code 0 if it runs, 3 if not, 1 if it does not answer' },
      { line: 'turnbuckle serve --stdio --as zed', what: 'as the command of an agent' },
    ],
    load: () => import('./commands/serve.js'),
  },
  {
    name: 'bridge',
    arguments: '',
    mostWords: 0,
    summary: 'Run the daemon on port 3001, for programs that call tools by POST /mcp/call',
    description: 'PORT names another port. Everything else is as with serve.',
    endsBySignal: true,
    options: LISTEN_OPTIONS,
    examples: [{ line: 'PORT=8080 turnbuckle bridge', what: 'on another port' }],
    load: () => import('./commands/bridge.js'),
  },
  {
    name: 'token',
    arguments: '<create|list|revoke> [name]',
    mostWords: 2,
    summary: 'Make, list and revoke tokens for the daemon',
    description:
      'create prints the token, once and alone; only its hash is kept. A daemon that runs knows of it within a second. The name is also that of the caller in rules, approvals and the log.',
    options: {
      can: {
        type: 'string',
        multiple: true,
        value: 'capability',
        summary: 'create: what its bearer may know of (default: mcp_integration, everything)',
      },
      access: {
        type: 'string',
        value: 'call,look,manage',
        summary: 'create: what it is good for (default: call)',
      },
      expires: {
        type: 'string',
        value: '30m|12h|7d|date',
        summary: 'create: until when (default: for good)',
      },
    },
    examples: [
      { line: 'turnbuckle token create ci --can mcp_github --expires 7d', what: 'for calls of one server' },
      { line: 'turnbuckle token create dashboard --access look', what: 'to look, and nothing else' },
      { line: 'turnbuckle token list', what: 'names, never tokens' },
      { line: 'turnbuckle token revoke ci', what: 'it stops working at once' },
    ],
    load: () => import('./commands/token.js'),
  },
  {
    name: 'approvals',
    arguments: '[list|show|watch|answer] [id] [once|session|always|deny]',
    mostWords: 3,
    summary: 'Show calls that wait for your approval, and answer them',
    description: 'watch asks on a terminal as they come; elsewhere it prints them.',
    options: {
      full: { type: 'boolean', summary: 'show: all that would be sent, however long' },
    },
    examples: [
      { line: 'turnbuckle approvals', what: 'what waits now' },
      { line: 'turnbuckle approvals watch', what: 'asked one after the other, until Ctrl-C' },
      { line: 'turnbuckle approvals show <id> --full', what: 'all that would be sent, however long' },
      { line: 'turnbuckle approvals answer <id> once', what: 'yes, this time' },
    ],
    load: () => import('./commands/approvals.js'),
  },
  {
    name: 'setup',
    arguments: '[client]',
    mostWords: 1,
    summary: 'Connect an agent to the daemon: write it into its configuration',
    description:
      'Without a client: those found on this machine. Shows what would change and asks; a token is made for the client. --undo takes it back to the byte and revokes the token; of a file that was changed since, it takes its entry out and leaves the rest.',
    options: {
      stdio: {
        type: 'boolean',
        summary: 'As a command that the client starts; it uses the daemon where one runs',
      },
      view: { type: 'string', value: 'name', summary: 'Only what this view of daemon.views has' },
      file: { type: 'string', value: 'file', summary: 'Another file than its usual one' },
      yes: { type: 'boolean', short: 'y', summary: 'Do it without asking' },
      undo: { type: 'boolean', summary: 'Take it back' },
    },
    examples: [
      { line: 'turnbuckle setup', what: 'which agents are here' },
      { line: 'turnbuckle setup cursor', what: 'by its address, with a token of its own' },
      { line: 'turnbuckle setup zed --stdio', what: 'by a command' },
      { line: 'turnbuckle setup cursor --undo', what: 'as it was before' },
    ],
    load: () => import('./commands/setup.js'),
  },
];

/** Commands that are started by others, not by people. */
export const HIDDEN_COMMANDS: readonly Command[] = [
  {
    name: 'demo-server',
    arguments: '',
    mostWords: 0,
    summary: 'An MCP server on stdin and stdout to try things out',
    endsBySignal: true,
    options: {},
    examples: [],
    load: () => import('./commands/demo-server.js'),
  },
];
