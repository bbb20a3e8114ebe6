/** Files that an attacker could write to keep a reader busy; each is up to `bytes` long. */
type Make = (bytes: number) => string;

const times = (piece: string, bytes: number): string => piece.repeat(Math.floor(bytes / piece.length));

const list =
  (before: string, piece: (index: number) => string, after: string): Make =>
  (bytes) => {
    const parts: string[] = [];
    for (let length = 0, index = 0; length < bytes - 200; index += 1) {
      const part = piece(index);
      parts.push(part);
      length += part.length + 1;
    }
    return `${before}${parts.join(',')}${after}`;
  };

const inServer = (before: string, piece: (index: number) => string, after: string): Make =>
  list(`{"servers":{"a":{"command":"x",${before}`, piece, `${after}}}}`);

const command =
  (text: Make): Make =>
  (bytes) =>
    `{"servers":{"a":{"command":"${text(bytes - 100)}"}}}`;

export const HOSTILE_TEXTS: Readonly<Record<string, Make>> = {
  'placeholders in placeholders': command((bytes) => {
    const depth = Math.floor(bytes / 6);
    return `${'${A:-'.repeat(depth)}x${'}'.repeat(depth)}`;
  }),
  'a few placeholders in placeholders, very often': command((bytes) =>
    times(`${'${A:-'.repeat(9)}x${'}'.repeat(9)}`, bytes),
  ),
  'placeholders that are not closed': command((bytes) => times('${A:-', bytes)),
  'many placeholders': command((bytes) => times('${A}', bytes)),
  'placeholders in disguise': command((bytes) => times('\\u0024{A}', bytes)),
  'literal dollars': command((bytes) => times('$${', bytes)),
  'unknown keys': list('{', (index) => `"ke${index}":1`, '}'),
  'keys like known ones': list('{', (index) => `"rule${index}":1`, '}'),
  'long unknown keys': list('{', (index) => `"${'toolApprovalRequire'.repeat(3)}${index}":1`, '}'),
  'unknown keys in a server': inServer('', (index) => `"comman${index}":1`, ''),
  'a server that is none': list('{"servers":{"a":{', (index) => `"comman${index}":1`, '}}}'),
  'wrong variables': inServer('"env":{', (index) => `"k${index}":1`, '}'),
  'wrong arguments': inServer('"args":[', () => '1', ']'),
  'wrong headers and auth': list(
    '{"servers":{"a":{"url":"http://x","auth":{',
    (index) => `"k${index}":1`,
    '}}}}',
  ),
  'servers that are none': list('{"servers":{', (index) => `"s${index}":1`, '}}'),
  'very many servers': list('{"servers":{', (index) => `"s${index}":{"command":"x"}`, '}}'),
  'five hundred wrong servers': (bytes) =>
    `{"servers":{${Array.from({ length: 500 }, (_, index) => `"s${index}":{"command":"x",${Array.from({ length: Math.min(25, Math.floor(bytes / 500 / 12)) }, (__, key) => `"comm${key}":1`)}}`)}}}`,
  'a list of nothing': list('{"servers":[', () => '1', ']}'),
  'the same name': list('{"servers":[', () => '{"name":"a"}', ']}'),
  'wrong rules': list('{"rules":[', () => '{"actio":"x"}', ']}'),
  'rules that are numbers': list('{"rules":[', () => '1', ']}'),
  'as many rules as may be': (bytes) =>
    `{"rules":[${Array.from({ length: Math.min(2_000, Math.floor(bytes / 60)) }, (_, index) => `{"action":"ask","tool":"x${index}","server":["a*","b*"]}`)}]}`,
  'wrong rules, as many as may be': (bytes) =>
    `{"rules":[${Array.from({ length: Math.min(2_000, Math.floor(bytes / 40)) }, () => '{"action":"ask","a":1,"b":2,"c":3}')}]}`,
  'a rule of unknown keys': list('{"rules":[{"action":"ask",', (index) => `"k${index}":1`, '}]}'),
  'a rule of many names': list('{"rules":[{"action":"ask","tool":[', (index) => `"k${index}"`, ']}]}'),
  'the same key': list('{', () => '"a":1', '}'),
  'forbidden keys': list('{', () => '"__proto__":1', '}'),
  brackets: (bytes) => '['.repeat(bytes),
  'deep objects': (bytes) => {
    const depth = Math.floor(bytes / 6);
    return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  },
  'deep and wide': list('{"a":[', () => `${'['.repeat(102)}${']'.repeat(102)}`, ']}'),
  commas: (bytes) => `{${','.repeat(bytes - 2)}}`,
  'numbers without commas': (bytes) => `[${times('1 ', bytes - 2)}]`,
  letters: (bytes) => 'x'.repeat(bytes),
  quotes: (bytes) => '"'.repeat(bytes),
  'empty objects': (bytes) => times('{}', bytes),
  comments: (bytes) => `${times('/**/', bytes - 2)}{}`,
  'an open comment': (bytes) => `/*${' *'.repeat((bytes - 2) / 2)}`,
  spaces: (bytes) => ' '.repeat(bytes),
  lines: (bytes) => `${'\n'.repeat(bytes - 1)}{`,
  inputs: list(
    '{"inputs":[',
    (index) => `{"id":"i${index}"}`,
    '],"servers":{"a":{"command":"${input:i1}"}}}',
  ),
  'inputs and servers': (bytes) =>
    `{"inputs":[${Array.from({ length: 200 }, (_, index) => `{"id":"i${index}","default":"x"}`)}],"servers":{${Array.from({ length: Math.min(500, Math.floor(bytes / 60)) }, (_, index) => `"s${index}":{"command":"x","args":["\${input:i${index}}"]}`)}}}`,
  views: list('{"daemon":{"views":{', (index) => `"v${index}":{}`, '}}}'),
  'wrong views': list('{"daemon":{"views":{', (index) => `"v${index}":1`, '}}}'),
  'wrong settings of the daemon': list('{"daemon":{', (index) => `"v${index}":1`, '}}'),
  'patterns of servers': list(
    '{"servers":{"aaaaaaaaaaaaaaaaaaaaaaaa":{"command":"x"}},"forbid":[',
    (index) => `"a*a*a*a*a*a*b${index}"`,
    ']}',
  ),
  'words of a shell': inServer('"args":[', (index) => `"node -r ./x${index}.js ./a${index}.js"`, ']'),
  'one long argument': inServer('"args":["', () => 'a b', '"]'),
  'a long name': (bytes) => `{"servers":{"${'n'.repeat(bytes - 60)}":{"command":"x"}}}`,
};
