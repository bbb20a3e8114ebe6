import { chmod, mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fixture } from '@turnbuckle/testing';
import type { LoadedConfig } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';
import { MALFORMED, SECRET } from './malformed-texts.js';
import { createSetting } from './setting.js';

/** All problems of a loaded configuration. */
const problemsOf = ({ problems, parsed }: LoadedConfig) => [...problems, ...parsed.problems.values()];

// requirement F3
describe('a malformed file', () => {
  it('has many variants in this test', () => expect(Object.keys(MALFORMED).length).toBeGreaterThan(60));

  it.each(Object.entries(MALFORMED))(
    'is reported with place and fault, without secrets, and does not affect the rest: %s',
    async (_, row) => {
      const { write, load, userFile } = await createSetting();
      const file = await write('bad.json', row.text);
      await write(userFile, { servers: { other: { command: 'y' } } });
      const config = await load({ files: [file] });
      const [first, ...more] = problemsOf(config);
      expect(first?.code).toBe('CONFIG_INVALID');
      expect(first?.message.split(': ')[0]).toBe(`${file}:${row.at}`);
      for (const word of row.words) expect(first?.message).toContain(word);
      const [line, column] = row.at.split(':').map(Number);
      expect(first?.data).toMatchObject({ file, line, column });
      expect(JSON.stringify([first, ...more])).not.toContain(SECRET);
      expect(first?.message.length).toBeLessThan(700);
      expect(config.parsed.servers.get('other')).toMatchObject({ command: 'y' });
      expect(config.parsed.servers.has('good')).toBe(row.good ?? true);
      expect(config.parsed.servers.get('bad')).toEqual(
        row.words.some((word) => word.includes('duplicate')) && row.text.includes('"bad"')
          ? expect.objectContaining({ command: 'x' })
          : undefined,
      );
    },
  );

  it.each([
    ['with a byte order mark, little-endian', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
    ['without a byte order mark', (text: string) => Buffer.from(text, 'utf16le')],
    ['big-endian', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()],
  ])('is UTF-16 %s: reported once', async (_, encode) => {
    const { write, load, userFile } = await createSetting();
    const file = await write(userFile, encode('{\n  "servers": { "a": { "command": "x" } }\n}\n'));
    const { problems } = await load();
    expect(problems.map(({ message }) => message)).toEqual([
      `${file}:1:1: the file looks like UTF-16 and must be saved as UTF-8.`,
    ]);
  });

  it('keeps the valid server of the same file and of another one running', async () => {
    const { write, open } = await createSetting();
    const good = { ...fixture('echo') };
    const first = await write('a.json', { servers: { good, bad: { comand: 'x' } } });
    const second = await write('b.json', { servers: { also: good }, typo: 1 });
    const third = await write('c.json', '{ "servers": {');
    const { runtime } = await open({ files: [first, second, third] });
    await runtime.connectAll();
    expect(runtime.status().map(({ name, status }) => [name, status])).toEqual([
      ['also', 'connected'],
      ['bad', 'failed'],
      ['good', 'connected'],
    ]);
    expect(runtime.serverStatus('bad').error?.message).toContain(`${first}:1:`);
  });
});

describe('a fault in the settings of the daemon', () => {
  it('disables the part or the view, reports it, and affects nothing else', async () => {
    const { write, load, userFile } = await createSetting();
    const good = {
      port: 7461,
      issuer: { url: 'https://a.example', resource: 'https://b.example', scopes: {} },
    };
    const views = { small: { servers: ['a'] }, tight: { capabilites: ['mcp_a'] } };
    await write(userFile, { daemon: { ...good, log: { keepdays: 3 }, hsot: '::', views, origins: 'x' } });
    const { settings, problems } = await load();
    expect(settings.daemon).toEqual({ ...good, views: { small: { servers: ['a'] } } });
    expect(problems.map(({ message }) => message.slice(message.indexOf(' ') + 1))).toEqual([
      expect.stringContaining('"keepdays" (did you mean "keepDays"?); all of "daemon.log" is ignored'),
      expect.stringContaining('"hsot" (did you mean "host"?); "hsot" is ignored'),
      expect.stringContaining('"origins" is ignored'),
      expect.stringContaining(
        '"capabilites" (did you mean "capabilities"?); all of "daemon.views.tight" is ignored',
      ),
    ]);
  });

  it('is reported at the position of the key', async () => {
    const { write, load, userFile } = await createSetting();
    await write(
      userFile,
      `{
  "daemon": {
    "prot": 1,
    "log": { "keepDays": 3,
      "keepMonths": 4 }
  },
  "defaults": { "pingMs": 5,
    "requires": [] },
  "limits": { "maxPages": 2,
    "maxPagez": 3 }
}`,
    );
    const { problems, settings } = await load();
    expect(problems.map(({ data }) => [data?.path, data?.line, data?.column])).toEqual([
      ['daemon.prot', 3, 5],
      ['daemon.log.keepMonths', 5, 7],
      ['defaults.requires', 8, 5],
      ['limits.maxPagez', 10, 5],
    ]);
    expect(settings).toEqual({ daemon: {}, defaults: { pingMs: 5 }, limits: { maxPages: 2 } });
  });

  it('is not reported where it cannot be set', async () => {
    const { write, load, projectFile } = await createSetting();
    await write(projectFile, { daemon: { port: 1, host: '0.0.0.0' } });
    const { settings, problems } = await load({ trustProject: true });
    expect(settings.daemon).toBeUndefined();
    expect(problems).toHaveLength(1);
  });
});

it('a syntax error is one problem, whatever follows from it', async () => {
  const { write, load, userFile } = await createSetting();
  await write(userFile, '{ "servers": {\n "a": { "command":');
  const { problems } = await load();
  expect(problems.map(({ data }) => [data?.line, data?.column])).toEqual([[2, 19]]);
});

describe('a valid file', () => {
  const ENTRY = '"one": { "command": "x" }';

  it.each([
    ['with a byte order mark', `\uFEFF{ "servers": { ${ENTRY} } }`],
    ['with CRLF', `{\r\n  "servers": {\r\n    ${ENTRY}\r\n  }\r\n}\r\n`],
    ['with trailing commas', `{ "servers": { ${ENTRY}, }, }`],
    ['with comments', `// a\n{ /* b */ "servers": { ${ENTRY} } } // c`],
    ['without an end of line', `{"servers":{${ENTRY}}}`],
    ['with names of object members', `{ "servers": { ${ENTRY}, "constructor": { "command": "y" } } }`],
    ['with a number as a name', `{ "servers": { ${ENTRY}, "7": { "command": "y" } } }`],
  ])('has no problems %s', async (_, text) => {
    const { write, load } = await createSetting();
    const config = await load({ files: [await write('fine.json', text)] });
    expect(problemsOf(config)).toEqual([]);
    expect(config.parsed.servers.get('one')).toMatchObject({ command: 'x' });
  });

  it.each([
    ['empty', ''],
    ['blank', ' \n\t\r\n'],
    ['a byte order mark', '\uFEFF'],
    ['a comment', '// { "servers": {} }\n'],
    ['an empty object', '{}'],
  ])('may be empty: %s', async (_, text) => {
    const { write, load } = await createSetting();
    const config = await load({ files: [await write('fine.json', text)] });
    expect(problemsOf(config)).toEqual([]);
    expect(config.servers.size).toBe(0);
  });

  it.each(['\n', '\r\n'])(
    'counts lines and columns from 1, a byte order mark not counted (%j)',
    async (end) => {
      const { write, load } = await createSetting();
      const first = await write('a.json', '\uFEFF{ "typo": 1 }');
      const second = await write(
        'b.json',
        ['{', '  "servers": {', '    "äö": { "command": "x", "oops": 1 }', '}}'].join(end),
      );
      const config = await load({ files: [first, second] });
      expect(problemsOf(config).map(({ data }) => [data?.line, data?.column])).toEqual([
        [1, 3],
        [3, 29],
      ]);
    },
  );
});

describe('a file that cannot be read', () => {
  it.each<[string, (path: string, directory: string) => Promise<unknown>, string]>([
    ['missing', async () => {}, 'it does not exist'],
    ['a directory', (path) => mkdir(path), 'it is a directory'],
    ['a loop of links', (path) => symlink(path, path), 'its symbolic links form a loop'],
    [
      'a dangling link',
      (path, directory) => symlink(join(directory, 'nowhere'), path),
      'a symbolic link in its path is broken, or points to a drive that is not available',
    ],
    [
      'a device',
      (path) => symlink('/dev/zero', path),
      'it is a pipe, a socket or a device, not a regular file',
    ],
  ])('is reported, and the rest is used: %s', async (_, make, reason) => {
    const { home, write, load, userFile } = await createSetting();
    const file = join(home, 'bad.json');
    await make(file, home);
    await write(userFile, { servers: { other: { command: 'y' } } });
    const config = await load({ files: [file] });
    expect(config.problems.map(({ code, message }) => [code, message])).toEqual([
      ['CONFIG_INVALID', `Cannot use configuration file ${file}: ${reason}.`],
    ]);
    expect(config.parsed.servers.has('other')).toBe(true);
  });

  it('is reported if a part of its path is a file', async () => {
    const { write, load } = await createSetting();
    const file = join(await write('plain', ''), 'mcp.json');
    const { problems } = await load({ files: [file] });
    expect(problems[0]?.message).toContain('a part of its path is not a directory');
  });

  it.skipIf(process.getuid?.() === 0)('is reported if permission is denied', async () => {
    const { write, load } = await createSetting();
    const file = await write('secret.json', '{}');
    await chmod(file, 0);
    const { problems } = await load({ files: [file] });
    expect(problems[0]?.message).toBe(`Cannot use configuration file ${file}: permission denied.`);
  });

  it('is reported if it is too large', async () => {
    const { write, load } = await createSetting();
    const file = await write('large.json', `{ "servers": {} }${' '.repeat(5_000_000)}`);
    const { problems } = await load({ files: [file] });
    expect(problems[0]?.message).toContain('larger than');
  });

  it('is reported if it is a program', async () => {
    const { write, load } = await createSetting();
    const file = await write('binary.json', (await readFile(process.execPath)).subarray(0, 100_000));
    const { problems } = await load({ files: [file] });
    expect(problems[0]?.message).toMatch(`${file}:1:1: `);
    expect(problems.length).toBeLessThanOrEqual(10);
  });

  it('in a default location may be missing', async () => {
    const { load } = await createSetting();
    const config = await load();
    expect(problemsOf(config)).toEqual([]);
    expect(config.layers.filter(({ present }) => present)).toEqual([]);
  });
});

describe('a file that is large but allowed', () => {
  const many = (count: number, item: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => item(index)).join(',\n');

  it.each([
    ['servers', `{ "servers": { ${many(50_000, (index) => `"s${index}": { "comand": "x" }`)} } }`],
    ['keys that are there twice', `{ "servers": {}, ${many(100_000, () => '"a": 1')} }`],
    [
      'keys of a server',
      `{ "servers": { "a": { "command": "x", ${many(50_000, (index) => `"k${index}": 1`)} } } }`,
    ],
  ])('is parsed in time: %s', { timeout: 60_000 }, async (_, text) => {
    const { write, load } = await createSetting();
    const file = await write('large.json', text);
    const config = await load({ files: [file] });
    for (const { message } of problemsOf(config)) expect(message.length).toBeLessThan(1_000);
  });
});
