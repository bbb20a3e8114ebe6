/** Commands for configuration files, rules, sign-ins and secrets, and for the shell. */
import type { Command } from '../command.js';
import { AGENT_OPTION, CAPABILITY_OPTION, SCOPE_OPTION } from './shared-options.js';

export const CONFIG_COMMANDS: readonly Command[] = [
  {
    name: 'config',
    arguments: '[server]',
    maxPositionals: 1,
    summary: 'Explain the configuration: every value, its source and what it overrides',
    description:
      'Reads the files as they are now, even if a running daemon still uses an earlier version. Exit codes: 0 if everything is valid, 10 if a file or an entry is invalid.',
    options: {},
    examples: [
      { line: 'turnbuckle config', what: 'everything' },
      { line: 'turnbuckle config files', what: 'one server in detail' },
    ],
    load: () => import('../commands/config.js'),
  },
  {
    name: 'import',
    arguments: '[client...]',
    summary: 'Import servers from other applications on this machine',
    description:
      'Shows the changes and asks for confirmation. Placeholders such as ${VAR} are copied unchanged. --undo reverts the last import.',
    options: {
      from: {
        type: 'string',
        value: 'file',
        summary: 'Import from this file, in the format of any supported client',
      },
      scope: SCOPE_OPTION,
      yes: { type: 'boolean', short: 'y', summary: 'Skip the confirmation prompt' },
      undo: { type: 'boolean', summary: 'Revert the last import' },
    },
    examples: [
      { line: 'turnbuckle import', what: 'all servers found' },
      { line: 'turnbuckle import cursor vscode --yes', what: 'only from these two clients' },
      { line: 'turnbuckle import --from ~/old/mcp.json', what: 'from a file' },
    ],
    load: () => import('../commands/import.js'),
  },
  {
    name: 'export',
    arguments: '[server...]',
    summary: "Write servers to another application's configuration",
    description:
      'Shows the changes and asks for confirmation. Placeholders such as ${VAR} are copied unchanged. --undo reverts the last export.',
    options: {
      to: { type: 'string', value: 'client', summary: 'Client to export to' },
      file: {
        type: 'string',
        value: 'file',
        summary: 'File to write instead of the default file; "-" prints to stdout',
      },
      yes: { type: 'boolean', short: 'y', summary: 'Skip the confirmation prompt' },
      undo: { type: 'boolean', summary: 'Revert the last export' },
    },
    examples: [
      { line: 'turnbuckle export --to cursor', what: 'all servers' },
      { line: 'turnbuckle export files --to codex --file -', what: 'preview on stdout' },
    ],
    load: () => import('../commands/export.js'),
  },
  {
    name: 'trust',
    arguments: '[server...]',
    summary: 'Review and trust the servers in the project configuration',
    options: {
      yes: { type: 'boolean', short: 'y', summary: 'Trust without a prompt' },
      revoke: { type: 'boolean', summary: 'Stop trusting the servers' },
    },
    examples: [
      { line: 'turnbuckle trust', what: 'review and confirm each server' },
      { line: 'turnbuckle trust files --yes', what: 'without a prompt, after you have reviewed the server' },
    ],
    load: () => import('../commands/trust.js'),
  },
  {
    name: 'rules',
    arguments: '[list|allow|ask|deny|remove|test|pins|pin|unpin] [words]',
    summary: 'Manage rules for who may call what, explain decisions, and pin tools',
    description:
      'Without a subcommand, lists the rules in order; the first matching rule decides. The subcommands allow, ask and deny add a rule for <caller> [server] [tool]; each of these is a name or a glob. If the tool is omitted, the rule applies to the whole server. If the server is omitted too, the rule applies to all servers. The caller is a token name, "host" for you, or "agents" for everyone else. New deny rules are placed first. New ask rules are placed before allow rules for the same calls, but never before deny rules. A warning lists the rules that take precedence over the new rule. The remove subcommand takes the number of a rule, or its id from --json. Changes are shown and need confirmation; --undo reverts the last change. The test subcommand explains the decision for a call without making the call; it starts the server only with --connect. The pins subcommand lists the tools whose approved definition is pinned. The pin subcommand pins the current definitions, and unpin removes pins.',
    options: {
      caller: {
        type: 'string',
        value: 'id',
        summary: 'With test, the agent that makes the call (default: "host", which means you)',
      },
      capability: CAPABILITY_OPTION,
      kind: {
        type: 'string',
        value: 'tool|resource|prompt',
        summary:
          'With test, the kind of call (default: tool). With allow, ask or deny, limit the rule to this kind (default: all kinds)',
      },
      reason: {
        type: 'string',
        value: 'text',
        summary: 'With allow, ask or deny, the reason to show with the decision',
      },
      first: { type: 'boolean', summary: 'With allow, ask or deny, put the rule first in its file' },
      scope: SCOPE_OPTION,
      undo: { type: 'boolean', summary: 'Revert the last change to the rules' },
      connect: {
        type: 'boolean',
        summary: 'Connect to the server to read annotations and detect changed tools',
      },
      yes: { type: 'boolean', short: 'y', summary: 'Skip the confirmation prompt' },
    },
    examples: [
      { line: 'turnbuckle rules', what: 'all rules, with file and line' },
      {
        line: 'turnbuckle rules allow cursor files',
        what: 'let cursor use all tools on the server "files" without approval',
      },
      {
        line: "turnbuckle rules ask agents files 'write_*'",
        what: 'require approval when agents call these tools',
      },
      { line: "turnbuckle rules deny cursor files '/etc/**' --kind resource", what: 'deny these resources' },
      { line: 'turnbuckle rules remove 0', what: 'remove the first rule' },
      { line: 'turnbuckle rules --undo', what: 'revert the last change' },
      {
        line: 'turnbuckle rules test files write_file path=/etc/passwd --caller claude',
        what: 'explain the decision',
      },
      { line: 'turnbuckle rules pins --connect', what: 'pinned tools, and which of them changed' },
      { line: 'turnbuckle rules pin files', what: 'pin all tools on the server "files" as they are now' },
      { line: 'turnbuckle rules unpin files write_file', what: 'unpin one tool' },
    ],
    load: () => import('../commands/rules.js'),
  },
  {
    name: 'login',
    arguments: '<server>',
    maxPositionals: 1,
    summary: 'Sign in to a server',
    description:
      'Opens the authorization page in a browser and waits for the redirect. Tokens are stored in the vault.',
    options: {
      device: { type: 'boolean', summary: 'Sign in with a code that you enter on another device' },
      paste: { type: 'boolean', summary: 'Paste the redirect URL from a browser on another machine' },
      'no-browser': { type: 'boolean', summary: 'Print the URL instead of opening a browser' },
      scope: { type: 'string', value: 'scopes', summary: 'Request these scopes' },
      force: { type: 'boolean', summary: 'Sign in even if already signed in' },
      agent: AGENT_OPTION,
    },
    examples: [
      { line: 'turnbuckle login github', what: 'with a browser on this machine' },
      { line: 'turnbuckle login github --device', what: 'on a machine without a browser' },
      { line: 'turnbuckle login github --agent helper', what: 'the account for calls by the agent "helper"' },
    ],
    load: () => import('../commands/login.js'),
  },
  {
    name: 'logout',
    arguments: '<server> [server...]',
    summary: 'Sign out: delete the stored tokens and revoke them',
    options: { agent: AGENT_OPTION },
    examples: [{ line: 'turnbuckle logout github', what: 'the next call requires signing in again' }],
    load: () => import('../commands/logout.js'),
  },
  {
    name: 'whoami',
    arguments: '[server...]',
    summary: 'Show sign-in status, account and expiry for each server',
    options: { agent: AGENT_OPTION },
    examples: [{ line: 'turnbuckle whoami --json', what: 'as JSON' }],
    load: () => import('../commands/whoami.js'),
  },
  {
    name: 'secrets',
    arguments: '<set|list|rm|rotate> [name]',
    summary: 'Manage secrets in the encrypted vault, for use as ${secret:name}',
    description:
      'The set subcommand prompts for the value or reads it from stdin; the value cannot be passed as an argument. The list subcommand shows only names. The rotate subcommand creates a new key for the vault.',
    options: {
      to: {
        type: 'string',
        value: 'keychain|file|passphrase',
        summary: 'With rotate, where to keep the new key (default: where the current key is kept)',
      },
    },
    examples: [
      { line: 'turnbuckle secrets set github', what: 'prompts for the value; input is hidden' },
      { line: 'op read op://dev/github | turnbuckle secrets set github', what: 'from a pipe' },
      { line: 'turnbuckle secrets list', what: 'names, never values' },
      { line: 'turnbuckle secrets rm github', what: 'remove a secret' },
      { line: 'turnbuckle secrets rotate --to passphrase', what: 'derive a new key from a passphrase' },
    ],
    load: () => import('../commands/secrets.js'),
  },
  {
    name: 'doctor',
    arguments: '[server...]',
    summary: "Check Node.js and the configuration, and each server's connection, sign-in, protocol and tools",
    description:
      'Exit codes: 0 if there are no problems, 10 if the configuration is invalid, 11 if a server failed to start or connect, 12 if a server requires sign-in.',
    options: {},
    examples: [
      { line: 'turnbuckle doctor', what: 'check all servers; add a server name to check only that server' },
    ],
    load: () => import('../commands/doctor.js'),
  },
  {
    name: 'init',
    arguments: '',
    maxPositionals: 0,
    summary: 'Create a commented configuration file',
    options: { scope: SCOPE_OPTION },
    examples: [{ line: 'turnbuckle init --scope project', what: 'for this directory' }],
    load: () => import('../commands/init.js'),
  },
  {
    name: 'schema',
    arguments: '',
    maxPositionals: 0,
    summary: 'Print the JSON Schema of the configuration, for editors',
    options: {},
    examples: [
      {
        line: 'turnbuckle schema > mcp.schema.json',
        what: 'then set "$schema" in the config file to the path of this file',
      },
    ],
    load: () => import('../commands/schema.js'),
  },
  {
    name: 'completion',
    arguments: '<bash|zsh|fish>',
    maxPositionals: 1,
    summary: 'Print a shell completion script',
    options: {},
    examples: [
      {
        line: 'source <(turnbuckle completion bash)',
        what: 'add this line to ~/.bashrc to enable completion permanently',
      },
    ],
    load: () => import('../commands/completion.js'),
  },
];
