/** Commands about effort, and about the work that happens in the background. */
import type { Command } from '../command.js';

export const STEWARD_COMMANDS: readonly Command[] = [
  {
    name: 'energy',
    arguments: '',
    maxPositionals: 0,
    summary: 'Show the energy that calls used, and what is left of budgets',
    description:
      'Every call costs energy: a little for the call, and more for each second that it takes. The values are computed from the call history. Budgets are shown if a daemon is running.',
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
    summary: 'Talk to the agent of the daemon',
    description:
      'The agent uses the tools of all servers, and regulates its effort by its energy. With a message, prints the reply and ends the conversation; without one, reads messages from the terminal, and the conversation stays open. A message to a conversation that has ended opens it again. An id can be shortened to its first characters. Set the model in your config file (agent.model).',
    options: {
      demo: { type: 'boolean', summary: 'Try it with the demo server and without a model' },
      conversation: {
        type: 'string',
        value: 'id',
        summary: 'Continue this conversation, and leave it open (default: a new one)',
      },
      keep: { type: 'boolean', summary: 'With a message, leave the conversation open' },
      list: { type: 'boolean', summary: 'List the conversations that have not ended, the latest first' },
      end: {
        type: 'string',
        multiple: true,
        value: 'id',
        summary: 'End this conversation; may be given more than once',
      },
    },
    examples: [
      { line: 'turnbuckle chat --demo "What are your tools?"', what: 'try it without a model' },
      { line: 'turnbuckle chat --demo hello --json', what: 'the same, for a program' },
      { line: 'turnbuckle chat --list', what: 'the conversations that have not ended' },
      { line: 'turnbuckle chat --end 6f1c2a9e', what: 'end one of them' },
    ],
    load: () => import('../commands/chat.js'),
  },
  {
    name: 'search',
    arguments: '<purpose>',
    summary: 'Search registries for servers that do something',
    description:
      'Searches the registries of the configuration ("steward.registries"), or the official MCP registry, and keeps a copy of the list for an hour. Nothing is installed. No daemon is needed.',
    options: {
      limit: { type: 'string', value: 'n', summary: 'Maximum number of servers, up to 50 (default: 10)' },
    },
    examples: [
      { line: 'turnbuckle search read and search files', what: 'servers for this purpose' },
      { line: 'turnbuckle search calendar --limit 3 --json', what: 'the best three, for a program' },
    ],
    load: () => import('../commands/search.js'),
  },
  {
    name: 'steward',
    arguments: '[subcommand] [words]',
    summary: 'Let the steward add, test, change and remove servers in the background',
    description:
      'Subcommands: list, request, status, cancel, approvals, approve, refuse, pause, resume, stop, start. Without one, lists the requests. The request subcommand takes a kind (add, remove, test, search or modify), and its parameters as key=value or key:=json; words without a key are the purpose or the name of the server. It prints the id of the request. An id can be shortened to its first characters. The approvals subcommand shows what the steward asks before it installs or changes something. The approve subcommand takes values for fields as field=value, and asks for the other required fields on a terminal. Secrets cannot be passed as arguments. The pause subcommand interrupts the running step until resume; stop lasts until start. Requests are processed only while the daemon runs. Without a daemon, request, list, status and cancel work too.',
    options: {
      priority: {
        type: 'string',
        value: 'low|medium|high',
        summary: 'With request, how urgent it is (default: medium)',
      },
      wait: {
        type: 'boolean',
        summary: 'With request, wait for its end; Ctrl-C ends only the waiting',
      },
      'secrets-stdin': {
        type: 'boolean',
        summary: 'With approve, read secrets from stdin, as a JSON object by field',
      },
      limit: { type: 'string', value: 'n', summary: 'With list, maximum number of requests (default: 20)' },
    },
    examples: [
      { line: 'turnbuckle steward', what: 'all requests, the newest first' },
      {
        line: 'turnbuckle steward request add "read my calendar" --priority high',
        what: 'find a server and install it, after your approval',
      },
      { line: 'turnbuckle steward request test files --wait', what: 'test a server in quarantine' },
      {
        line: 'turnbuckle steward request modify files changes.enabled:=false',
        what: 'change a server, after your approval',
      },
      { line: 'turnbuckle steward approvals', what: 'what waits for your approval' },
      {
        line: 'turnbuckle steward approve 6f1c2a9e ROOT=/srv/notes',
        what: 'approve, with a value for a field',
      },
      { line: 'turnbuckle steward refuse 6f1c2a9e', what: 'install nothing' },
      {
        line: 'turnbuckle steward cancel 0b7d41c3 no longer needed',
        what: 'cancel a request, with the reason',
      },
      { line: 'turnbuckle steward pause', what: 'interrupt the steward until it is resumed' },
    ],
    load: () => import('../commands/steward.js'),
  },
];
