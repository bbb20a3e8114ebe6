import { expect, it } from 'vitest';
import { removeServer, setKey, setServer } from '../../src/config/edit/edit-servers.js';

interface Case {
  readonly title: string;
  readonly before: string;
  readonly edit: (text: string) => string;
  readonly after: string;
}

const config = { command: 'node', args: ['s.js'] };
const add = (text: string): string => setServer(text, 'b', config);
const drop = (text: string): string => removeServer(text, 'b');
const spread = (unit: string, eol: string, depth: number): string =>
  ['{', `${unit}"command": "node",`, `${unit}"args": ["s.js"]`, '}'].join(`${eol}${unit.repeat(depth)}`);

const FRESH = `{
  "servers": {
    "b": ${spread('  ', '\n', 2)}
  }
}
`;

const cases: Case[] = [
  { title: 'a missing or empty file becomes a fresh one', before: '', edit: add, after: FRESH },
  { title: 'a file of white space becomes a fresh one', before: ' \n\n', edit: add, after: FRESH },
  { title: 'a file of comments keeps them', before: '// mine', edit: add, after: `// mine\n${FRESH}` },
  {
    title: 'an empty object gets a map of servers and keeps having no final newline',
    before: '{}',
    edit: add,
    after: `{\n  "servers": {\n    "b": ${spread('  ', '\n', 2)}\n  }\n}`,
  },
  {
    title: 'an empty map is filled, four spaces are kept',
    before: '{\n    "x": 1,\n    "servers": {}\n}\n',
    edit: add,
    after: `{\n    "x": 1,\n    "servers": {\n        "b": ${spread('    ', '\n', 2)}\n    }\n}\n`,
  },
  {
    title: 'a comment in an empty map stays, including trailing spaces, on its own line',
    before: '{\n  "servers": {\n    // none yet  \n  }\n}\n',
    edit: add,
    after: `{\n  "servers": {\n    // none yet  \n\n    "b": ${spread('  ', '\n', 2)}\n  }\n}\n`,
  },
  {
    title: 'tabs and CRLF are kept',
    before: '{\r\n\t"servers": {\r\n\t\t"a": {\r\n\t\t\t"command": "x"\r\n\t\t}\r\n\t}\r\n}\r\n',
    edit: add,
    after: `{\r\n\t"servers": {\r\n\t\t"a": {\r\n\t\t\t"command": "x"\r\n\t\t},\r\n\t\t"b": ${spread('\t', '\r\n', 2)}\r\n\t}\r\n}\r\n`,
  },
  {
    title: 'a byte order mark is kept',
    before: '\uFEFF{ "servers": { "a": { "command": "x" } } }',
    edit: add,
    after: '\uFEFF{ "servers": { "a": { "command": "x" }, "b": { "command": "node", "args": ["s.js"] } } }',
  },
  {
    title: 'a file on one line without spaces stays one',
    before: '{"servers":{}}',
    edit: add,
    after: '{"servers":{"b":{"command":"node","args":["s.js"]}}}',
  },
  {
    title: 'the comma goes before the comment behind the last server, which stays with it',
    before: '{\n  "servers": {\n    "a": { "url": "http://x" } // about a\n    // the end\n  }\n}\n',
    edit: add,
    after:
      '{\n  "servers": {\n    "a": { "url": "http://x" }, // about a\n' +
      '    "b": { "command": "node", "args": ["s.js"] }\n    // the end\n  }\n}\n',
  },
  {
    title: 'trailing commas are kept as a style',
    before: '{\n  "servers": {\n    "a": { "url": "http://x" }, // about a\n  },\n}\n',
    edit: add,
    after:
      '{\n  "servers": {\n    "a": { "url": "http://x" }, // about a\n' +
      '    "b": { "command": "node", "args": ["s.js"] },\n  },\n}\n',
  },
  {
    title: 'a list of servers gets an entry with a name',
    before: '{\n  "servers": [\n    { "id": "a", "url": "http://x" } /* a */\n  ]\n}\n',
    edit: add,
    after:
      '{\n  "servers": [\n    { "id": "a", "url": "http://x" }, /* a */\n' +
      '    { "name": "b", "command": "node", "args": ["s.js"] }\n  ]\n}\n',
  },
  {
    title: 'an entry of a list that is named by its id keeps the id',
    before: '{ "servers": [{ "id": "b", /* old */ "url": "http://x" }] }',
    edit: (text) => setServer(text, 'b', { url: 'http://y' }),
    after: '{ "servers": [{ "id": "b", /* old */ "url": "http://y" }] }',
  },
  {
    title: 'a hosted server in a list keeps its own id',
    before: '{ "servers": [{ "id": "b", "url": "http://x" }] }',
    edit: (text) => setServer(text, 'b', { baseUrl: 'http://y', id: 'theirs' }),
    after: '{ "servers": [{ "id": "theirs", "name": "b", "baseUrl": "http://y" }] }',
  },
  {
    title: 'mcpServers is used if it exists',
    before: '{\n  "mcpServers": {\n    "a": { "url": "http://x" }\n  }\n}',
    edit: add,
    after:
      '{\n  "mcpServers": {\n    "a": { "url": "http://x" },\n' +
      '    "b": { "command": "node", "args": ["s.js"] }\n  }\n}',
  },
  {
    title: 'a server in mcpServers is changed there although there are servers too',
    before: '{ "servers": { "a": {} }, "mcpServers": { "b": { "command": "x" } } }',
    edit: (text) => setServer(text, 'b', { command: 'y' }),
    after: '{ "servers": { "a": {} }, "mcpServers": { "b": { "command": "y" } } }',
  },
  {
    title: 'only what differs in a server is written',
    before:
      '{\n  "servers": {\n    "b": {\n      // why\n      "command": "old", // which\n      "args": [\n        "s.js" // the script\n      ],\n      "cwd": "/x" /* gone */\n    }\n  }\n}\n',
    edit: add,
    after:
      '{\n  "servers": {\n    "b": {\n      // why\n      "command": "node", // which\n      "args": [\n        "s.js" // the script\n      ]\n    }\n  }\n}\n',
  },
  {
    title: 'an item in the middle of a list keeps the comments of the others',
    before: '{\n  "list": [\n    1, // one\n    // about three\n    3 // three\n  ]\n}',
    edit: (text) => setKey(text, ['list'], [1, 2, 3]),
    after: '{\n  "list": [\n    1, // one\n    2,\n    // about three\n    3 // three\n  ]\n}',
  },
  {
    title: 'a new first item does not separate the next one from its comments',
    before: '{\n  "list": [ // all\n    // apart\n\n    // about two\n    /* and more */ 2 // two\n  ]\n}',
    edit: (text) => setKey(text, ['list'], [1, 2]),
    after:
      '{\n  "list": [ // all\n    // apart\n\n    1,\n    // about two\n    /* and more */ 2 // two\n  ]\n}',
  },
  {
    title: 'the first item goes with the comments directly above it, and with no others',
    before:
      '{\n  "list": [ // all\n    // apart\n\n    // about one\n    1, // one\n    // about two\n    2\n  ]\n}',
    edit: (text) => setKey(text, ['list', 0], undefined),
    after: '{\n  "list": [ // all\n    // apart\n\n    // about two\n    2\n  ]\n}',
  },
  {
    title: 'the only item goes with the comment above it',
    before: '{\n  "list": [\n    // about one\n    1\n  ]\n}',
    edit: (text) => setKey(text, ['list', 0], undefined),
    after: '{\n  "list": []\n}',
  },
  {
    title: 'adding to an empty map and removing again keeps its comment',
    before: '{\n  "servers": {\n    // none yet\n  }\n}\n',
    edit: (text) => drop(add(text)),
    after: '{\n  "servers": {\n    // none yet\n  }\n}\n',
  },
  {
    title: 'removing takes the comments of the server and leaves those of the others',
    before:
      '{\n  "servers": {\n    // all\n    "a": {}, // a\n\n    // b 1\n    /* b 2 */\n    "b": {}, // b 3\n\n    // c\n    "c": {}\n  }\n}\n',
    edit: drop,
    after: '{\n  "servers": {\n    // all\n    "a": {}, // a\n\n    // c\n    "c": {}\n  }\n}\n',
  },
  {
    title: 'removing the last server takes the comma before it, not the comment there',
    before: '{\n  "servers": {\n    "a": {}, // a\n    "b": {} // b\n    // end\n  }\n}\n',
    edit: drop,
    after: '{\n  "servers": {\n    "a": {} // a\n    // end\n  }\n}\n',
  },
  {
    title: 'removing the last server of a list with trailing commas leaves one',
    before: '{\n  "servers": {\n    "a": {},\n    "b": {},\n  },\n}\n',
    edit: drop,
    after: '{\n  "servers": {\n    "a": {},\n  },\n}\n',
  },
  {
    title: 'removing within a line keeps the space before the brace',
    before: '{ "servers": { "a": {}, "b": {} } }',
    edit: drop,
    after: '{ "servers": { "a": {} } }',
  },
  {
    title: 'removing the first within a line keeps the space behind the brace',
    before: '{ "servers": { "b": {}, /* c */ "c": {} } }',
    edit: drop,
    after: '{ "servers": { /* c */ "c": {} } }',
  },
  {
    title: 'removing the only server leaves an empty map',
    before: '{\n  "servers": {\n    "b": {}\n  }\n}\n',
    edit: drop,
    after: '{\n  "servers": {}\n}\n',
  },
  {
    title: 'removing from CRLF text leaves no half line ends',
    before: '{\r\n  "servers": {\r\n    "a": {},\r\n    "b": {}\r\n  }\r\n}\r\n',
    edit: drop,
    after: '{\r\n  "servers": {\r\n    "a": {}\r\n  }\r\n}\r\n',
  },
  {
    title: 'both entries of a duplicate server are removed',
    before: '{\n  "servers": {\n    "b": {},\n    "a": {},\n    "b": {}\n  }\n}\n',
    edit: drop,
    after: '{\n  "servers": {\n    "a": {}\n  }\n}\n',
  },
  {
    title: 'a comma at the start of the next line',
    before: '{\n  "servers": {\n      "a": {} // a\n    , "b": {}\n  }\n}\n',
    edit: (text) => setServer(text, 'c', {}),
    after: '{\n  "servers": {\n      "a": {} // a\n    , "b": {},\n    "c": {}\n  }\n}\n',
  },
  {
    title: 'null counts as an empty map',
    before: '{ "servers": null }',
    edit: (text) => setServer(text, 'b', {}),
    after: '{ "servers": { "b": {} } }',
  },
  {
    title: 'names of JavaScript object members are ordinary names',
    before: '{ "servers": { "constructor": {} } }',
    edit: (text) => setServer(text, '__proto__', { url: 'http://x' }),
    after: '{ "servers": { "constructor": {}, "__proto__": { "url": "http://x" } } }',
  },
  {
    title: 'a value that is there already changes nothing, whatever its layout',
    before: '{"servers" :{\n"b":{"args":["s.js"],\n\n"command" : "node"}}}',
    edit: add,
    after: '{"servers" :{\n"b":{"args":["s.js"],\n\n"command" : "node"}}}',
  },
];

// requirement F4
it.each(cases)('$title', ({ before, edit, after }) => {
  expect(edit(before)).toBe(after);
});

it.each([
  { text: '{\n  "servers": {\n    "a": }\n}', line: 3, column: 10 },
  { text: '\uFEFF{\r\n"a": 1 "b": 2}', line: 2, column: 8 },
  { text: '{ /* open', line: 1, column: 3 },
  { text: '[]', line: 1, column: 1 },
  { text: '{\n  "servers": "x"\n}', line: 2, column: 14 },
])('rejects $text and reports where', ({ text, line, column }) => {
  expect(() => setServer(text, 'b', {})).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', data: { line, column } }),
  );
});

it('rejects values that JSON cannot hold, and invalid paths', () => {
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  for (const attempt of [
    () => setServer('{}', 'b', loop),
    () => setServer('{}', 'b', { server: 1n }),
    () => setKey('{ "a": 1 }', ['a', 'b'], 1),
    () => setKey('{ "a": [] }', ['a', 7], 1),
    () => setKey('{}', [], 1),
  ])
    expect(attempt).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
});

it('removing what does not exist changes nothing', () => {
  for (const text of ['', '// x\n', '{ }', '{ "servers": [ ] }']) {
    expect(removeServer(text, 'b')).toBe(text);
    expect(setKey(text, ['a', 'b'], undefined)).toBe(text);
  }
});
