/** Commands that add servers to the configuration, remove them and turn them on or off. */
import type { Command } from '../command.js';
import { SCOPE_OPTION } from './shared-options.js';

export const MANAGE_COMMANDS: readonly Command[] = [
  {
    name: 'add',
    arguments: '<name> <command|url|json> [arguments]',
    summary: 'Add a server to the configuration',
    description:
      'Everything after "--" is stored unchanged as the command of a local server. The server is not started. A single argument with a slash, such as io.github.acme/files, is the name of a server in a registry. The daemon shows you exactly what it would install, and installs and tests the server after you approve. To find names, use turnbuckle search.',
    options: {
      scope: SCOPE_OPTION,
      env: {
        type: 'string',
        short: 'e',
        multiple: true,
        value: 'KEY=value',
        summary: 'Environment variable for the server process',
      },
      header: {
        type: 'string',
        short: 'H',
        multiple: true,
        value: 'Name: value',
        summary: 'HTTP header for a remote server',
      },
      transport: {
        type: 'string',
        short: 't',
        value: 'http|sse|websocket',
        summary: 'Transport for a URL (default: http, with fallback to sse)',
      },
      force: { type: 'boolean', summary: 'Replace an existing server with the same name' },
    },
    examples: [
      {
        line: 'turnbuckle add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes',
        what: 'add a local server',
      },
      {
        line: "turnbuckle add docs https://example.com/mcp -H 'Authorization: Bearer ${DOCS_TOKEN}'",
        what: 'add a remote server; single quotes prevent shell expansion',
      },
      {
        line: `turnbuckle add db '{"command":"db-mcp","env":{"URL":"\${DB_URL}"}}'`,
        what: 'add a server from JSON',
      },
      {
        line: 'turnbuckle add io.github.acme/files',
        what: 'add a server from a registry, after your approval',
      },
    ],
    load: () => import('../commands/add.js'),
  },
  {
    name: 'remove',
    aliases: ['rm'],
    arguments: '<server> [server...]',
    summary: 'Remove servers from the configuration',
    options: { scope: SCOPE_OPTION },
    examples: [{ line: 'turnbuckle remove files', what: 'remove the server from the file that defines it' }],
    load: () => import('../commands/remove.js'),
  },
  {
    name: 'enable',
    arguments: '<server> [server...]',
    summary: 'Enable servers',
    options: { scope: SCOPE_OPTION },
    examples: [{ line: 'turnbuckle enable files', what: 'enable the server in the file that disables it' }],
    load: () => import('../commands/enable.js'),
  },
  {
    name: 'disable',
    arguments: '<server> [server...]',
    summary: 'Disable servers without removing them',
    options: { scope: SCOPE_OPTION },
    examples: [
      {
        line: 'turnbuckle disable files --scope local',
        what: 'disable the server only for you, in this project',
      },
    ],
    load: () => import('../commands/disable.js'),
  },
];
