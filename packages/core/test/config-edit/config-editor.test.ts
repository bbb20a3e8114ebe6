import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@turnbuckle/testing';
import { expect, it as plain } from 'vitest';
import { editConfig, editServers } from '../../src/config/edit/config-editor.js';
import { setKey } from '../../src/config/edit/edit-servers.js';
import { replaceFile } from '../../src/files/atomic-file.js';

const it = plain.extend<{ directory: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: the runner reads the names of the fixtures from here
  directory: async ({}, use) => {
    const directory = await temporaryDirectory();
    await use(directory.path);
    await directory.remove();
  },
});

const SERVER = { action: 'add', name: 'a', config: { command: 'x' } } as const;

it('creates the file, and its directory, for its owner alone', async ({ directory }) => {
  const file = join(directory, 'deep', 'er', 'turnbuckle.jsonc');
  expect(await editServers(file, [SERVER])).toBe(true);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).toMatch(/^\{\n {2}"servers": \{\n {4}"a"/);
  expect(readdirSync(join(directory, 'deep', 'er'))).toEqual(['turnbuckle.jsonc']);
});

it('adds, sets, disables, enables and removes, all or nothing', async ({ directory }) => {
  const file = join(directory, 'c.json');
  const text = (): string => readFileSync(file, 'utf8');
  writeFileSync(file, '{ "servers": { "a": { "disabled": false }, /* b */ "b": {} } }');
  await editServers(file, [
    { action: 'disable', name: 'a' },
    { action: 'disable', name: 'b' },
    { action: 'set-key', name: 'b', key: ['env', 'K'], value: 'v' },
  ]);
  expect(text()).toBe(
    '{ "servers": { "a": { "disabled": true }, /* b */ "b": { "enabled": false, "env": { "K": "v" } } } }',
  );
  await editServers(file, [
    { action: 'enable', name: 'a' },
    { action: 'enable', name: 'b' },
    { action: 'set', name: 'c', config: {} },
  ]);
  const enabled =
    '{ "servers": { "a": { "disabled": false }, /* b */ "b": { "enabled": true, "env": { "K": "v" } }, "c": {} } }';
  expect(text()).toBe(enabled);
  const { ino } = statSync(file);
  expect(await editServers(file, [{ action: 'enable', name: 'c' }])).toBe(false);
  expect(statSync(file).ino).toBe(ino);
  const remove = { action: 'remove', name: 'a' } as const;
  await expect(editServers(file, [remove, SERVER, SERVER])).rejects.toMatchObject({ code: 'NAME_TAKEN' });
  await expect(editServers(file, [remove, remove])).rejects.toMatchObject({
    code: 'SERVER_UNKNOWN',
    data: { file },
  });
  expect(text()).toBe(enabled);
});

it('keeps the mode of the file and the links that lead to it', async ({ directory }) => {
  mkdirSync(join(directory, 'dots'));
  const real = join(directory, 'dots', 'real.json');
  writeFileSync(real, '{}');
  chmodSync(real, 0o640);
  symlinkSync('dots/middle.json', join(directory, 'link.json'));
  symlinkSync('real.json', join(directory, 'dots', 'middle.json'));
  await editServers(join(directory, 'link.json'), [SERVER]);
  expect(readlinkSync(join(directory, 'link.json'))).toBe('dots/middle.json');
  expect(readFileSync(real, 'utf8')).toContain('"a"');
  expect(statSync(real).mode & 0o777).toBe(0o640);
  expect(readdirSync(join(directory, 'dots')).sort()).toEqual(['middle.json', 'real.json']);
});

it('creates the target of a dangling link', async ({ directory }) => {
  symlinkSync('later/real.json', join(directory, 'link.json'));
  await editServers(join(directory, 'link.json'), [SERVER]);
  expect(lstatSync(join(directory, 'link.json')).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(directory, 'later', 'real.json'), 'utf8')).toContain('"a"');
});

it('rejects loops of links, directories and devices, and names the file', async ({ directory }) => {
  const loop = join(directory, 'one');
  symlinkSync('two', loop);
  symlinkSync('one', join(directory, 'two'));
  for (const file of [loop, join(loop, 'c.json'), directory, '/dev/null'])
    await expect(editServers(file, [SERVER])).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(file),
      data: { file },
    });
  expect(readdirSync(directory).sort()).toEqual(['one', 'two']);
});

it.for([
  { title: 'not JSON', bytes: Buffer.from('{\n  "a": 1,,\n}'), data: { line: 2, column: 10 } },
  { title: 'a list', bytes: Buffer.from('[1]'), data: { line: 1, column: 1 } },
  { title: 'UTF-16', bytes: Buffer.from('\uFEFF{}', 'utf16le'), data: {} },
  { title: 'not UTF-8', bytes: Buffer.from([0x7b, 0xff, 0x7d]), data: {} },
])('does not change a file that is $title, and reports where', async ({ bytes, data }, { directory }) => {
  const file = join(directory, 'c.json');
  writeFileSync(file, bytes);
  await expect(editServers(file, [SERVER])).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(file),
    data: { file, ...data },
  });
  expect(readFileSync(file)).toEqual(bytes);
  expect(readdirSync(directory)).toEqual(['c.json']);
});

it('does not write what would not be valid, nor when the change fails', async ({ directory }) => {
  const file = join(directory, 'c.json');
  writeFileSync(file, '{}');
  await expect(editConfig(file, () => '{')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  const failure = new Error('mine');
  const failing = (): string => {
    throw failure;
  };
  await expect(editConfig(file, failing)).rejects.toBe(failure);
  expect(readFileSync(file, 'utf8')).toBe('{}');
  expect(readdirSync(directory)).toEqual(['c.json']);
});

it('a save by an editor between reading and replacing is not lost', async ({ directory }) => {
  const file = join(directory, 'c.json');
  writeFileSync(file, '{ "mine": 1 }');
  let saved = false;
  await editConfig(file, (text) => {
    if (!saved) writeFileSync(file, '{ "mine": 2 } // saved');
    saved = true;
    return setKey(text, ['ours'], 1);
  });
  expect(readFileSync(file, 'utf8')).toBe('{ "mine": 2, "ours": 1 } // saved');
});

it('a failed replacement leaves no temporary file and keeps files of other processes', async ({
  directory,
}) => {
  const file = join(directory, 'c.json');
  writeFileSync(file, 'old');
  const foreign = '.c.json.999999999-1-00000000-0123456789ab.tmp';
  writeFileSync(join(directory, foreign), 'of another machine, perhaps alive');
  writeFileSync(join(directory, '.c.json.mine.tmp'), "the user's");
  await replaceFile(file, 'new');
  expect(await replaceFile(file, 'newer', { expected: Buffer.from('old') })).toBe(false);
  expect(readFileSync(file, 'utf8')).toBe('new');
  await expect(replaceFile(join(directory, 'x'.repeat(250)), 'new')).rejects.toThrow('ENAMETOOLONG');
  expect(readdirSync(directory).sort()).toEqual([foreign, '.c.json.mine.tmp', 'c.json'].sort());
});

it('reports why nothing can be written', async ({ directory }) => {
  const file = join(directory, 'file', 'c.json');
  writeFileSync(join(directory, 'file'), '');
  await expect(editServers(file, [SERVER])).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(file),
    data: { file, reason: 'ENOTDIR' },
  });
});

it('finds an entry with an id beside its name by the name, and keeps the id', async ({ directory }) => {
  const file = join(directory, 'c.json');
  writeFileSync(file, '{ "servers": [{ "id": "web-search", "name": "search", "command": "x" }] }');
  await editServers(file, [{ action: 'set', name: 'search', config: { command: 'y' } }]);
  expect(readFileSync(file, 'utf8')).toBe(
    '{ "servers": [{ "id": "web-search", "name": "search", "command": "y" }] }',
  );
  await expect(editServers(file, [{ action: 'disable', name: 'web-search' }])).rejects.toMatchObject({
    code: 'SERVER_UNKNOWN',
  });
  const proxy = { type: 'proxy', baseUrl: 'https://h', id: 'x' };
  await editServers(file, [{ action: 'set', name: 'search', config: proxy }]);
  expect(JSON.parse(readFileSync(file, 'utf8')).servers).toEqual([{ name: 'search', ...proxy }]);
  await editServers(file, [{ action: 'remove', name: 'search' }]);
  expect(JSON.parse(readFileSync(file, 'utf8')).servers).toEqual([]);
});
