/** The command table: everything that help, completion and the reference page know about a command. */
import type { Command } from './command.js';
import { DAEMON } from './daemon-commands.js';

const SCOPE_OPTION = {
  type: 'string',
  value: 'user|project|local',
  summary: 'Which file to write (default: the one it is in, else user)',
} as const;

const CAN_OPTION = {
  type: 'string',
  multiple: true,
  value: 'capability',
  summary: 'What that agent may know of (default: mcp_integration, everything)',
} as const;

const MANAGING: readonly Command[] = [
  {
    name: 'add',
    arguments: '<name> <command|url|json> [arguments]',
    summary: 'Add a server to the configuration',
    description: 'Everything after -- is the command of a local server, as it is. Nothing is started.',
    options: {
      scope: SCOPE_OPTION,
      env: {
        type: 'string',
        short: 'e',
        multiple: true,
        value: 'KEY=value',
        summary: 'A variable for its process',
      },
      header: {
        type: 'string',
        short: 'H',
        multiple: true,
        value: 'Name: value',
        summary: 'A header for a remote server',
      },
      transport: {
        type: 'string',
        short: 't',
        value: 'http|sse|websocket',
        summary: 'How to talk to an address',
      },
      force: { type: 'boolean', summary: 'Replace a server of that name' },
    },
    examples: [
      {
        line: 'turnbuckle add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes',
        what: 'a local server',
      },
      {
        line: "turnbuckle add docs https://example.com/mcp -H 'Authorization: Bearer ${DOCS_TOKEN}'",
        what: 'a remote one; single quotes keep the shell from filling it in',
      },
      { line: `turnbuckle add db '{"command":"db-mcp","env":{"URL":"\${DB_URL}"}}'`, what: 'from JSON' },
    ],
    load: () => import('./commands/add.js'),
  },
  {
    name: 'remove',
    aliases: ['rm'],
    arguments: '<server> [server...]',
    summary: 'Remove servers from the configuration',
    options: { scope: SCOPE_OPTION },
    examples: [{ line: 'turnbuckle remove files', what: 'from the file it is in' }],
    load: () => import('./commands/remove.js'),
  },
  {
    name: 'enable',
    arguments: '<server> [server...]',
    summary: 'Switch servers on',
    options: { scope: SCOPE_OPTION },
    examples: [{ line: 'turnbuckle enable files', what: 'in the file that switched it off' }],
    load: () => import('./commands/enable.js'),
  },
  {
    name: 'disable',
    arguments: '<server> [server...]',
    summary: 'Switch servers off without removing them',
    options: { scope: SCOPE_OPTION },
    examples: [{ line: 'turnbuckle disable files --scope local', what: 'for you alone, in this project' }],
    load: () => import('./commands/disable.js'),
  },
];

const USING: readonly Command[] = [
  {
    name: 'list',
    aliases: ['status', 'ls'],
    arguments: '[server...]',
    summary: 'Connect the servers and show how each is',
    options: {
      'no-connect': { type: 'boolean', summary: 'Only what the configuration says; nothing is started' },
    },
    examples: [
      { line: 'turnbuckle list', what: 'all servers, in parallel' },
      { line: 'turnbuckle list --json', what: 'for programs' },
    ],
    load: () => import('./commands/list.js'),
  },
  {
    name: 'tools',
    arguments: '[server] [search words]',
    summary: 'List tools, search them, show their schemas',
    options: {
      schema: { type: 'boolean', summary: 'With their input schemas' },
      ts: { type: 'boolean', summary: 'As TypeScript signatures' },
    },
    examples: [
      { line: 'turnbuckle tools', what: 'the tools of all servers' },
      { line: 'turnbuckle tools github issue', what: 'those of github that have to do with issues' },
      { line: 'turnbuckle tools files read_text_file --ts', what: 'a typed signature' },
    ],
    load: () => import('./commands/tools.js'),
  },
  {
    name: 'call',
    arguments: '<server> <tool> [key=value] [key:=json]',
    summary: 'Call a tool',
    description:
      'key=value is read as its schema says (numbers, booleans, lists); key:=json is JSON. Images and audio are saved to files.',
    options: {
      'args-file': {
        type: 'string',
        value: 'file|-',
        summary: 'All arguments as a JSON object from a file or stdin',
      },
      timeout: {
        type: 'string',
        value: 'seconds',
        summary: 'Give up after so long without a sign from the server, or, in a pipe, without an approval',
      },
      output: {
        type: 'string',
        short: 'o',
        value: 'directory',
        summary: 'Where images and audio go (default: the current directory)',
      },
      as: {
        type: 'string',
        value: 'id',
        summary: 'Call as this agent: rules and approvals hold as they do for it',
      },
      can: CAN_OPTION,
    },
    examples: [
      { line: 'turnbuckle call everything echo message=hi', what: 'a tool of a server' },
      {
        line: 'turnbuckle call github create_issue owner=me repo=app title="It broke" labels:=\'["bug"]\'',
        what: 'JSON for a list',
      },
      {
        line: 'echo \'{"a":1,"b":2}\' | turnbuckle call everything get-sum --args-file -',
        what: 'arguments from a pipe',
      },
      { line: 'turnbuckle call mcp__everything__echo message=hi', what: 'by the name an agent sees' },
      {
        line: 'turnbuckle call files write_file path=a.txt content=hi --as claude',
        what: 'needs approval, as for an agent',
      },
    ],
    load: () => import('./commands/call.js'),
  },
  {
    name: 'resources',
    arguments: '[server]',
    mostWords: 1,
    summary: 'List resources and resource templates',
    options: {},
    examples: [{ line: 'turnbuckle resources everything', what: 'those of one server' }],
    load: () => import('./commands/resources.js'),
  },
  {
    name: 'read',
    arguments: '<server> <uri>',
    mostWords: 2,
    summary: 'Read a resource',
    options: {
      output: { type: 'string', short: 'o', value: 'directory', summary: 'Where binary contents go' },
    },
    examples: [
      {
        line: 'turnbuckle read everything demo://resource/static/document/features.md',
        what: 'text is shown, anything else saved',
      },
    ],
    load: () => import('./commands/read.js'),
  },
  {
    name: 'prompts',
    arguments: '[server]',
    mostWords: 1,
    summary: 'List prompts',
    options: {},
    examples: [{ line: 'turnbuckle prompts', what: 'those of all servers' }],
    load: () => import('./commands/prompts.js'),
  },
  {
    name: 'prompt',
    arguments: '<server> <prompt> [key=value]',
    summary: 'Get a prompt, filled in',
    options: {},
    examples: [{ line: 'turnbuckle prompt everything args-prompt city=Oslo', what: 'with an argument' }],
    load: () => import('./commands/prompt.js'),
  },
  {
    name: 'ping',
    arguments: '<server>',
    mostWords: 1,
    summary: 'Ask a server for a sign of life',
    options: {},
    examples: [{ line: 'turnbuckle ping files', what: 'started for it if need be' }],
    load: () => import('./commands/ping.js'),
  },
  {
    name: 'logs',
    arguments: '<server>',
    mostWords: 1,
    summary: 'Start a server and show what it writes to stderr and its protocol notices',
    description: 'While a daemon runs: what its server has written last, then what comes.',
    options: {
      seconds: { type: 'string', short: 's', value: 'n', summary: 'Stop after so long (default: Ctrl-C)' },
      follow: { type: 'boolean', short: 'f', summary: 'Go on until Ctrl-C: the default without --seconds' },
    },
    examples: [
      { line: 'turnbuckle logs files --follow', what: 'until you stop it' },
      { line: 'turnbuckle logs files --seconds 5', what: 'for five seconds' },
    ],
    load: () => import('./commands/logs.js'),
  },
  {
    name: 'log',
    arguments: '[show|replay] [id]',
    summary: 'Show the calls that the daemon has logged, follow them, search them, make one again',
    description:
      'Without words: the latest calls, the newest last. show has everything that is kept of a call. replay makes it again the way that call does, with the same rules and approvals. Times are those of your time zone, with --json UTC. Works without a daemon.',
    options: {
      follow: { type: 'boolean', short: 'f', summary: 'Go on with new calls until Ctrl-C' },
      search: {
        type: 'string',
        value: 'words',
        summary: 'With all these words in names, arguments, result or error',
      },
      server: { type: 'string', value: 'server', summary: 'Of this server' },
      tool: { type: 'string', value: 'tool', summary: 'Of this tool' },
      caller: { type: 'string', value: 'id', summary: 'By this agent; host: by you' },
      failed: { type: 'boolean', summary: 'That did not end well' },
      since: { type: 'string', value: '30m|2h|7d|date', summary: 'Not older than this' },
      limit: { type: 'string', short: 'n', value: 'n', summary: 'At most so many (default: 20)' },
      timeout: { type: 'string', value: 'seconds', summary: 'replay: as in call' },
      output: { type: 'string', short: 'o', value: 'directory', summary: 'replay: as in call' },
      as: { type: 'string', value: 'id', summary: 'replay: as this agent (default: you)' },
      can: CAN_OPTION,
    },
    examples: [
      { line: 'turnbuckle log --follow', what: 'as they come' },
      { line: 'turnbuckle log --failed --since 1h', what: 'what went wrong in the last hour' },
      { line: 'turnbuckle log --search "invoice 2231" --server billing', what: 'by words' },
      { line: 'turnbuckle log show k3v9x1-42', what: 'everything about one call' },
      { line: 'turnbuckle log replay k3v9x1-42', what: 'the same call again' },
    ],
    load: () => import('./commands/log.js'),
  },
  {
    name: 'stats',
    arguments: '[server]',
    mostWords: 1,
    summary:
      'Show how much tools and servers are used, how fast they are, how often they fail, what they cost',
    description:
      'From the log of the daemon. tokens is about what the list of tools of a server costs a model that is shown it.',
    options: {
      since: { type: 'string', value: '30m|2h|7d|date', summary: 'Not older than this (default: 7d)' },
      slow: { type: 'boolean', summary: 'The slowest tools first' },
      failing: { type: 'boolean', summary: 'The tools that fail most first' },
    },
    examples: [
      { line: 'turnbuckle stats', what: 'the last seven days' },
      { line: 'turnbuckle stats github --since 24h --slow', what: 'one server, its slowest tools first' },
    ],
    load: () => import('./commands/stats.js'),
  },
];

const CONFIGURING: readonly Command[] = [
  {
    name: 'config',
    arguments: '[server]',
    mostWords: 1,
    summary: 'Explain the configuration: every value, where it comes from, what it shadows',
    description:
      'Reads the files as they are now, also while a daemon goes on with what it had. Exit code 0: all can be used; 10: a file or an entry in it cannot.',
    options: {},
    examples: [
      { line: 'turnbuckle config', what: 'everything' },
      { line: 'turnbuckle config files', what: 'one server in full' },
    ],
    load: () => import('./commands/config.js'),
  },
  {
    name: 'import',
    arguments: '[client...]',
    summary: 'Take over the servers of the other tools on this machine',
    description:
      'Shows what would change and asks; placeholders are kept as they are. --undo takes the last import back.',
    options: {
      from: { type: 'string', value: 'file', summary: 'A file, whatever tool it belongs to' },
      scope: SCOPE_OPTION,
      yes: { type: 'boolean', short: 'y', summary: 'Do it without asking' },
      undo: { type: 'boolean', summary: 'Take the last import back' },
    },
    examples: [
      { line: 'turnbuckle import', what: 'everything that is found' },
      { line: 'turnbuckle import cursor vscode --yes', what: 'from these two' },
      { line: 'turnbuckle import --from ~/old/mcp.json', what: 'from a file' },
    ],
    load: () => import('./commands/import.js'),
  },
  {
    name: 'export',
    arguments: '[server...]',
    summary: "Write servers into another tool's configuration",
    description:
      'Shows what would change and asks; placeholders are kept. --undo takes the last export back.',
    options: {
      to: { type: 'string', value: 'client', summary: 'Which tool' },
      file: { type: 'string', value: 'file', summary: 'Another file than its usual one; - prints it' },
      yes: { type: 'boolean', short: 'y', summary: 'Do it without asking' },
      undo: { type: 'boolean', summary: 'Take the last export back' },
    },
    examples: [
      { line: 'turnbuckle export --to cursor', what: 'all servers' },
      { line: 'turnbuckle export files --to codex --file -', what: 'look at it first' },
    ],
    load: () => import('./commands/export.js'),
  },
  {
    name: 'trust',
    arguments: '[server...]',
    summary: "Look at the project's servers and agree to them",
    options: {
      yes: { type: 'boolean', short: 'y', summary: 'Agree without being asked' },
      revoke: { type: 'boolean', summary: 'Take the agreement back' },
    },
    examples: [
      { line: 'turnbuckle trust', what: 'each one is shown, and you are asked' },
      { line: 'turnbuckle trust files --yes', what: 'after you have looked at it' },
    ],
    load: () => import('./commands/trust.js'),
  },
  {
    name: 'rules',
    arguments: '[list|allow|ask|deny|remove|test|pins|pin|unpin] [words]',
    summary: 'Show and say who may call what, explain a decision, and which tools are pinned',
    description:
      'Without words: the rules in effect, in their order; the first one that fits decides. allow, ask and deny make a rule for <caller> [server] [tool], which are names or globs; without a tool it is for the whole server, without a server for all. The caller is the name of a token; host is you, agents is everybody else. A deny is put first; an ask comes before an allow for the same calls, but never before a deny. What others decide instead is said. remove takes the number, or the id of --json. Both show the change and ask; --undo takes the last one back. test says what would be decided about a call and why; nothing is called, and no server is started without --connect. pins lists the tools that are held to the definition that was approved; pin takes them as they are now, unpin lets go.',
    options: {
      caller: {
        type: 'string',
        value: 'id',
        summary: 'test: the agent that would call (default: the host, you)',
      },
      can: CAN_OPTION,
      kind: {
        type: 'string',
        value: 'tool|resource|prompt',
        summary: 'test: what is called (default: tool); allow, ask, deny: only for these (default: all)',
      },
      reason: { type: 'string', value: 'text', summary: 'allow, ask, deny: why, shown with the decision' },
      first: { type: 'boolean', summary: 'allow, ask, deny: before all others of its file' },
      scope: SCOPE_OPTION,
      undo: { type: 'boolean', summary: 'Take the last change of rules back' },
      connect: {
        type: 'boolean',
        summary: 'Ask the server what its tools say about themselves, and what changed',
      },
      yes: { type: 'boolean', short: 'y', summary: 'Do it without asking' },
    },
    examples: [
      { line: 'turnbuckle rules', what: 'all rules, with file and line' },
      { line: 'turnbuckle rules allow cursor files', what: 'cursor may use all of files without asking' },
      {
        line: "turnbuckle rules ask agents files 'write_*'",
        what: 'calls of agents that write need approval',
      },
      { line: "turnbuckle rules deny cursor files '/etc/**' --kind resource", what: 'no such resources' },
      { line: 'turnbuckle rules remove 0', what: 'the first one of the list' },
      { line: 'turnbuckle rules --undo', what: 'as it was before the last change' },
      { line: 'turnbuckle rules test files write_file path=/etc/passwd --caller claude', what: 'why?' },
      { line: 'turnbuckle rules pins --connect', what: 'what was approved, and what changed since' },
      { line: 'turnbuckle rules pin files', what: 'all its tools as they are now' },
      { line: 'turnbuckle rules unpin files write_file', what: 'not held to anything any more' },
    ],
    load: () => import('./commands/rules.js'),
  },
  {
    name: 'login',
    arguments: '<server>',
    mostWords: 1,
    summary: 'Sign in at a server',
    description:
      'Opens the page of its authorization server in a browser and waits for the way back. Tokens go into the vault.',
    options: {
      device: { type: 'boolean', summary: 'With a code that is typed in on another machine' },
      paste: { type: 'boolean', summary: 'The browser is elsewhere: paste the address that it ended at' },
      'no-browser': { type: 'boolean', summary: 'Only print the page' },
      scope: { type: 'string', value: 'scopes', summary: 'Ask for these scopes' },
      force: { type: 'boolean', summary: 'Also when you are signed in already' },
    },
    examples: [
      { line: 'turnbuckle login github', what: 'with a browser on this machine' },
      { line: 'turnbuckle login github --device', what: 'on a machine without one' },
    ],
    load: () => import('./commands/login.js'),
  },
  {
    name: 'logout',
    arguments: '<server> [server...]',
    summary: 'Sign out: forget the tokens and tell the authorization server',
    options: {},
    examples: [{ line: 'turnbuckle logout github', what: 'the next call asks for a sign-in again' }],
    load: () => import('./commands/logout.js'),
  },
  {
    name: 'whoami',
    arguments: '[server...]',
    summary: 'Show at which servers you are signed in, as whom and until when',
    options: {},
    examples: [{ line: 'turnbuckle whoami --json', what: 'for programs' }],
    load: () => import('./commands/whoami.js'),
  },
  {
    name: 'secrets',
    arguments: '<set|list|rm|rotate> [name]',
    summary: 'Keep the values of ${secret:name} in an encrypted vault',
    description:
      'set asks for the value, or takes it from stdin; it is never an argument. list shows names only. rotate makes a new key for the vault.',
    options: {
      to: {
        type: 'string',
        value: 'keychain|file|passphrase',
        summary: 'rotate: where the new key is (default: as now)',
      },
    },
    examples: [
      { line: 'turnbuckle secrets set github', what: 'you are asked for the value; it is not shown' },
      { line: 'op read op://dev/github | turnbuckle secrets set github', what: 'from a pipe' },
      { line: 'turnbuckle secrets list', what: 'names, never values' },
      { line: 'turnbuckle secrets rm github', what: 'gone from the vault' },
      { line: 'turnbuckle secrets rotate --to passphrase', what: 'a new key, from a passphrase' },
    ],
    load: () => import('./commands/secrets.js'),
  },
  {
    name: 'doctor',
    arguments: '[server...]',
    summary: 'Check everything: Node, configuration, and for each server reach, sign-in, protocol and tools',
    description:
      'Exit code 0: all well; 10: the configuration has problems; 11: a server does not come up; 12: a server wants a sign-in.',
    options: {},
    examples: [{ line: 'turnbuckle doctor', what: 'all servers; doctor files: only that one' }],
    load: () => import('./commands/doctor.js'),
  },
  {
    name: 'init',
    arguments: '',
    mostWords: 0,
    summary: 'Write a first configuration file, with comments',
    options: { scope: SCOPE_OPTION },
    examples: [{ line: 'turnbuckle init --scope project', what: 'for this directory' }],
    load: () => import('./commands/init.js'),
  },
  {
    name: 'schema',
    arguments: '',
    mostWords: 0,
    summary: 'Print the JSON Schema of configuration files, for editors',
    options: {},
    examples: [{ line: 'turnbuckle schema > mcp.schema.json', what: 'name it as $schema in the file' }],
    load: () => import('./commands/schema.js'),
  },
  {
    name: 'completion',
    arguments: '<bash|zsh|fish>',
    mostWords: 1,
    summary: 'Print the completion script of a shell',
    options: {},
    examples: [{ line: 'source <(turnbuckle completion bash)', what: 'put it in ~/.bashrc to keep it' }],
    load: () => import('./commands/completion.js'),
  },
];

export const COMMANDS: readonly Command[] = [...USING, ...DAEMON, ...MANAGING, ...CONFIGURING];
