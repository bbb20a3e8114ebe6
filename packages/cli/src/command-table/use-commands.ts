/** Commands that use servers, and that show what calls did. */
import type { Command } from '../command.js';
import { CAPABILITY_OPTION } from './shared-options.js';

export const USE_COMMANDS: readonly Command[] = [
  {
    name: 'list',
    aliases: ['status', 'ls'],
    arguments: '[server...]',
    summary: 'Connect to all servers and show their status',
    options: {
      'no-connect': { type: 'boolean', summary: 'Show only the configuration, without starting servers' },
    },
    examples: [
      { line: 'turnbuckle list', what: 'all servers, in parallel' },
      { line: 'turnbuckle list --json', what: 'as JSON' },
    ],
    load: () => import('../commands/list.js'),
  },
  {
    name: 'tools',
    arguments: '[server] [search words]',
    summary: 'List and search tools, and show their schemas',
    options: {
      schema: { type: 'boolean', summary: 'Include input schemas' },
      ts: { type: 'boolean', summary: 'Print TypeScript signatures' },
    },
    examples: [
      { line: 'turnbuckle tools', what: 'tools on all servers' },
      { line: 'turnbuckle tools github issue', what: 'tools on the server "github" that match "issue"' },
      { line: 'turnbuckle tools files read_text_file --ts', what: 'a typed signature' },
    ],
    load: () => import('../commands/tools.js'),
  },
  {
    name: 'call',
    arguments: '<server> <tool> [key=value] [key:=json]',
    summary: 'Call a tool',
    description:
      'The value in key=value is converted to the type in the schema (number, boolean, list). The value in key:=json is parsed as JSON. Images and audio are saved to files.',
    options: {
      'args-file': {
        type: 'string',
        value: 'file|-',
        summary: 'Read all arguments as a JSON object from a file or stdin',
      },
      timeout: {
        type: 'string',
        value: 'seconds',
        summary:
          'Maximum time to wait for a response or a progress update. Without a terminal, it also limits the wait for an approval',
      },
      output: {
        type: 'string',
        short: 'o',
        value: 'directory',
        summary: 'Where to save images and audio (default: the current directory)',
      },
      as: {
        type: 'string',
        value: 'id',
        summary: 'Call as this agent; the rules and approvals for the agent apply',
      },
      capability: CAPABILITY_OPTION,
    },
    examples: [
      { line: 'turnbuckle call everything echo message=hi', what: 'call a tool on a server' },
      {
        line: 'turnbuckle call github create_issue owner=me repo=app title="It broke" labels:=\'["bug"]\'',
        what: 'pass a list as JSON',
      },
      {
        line: 'echo \'{"a":1,"b":2}\' | turnbuckle call everything get-sum --args-file -',
        what: 'read arguments from a pipe',
      },
      { line: 'turnbuckle call mcp__everything__echo message=hi', what: 'use the name that agents see' },
      {
        line: 'turnbuckle call files write_file path=a.txt content=hi --as claude',
        what: 'make the call as an agent, which requires approval',
      },
    ],
    load: () => import('../commands/call.js'),
  },
  {
    name: 'resources',
    arguments: '[server]',
    maxPositionals: 1,
    summary: 'List resources and resource templates',
    options: {},
    examples: [{ line: 'turnbuckle resources everything', what: 'resources on one server' }],
    load: () => import('../commands/resources.js'),
  },
  {
    name: 'read',
    arguments: '<server> <uri>',
    maxPositionals: 2,
    summary: 'Read a resource',
    options: {
      output: { type: 'string', short: 'o', value: 'directory', summary: 'Where to save binary contents' },
    },
    examples: [
      {
        line: 'turnbuckle read everything demo://resource/static/document/features.md',
        what: 'print text, and save anything else to a file',
      },
    ],
    load: () => import('../commands/read.js'),
  },
  {
    name: 'prompts',
    arguments: '[server]',
    maxPositionals: 1,
    summary: 'List prompts',
    options: {},
    examples: [{ line: 'turnbuckle prompts', what: 'prompts on all servers' }],
    load: () => import('../commands/prompts.js'),
  },
  {
    name: 'prompt',
    arguments: '<server> <prompt> [key=value]',
    summary: 'Get a prompt with its arguments filled in',
    options: {},
    examples: [{ line: 'turnbuckle prompt everything args-prompt city=Oslo', what: 'with an argument' }],
    load: () => import('../commands/prompt.js'),
  },
  {
    name: 'ping',
    arguments: '<server>',
    maxPositionals: 1,
    summary: 'Check that a server responds',
    options: {},
    examples: [{ line: 'turnbuckle ping files', what: 'starts the server if needed' }],
    load: () => import('../commands/ping.js'),
  },
  {
    name: 'logs',
    arguments: '<server>',
    maxPositionals: 1,
    summary: 'Start a server and show its stderr and protocol notifications',
    description:
      'If a daemon is running, shows the latest output that the daemon received from the server, then new output.',
    options: {
      seconds: {
        type: 'string',
        short: 's',
        value: 'n',
        summary: 'Stop after this many seconds (default: until Ctrl-C)',
      },
      follow: {
        type: 'boolean',
        short: 'f',
        summary: 'Show new output until Ctrl-C (the default without --seconds)',
      },
    },
    examples: [
      { line: 'turnbuckle logs files --follow', what: 'until Ctrl-C' },
      { line: 'turnbuckle logs files --seconds 5', what: 'for five seconds' },
    ],
    load: () => import('../commands/logs.js'),
  },
  {
    name: 'calls',
    deprecatedName: 'log',
    arguments: '[show|replay] [id]',
    summary: 'Show the call history: list, follow, search and replay calls',
    description:
      'Without a subcommand, lists the latest calls, newest last. The show subcommand prints everything that is recorded about a call. The replay subcommand makes the call again; rules and approvals apply in the same way as for turnbuckle call. Times are local, or UTC with --json. No daemon is needed.',
    options: {
      follow: { type: 'boolean', short: 'f', summary: 'Follow new calls until Ctrl-C' },
      search: {
        type: 'string',
        value: 'words',
        summary: 'Only calls that contain all these words in their names, arguments, result or error',
      },
      server: { type: 'string', value: 'server', summary: 'Only calls to this server' },
      tool: { type: 'string', value: 'tool', summary: 'Only calls to this tool' },
      caller: {
        type: 'string',
        value: 'id',
        summary: 'Only calls by this agent ("host" for your own calls)',
      },
      failed: { type: 'boolean', summary: 'Only failed calls' },
      since: {
        type: 'string',
        value: '30m|2h|7d|date',
        summary: 'Only calls within this period or since this date',
      },
      limit: { type: 'string', short: 'n', value: 'n', summary: 'Maximum number of calls (default: 20)' },
      timeout: {
        type: 'string',
        value: 'seconds',
        summary: 'With replay, the maximum time to wait for a response or progress',
      },
      output: {
        type: 'string',
        short: 'o',
        value: 'directory',
        summary: 'With replay, where to save images and audio (default: the current directory)',
      },
      as: { type: 'string', value: 'id', summary: 'With replay, call as this agent (default: you)' },
      capability: CAPABILITY_OPTION,
    },
    examples: [
      { line: 'turnbuckle calls --follow', what: 'follow new calls' },
      { line: 'turnbuckle calls --failed --since 1h', what: 'failed calls in the last hour' },
      { line: 'turnbuckle calls --search "invoice 2231" --server billing', what: 'search by words' },
      { line: 'turnbuckle calls show k3v9x1-42', what: 'all details of one call' },
      { line: 'turnbuckle calls replay k3v9x1-42', what: 'make the same call again' },
    ],
    load: () => import('../commands/calls.js'),
  },
  {
    name: 'incidents',
    arguments: '[server]',
    maxPositionals: 1,
    summary:
      'Show what the daemon reported: failed servers, required sign-ins, changed tools, refused tokens',
    description:
      'Lists the latest incidents for all servers and the daemon, or for one server, newest last, each with the next step. Times are local, or UTC with --json. No daemon is needed.',
    options: {
      since: {
        type: 'string',
        value: '30m|2h|7d|date',
        summary: 'Only incidents within this period or since this date',
      },
      level: {
        type: 'string',
        value: 'error|warn|info',
        summary: 'Only incidents at this level or higher (default: info)',
      },
      limit: { type: 'string', short: 'n', value: 'n', summary: 'Maximum number of incidents (default: 20)' },
    },
    examples: [
      { line: 'turnbuckle incidents', what: 'the latest incidents' },
      { line: 'turnbuckle incidents github --since 24h', what: 'for one server, in the last day' },
      { line: 'turnbuckle incidents --level error', what: 'only errors' },
    ],
    load: () => import('../commands/incidents.js'),
  },
  {
    name: 'stats',
    arguments: '[server]',
    maxPositionals: 1,
    summary: 'Show usage, latency, failure rate and token cost of tools and servers',
    description: `The values are computed from the call history. The column "tokens" estimates how many tokens a server's tool list adds to a model's context.`,
    options: {
      since: {
        type: 'string',
        value: '30m|2h|7d|date',
        summary: 'Only calls within this period or since this date (default: 7d)',
      },
      slow: { type: 'boolean', summary: 'Sort by latency, slowest first' },
      failing: { type: 'boolean', summary: 'Sort by failure rate, highest first' },
    },
    examples: [
      { line: 'turnbuckle stats', what: 'the last seven days' },
      { line: 'turnbuckle stats github --since 24h --slow', what: 'one server, slowest tools first' },
    ],
    load: () => import('../commands/stats.js'),
  },
];
