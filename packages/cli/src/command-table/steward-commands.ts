/** Commands about effort, and about the work that happens in the background. */
import type { Command } from '../command.js';

export const STEWARD_COMMANDS: readonly Command[] = [
  {
    name: 'energy',
    arguments: '',
    maxPositionals: 0,
    summary: 'Show the energy used by calls, and the energy left in budgets',
    description:
      'Every call costs energy: a small amount for the call itself, and more for each second it takes. The values are computed from the call history. Budgets are shown only if a daemon is running.',
    options: {
      since: {
        type: 'string',
        value: '30m|2h|7d|date',
        summary: 'Only calls within this period or since this date (default: 24h)',
      },
    },
    examples: [
      { line: 'turnbuckle energy', what: 'the last 24 hours' },
      { line: 'turnbuckle energy --since 7d --json', what: 'the last seven days, for a program' },
    ],
    load: () => import('../commands/energy.js'),
  },
  {
    name: 'chat',
    arguments: '[message]',
    summary: "Talk to the daemon's agent",
    description:
      'The agent uses the tools on all servers, and adjusts its effort to its energy. With a message, prints the reply and ends the conversation. Without a message, reads messages from the terminal and keeps the conversation open. A message to an ended conversation reopens it. You can shorten an id to its first characters. Set the model in your config file (agent.model).',
    options: {
      demo: { type: 'boolean', summary: 'Try the agent with the demo server and without a model' },
      conversation: {
        type: 'string',
        value: 'id',
        summary: 'Continue this conversation, and keep it open (default: start a new conversation)',
      },
      keep: { type: 'boolean', summary: 'With a message, keep the conversation open' },
      list: { type: 'boolean', summary: 'List open conversations, latest first' },
      end: {
        type: 'string',
        multiple: true,
        value: 'id',
        summary: 'End this conversation; can be repeated',
      },
    },
    examples: [
      { line: 'turnbuckle chat --demo "What are your tools?"', what: 'try the agent without a model' },
      { line: 'turnbuckle chat --demo hello --json', what: 'the same, for a program' },
      { line: 'turnbuckle chat --list', what: 'open conversations' },
      { line: 'turnbuckle chat --end 6f1c2a9e', what: 'end a conversation' },
    ],
    load: () => import('../commands/chat.js'),
  },
  {
    name: 'search',
    arguments: '<purpose>',
    summary: 'Search registries for servers by purpose',
    description:
      'Searches the configured registries ("steward.registries"; default: the official MCP registry), and caches their lists for an hour. Nothing is installed. No daemon is needed.',
    options: {
      limit: { type: 'string', value: 'n', summary: 'Maximum number of servers, up to 50 (default: 10)' },
    },
    examples: [
      { line: 'turnbuckle search read and search files', what: 'servers that read and search files' },
      { line: 'turnbuckle search calendar --limit 3 --json', what: 'the three best matches, for a program' },
    ],
    load: () => import('../commands/search.js'),
  },
  {
    name: 'steward',
    arguments: '[subcommand] [words]',
    summary: 'Let the steward add, test, change and remove servers in the background',
    description:
      'Subcommands: list, request, status, cancel, approvals, approve, refuse, pause, resume, stop, start. Without a subcommand, lists the requests. The request subcommand takes a kind (add, remove, test, search or modify) and parameters as key=value or key:=json; words without a key are the purpose or the name of the server. It prints the request id. You can shorten an id to its first characters. The approvals subcommand lists the installations and changes that need your approval. The approve subcommand takes field values as field=value, and in a terminal prompts for the other required fields. Secrets cannot be passed as arguments. The pause subcommand interrupts the running step until you run resume; after stop, the steward does nothing until you run start. Requests are processed only while the daemon is running. The subcommands request, list, status and cancel also work without a daemon.',
    options: {
      priority: {
        type: 'string',
        value: 'low|medium|high',
        summary: 'With request, how urgent the request is (default: medium)',
      },
      wait: {
        type: 'boolean',
        summary: 'With request, wait until the request finishes; Ctrl-C stops only the wait',
      },
      'secrets-stdin': {
        type: 'boolean',
        summary: 'With approve, read secrets from stdin, as a JSON object with a value for each field',
      },
      limit: { type: 'string', value: 'n', summary: 'With list, maximum number of requests (default: 20)' },
    },
    examples: [
      { line: 'turnbuckle steward', what: 'all requests, newest first' },
      {
        line: 'turnbuckle steward request add "read my calendar" --priority high',
        what: 'find a server and install it, after your approval',
      },
      { line: 'turnbuckle steward request test files --wait', what: 'test a server in quarantine' },
      {
        line: 'turnbuckle steward request modify files changes.enabled:=false',
        what: 'change a server, after your approval',
      },
      { line: 'turnbuckle steward approvals', what: 'what is waiting for your approval' },
      {
        line: 'turnbuckle steward approve 6f1c2a9e ROOT=/srv/notes',
        what: 'approve, with a value for a field',
      },
      { line: 'turnbuckle steward refuse 6f1c2a9e', what: 'install nothing' },
      {
        line: 'turnbuckle steward cancel 0b7d41c3 no longer needed',
        what: 'cancel a request, with a reason',
      },
      { line: 'turnbuckle steward pause', what: 'interrupt the steward until it is resumed' },
    ],
    load: () => import('../commands/steward.js'),
  },
];
