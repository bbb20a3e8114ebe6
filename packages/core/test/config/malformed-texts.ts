/** Occurs where people write secrets: no error message may repeat it. */
export const SECRET = 'hunter2-very-secret';

export interface MalformedText {
  /** The content of the file, with the server `good` if the rest can still be parsed. */
  readonly text: string;
  /** `line:column` of the first error, and words in its message. */
  readonly at: string;
  readonly words: readonly string[];
  /** False if nothing in the file can be used. */
  readonly good?: false;
}

const broken = (text: string, at: string, ...words: string[]): MalformedText => ({
  text,
  at,
  words,
  good: false,
});
/** A bad entry on line 3 next to a good one. */
const server = (entry: string, column: number, ...words: string[]): MalformedText => ({
  text: `{ "servers": {\n  "good": { "command": "x" },\n  "bad": ${entry}\n} }`,
  at: `3:${column}`,
  words,
});
/** A bad key on line 2 of a file with a good server. */
const setting = (member: string, column: number, ...words: string[]): MalformedText => ({
  text: `{ "servers": { "good": { "command": "x" } },\n  ${member}\n}`,
  at: `2:${column}`,
  words,
});

/** Files with one fault each. */
export const MALFORMED: Record<string, MalformedText> = {
  'truncated after the brace': broken('{', '1:2', 'missing "}"'),
  'truncated in a key': broken('{\n  "serv', '2:3', 'missing double quote'),
  'truncated after a key': broken('{\n  "servers"', '2:12', 'expected a colon'),
  'truncated after a colon': broken('{\n  "servers":', '2:13', 'expected a value'),
  'truncated in a text': broken(
    `{ "servers": {\n "a": { "command": "${SECRET}`,
    '2:20',
    'missing double quote',
  ),
  'truncated in a list': broken('{ "servers": {\n "a": { "args": ["x",', '2:22', 'expected a value'),
  'truncated after an entry': broken('{ "servers": {\n "a": { "command": "x" }', '2:25', 'missing "}"'),
  'a comma too few': broken(
    `{ "servers": {\n "a": { "command": "x" "env": { "K": "${SECRET}" } } } }`,
    '2:24',
    'a comma',
  ),
  'two commas': broken('{ "servers": {},\n , "inputs": [] }', '2:2', 'a key in double quotes', 'found ,'),
  'a colon too few': broken(`{ "servers": { "a": { "env": {\n "K" "${SECRET}" } } } }`, '2:6', 'a colon'),
  'single quotes': broken(`{ "servers": { "a": { "env": {\n "K": '${SECRET}' } } } }`, '2:7', "found '"),
  'a value without quotes': broken(
    `{ "servers": { "a": { "command":\n ${SECRET} } } }`,
    '2:2',
    'unexpected word',
  ),
  'a key without quotes': broken('{\n servers: {} }', '2:2', 'unexpected word'),
  'a line break in a text': broken(
    `{ "servers": { "a": { "command":\n "${SECRET}\n" } } }`,
    '2:2',
    'double quote',
  ),
  'a bad escape': broken(`{ "servers": { "a": { "command":\n "${SECRET}\\q" } } }`, '2:2', 'escape'),
  'a bad \\u': broken('{ "a":\n "\\u12" }', '2:2', '\\u sequence'),
  'half a number': broken('{ "a":\n 1. }', '2:2', 'number'),
  'text behind the end': broken('{ }\n trailing', '2:2', 'unexpected word'),
  'an unclosed comment': broken('{ }\n/* forgotten', '2:1', 'unclosed comment'),
  'binary at the start': broken('\u0000\u0001\u0002ELF', '1:1', 'unexpected word'),
  'a list at the root': broken('[\n]', '1:1', 'a JSON object'),
  'a text at the root': broken('// a comment\n"servers"', '2:1', 'a JSON object'),
  'null at the root': broken('null', '1:1', 'a JSON object'),
  'fifty thousand brackets': broken(`{ "servers": ${'['.repeat(50_000)}`, '1:1', 'more than 100 levels deep'),
  'servers as a text': broken('{\n  "servers": "x" }', '2:3', 'servers: expected a map or a list'),
  'servers as null': broken('{\n  "servers": null }', '2:3', 'servers: expected a map or a list'),
  'mcpServers as a number': setting('"mcpServers": 7', 3, 'mcpServers: expected a map or a list'),
  'an unknown key': setting('"serverz": {}', 3, 'serverz: unknown key', 'did you mean "servers"?'),
  'a key of another program': setting(
    '"globalShortcut": "x"',
    3,
    'globalShortcut: unknown key "globalShortcut".',
  ),
  'a misspelt setting': setting('"namin": "x"', 3, 'did you mean "naming"?'),
  'an unknown naming': setting('"naming": "dots"', 3, 'naming:', '"server_tool"'),
  'a misspelt key of a view': setting(
    '"daemon": { "views": { "work": { "severs": [] } } }',
    36,
    'daemon.views.work.severs: unknown key "severs" (did you mean "servers"?)',
  ),
  'inputs as a map': setting('"inputs": {}', 3, 'inputs: expected a list'),
  'an input without an id': setting('"inputs": [{ "id": "a" }, { }]', 29, 'inputs[1].id: expected a string'),
  'a setting of a wrong type': setting(
    '"describePrefix": "yes"',
    3,
    'describePrefix: expected true or false',
  ),
  'a secret command as a text': setting(
    `"secretCommand": "x ${SECRET}"`,
    3,
    'secretCommand: expected a list',
  ),
  'a managed key': setting('"forbid": []', 3, `forbid: "forbid" cannot be set in a user file`),
  'a key that is there twice': setting(
    '"naming": "server_tool", "naming": "x"',
    28,
    'naming: duplicate key "naming"',
  ),
  '__proto__ as a key': setting('"__proto__": { "forbid": [] }', 3, '__proto__: this key is not allowed'),
  'constructor as a key': setting('"constructor": { }', 3, 'constructor: unknown key "constructor"'),
  'nested too deep': setting(
    `"inputs": ${'['.repeat(200)}${']'.repeat(200)}`,
    113,
    'nested more than 100 levels deep',
  ),
  'a server as a text': server(`"npx ${SECRET}"`, 3, 'servers.bad: expected an object, found "npx …"'),
  'a server as a list': server(`["npx", "${SECRET}"]`, 3, 'servers.bad: expected an object, found a list'),
  'a server as a number': server('7', 3, 'servers.bad: expected an object, found 7'),
  'a server with a command and an address': server(
    '{ "command": "x", "url": "https://x/mcp" }',
    28,
    'servers.bad.url: a server cannot have both "command" and "url"',
  ),
  'a server with an address of two kinds': server(
    '{ "url": "https://x/mcp", "baseUrl": "https://y", "id": "z" }',
    12,
    'servers.bad.url: a server cannot have both "baseUrl" and "url"',
  ),
  'a server as null': server('null', 3, 'servers.bad: expected an object, found null'),
  'an empty server': server('{}', 3, 'servers.bad: the server has neither "command"'),
  'a misspelt command': server('{ "comand": "x" }', 3, '"comand" may be a misspelling of "command"'),
  'a misspelt key': server(
    '{ "command": "x", "argz": [] }',
    28,
    'servers.bad.argz: unknown key',
    'did you mean "args"?',
  ),
  'a command as a list': server(
    `{ "command": ["npx", "${SECRET}"] }`,
    12,
    'servers.bad.command: expected a string',
    'a list',
  ),
  'an empty command': server('{ "command": "" }', 12, 'servers.bad.command:'),
  'arguments as a text': server(
    `{ "command": "x", "args": "${SECRET}" }`,
    28,
    'servers.bad.args: expected a list',
  ),
  'an argument as a number': server(
    '{ "command": "x", "args": ["a", 7] }',
    42,
    'servers.bad.args[1]: expected a string',
  ),
  'a variable as a number': server(
    '{ "command": "x", "env": { "K": 7 } }',
    37,
    'servers.bad.env.K: expected a string',
    'a number',
  ),
  'a header as a list': server(
    `{ "url": "https://h", "headers": { "K": ["${SECRET}"] } }`,
    45,
    'servers.bad.headers.K: expected a string',
  ),
  'no address': server('{ "url": "nowhere" }', 12, 'servers.bad.url: expected an http:// or https:// URL'),
  'a wrong scheme': server(
    `{ "url": "ftp://me:${SECRET}@host" }`,
    12,
    'servers.bad.url: expected an http://',
    'ftp://host',
  ),
  'a web address for a socket': server(
    '{ "type": "ws", "url": "https://h" }',
    26,
    'servers.bad.url: expected a ws://',
  ),
  'an unknown transport': server(
    '{ "type": "htpp", "url": "https://h" }',
    12,
    'servers.bad.type: unknown transport "htpp" (did you mean "http"?)',
  ),
  'a transport as a number': server(
    '{ "type": 5, "url": "https://h" }',
    12,
    'servers.bad.type: expected a transport name, found 5',
  ),
  'a negative time': server(
    '{ "command": "x", "callTimeoutMs": -1 }',
    28,
    'servers.bad.callTimeoutMs:',
    '-1',
  ),
  'an unknown key further down': server(
    '{ "command": "x", "reconnect": { "retries": 1 } }',
    43,
    'servers.bad.reconnect.retries: unknown key',
  ),
  'a server in process': server(
    '{ "type": "sdk", "server": {} }',
    27,
    'servers.bad.server: expected an MCP server object',
  ),
  'a server key that is there twice': server(
    `{ "command": "x", "command": "${SECRET}" }`,
    28,
    'servers.bad.command: duplicate key "command"',
  ),
  'an unclosed placeholder': server(
    '{ "command": "x", "args": ["${HOME"] }',
    37,
    'servers.bad.args[0]: invalid placeholder: ${HOME…',
  ),
  'an unclosed placeholder before a secret': server(
    `{ "command": "x", "env": { "K": "\${A ${SECRET}" } }`,
    37,
    'servers.bad.env.K:',
    '${A…',
  ),
  'a placeholder in the name of a placeholder': server(
    '{ "command": "${${A}}" }',
    12,
    'servers.bad.command:',
    '${$…',
  ),
  'an unknown kind of placeholder': server(
    '{ "command": "${vault:x}" }',
    12,
    'servers.bad.command:',
    '${vault:x…',
  ),
  'a bad placeholder in a default': server(
    '{ "command": "${A:-${b c}}" }',
    12,
    'servers.bad.command:',
    '${b…',
  ),
  'an empty placeholder': server('{ "command": "${}" }', 12, 'servers.bad.command:'),
  'a nameless entry of a list': {
    text: '{ "mcpServers": [ { "name": "good", "command": "x" },\n { "command": "y" } ] }',
    at: '2:2',
    words: ['mcpServers[1]: a server in a list needs a "name" or an "id"'],
  },
  'a number for a name': {
    text: '{ "servers": [ { "name": "good", "command": "x" },\n { "name": 7, "command": "y" } ] }',
    at: '2:2',
    words: ['servers[1]: a server in a list needs'],
  },
  'a name that is there twice in a list': {
    text: '{ "servers": [ { "name": "good", "command": "x" },\n { "id": "good", "command": "y" } ] }',
    at: '2:2',
    words: ['servers[1]: duplicate name "good"'],
  },
  'a bad entry of a list': {
    text: '{ "servers": [ { "name": "good", "command": "x" },\n { "name": "bad", "command": "y", "args": [1] } ] }',
    at: '2:44',
    words: ['servers[1].args[0]: expected a string'],
  },
  'a reserved name': {
    text: '{ "servers": { "good": { "command": "x" },\n "native": { "command": "y" } } }',
    at: '2:2',
    words: ['servers.native: the name "native" is reserved'],
  },
  'a name with spaces around it': {
    text: '{ "servers": { "good": { "command": "x" },\n " a ": { "command": "y" } } }',
    at: '2:2',
    words: ['a server name cannot be empty or start or end with a space'],
  },
};
