import { rename, rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type OwnVault, ownVault } from './own-vault.js';

const SECRET = 'correct horse battery staple';

interface File {
  version: number;
  key: Record<string, unknown>;
  iv: string;
  tag: string;
  data: string;
  [more: string]: unknown;
}

const flip = (text: string): string => (text.startsWith('A') ? `B${text.slice(1)}` : `A${text.slice(1)}`);

const DAMAGES: Readonly<Record<string, (text: string) => string>> = {
  emptied: () => '',
  'cut off': (text) => text.slice(0, text.length / 2),
  overwritten: () => 'something else',
  'a list': () => '[]',
  'of a newer version': change((file) => ({ ...file, version: 2 })),
  'without its tag': change(({ tag: _, ...file }) => file),
  'with a part more': change((file) => ({ ...file, more: 1 })),
  'with other data': change((file) => ({ ...file, data: flip(file.data) })),
  'with less data': change((file) => ({ ...file, data: file.data.slice(0, 8) })),
  'with another iv': change((file) => ({ ...file, iv: flip(file.iv) })),
  'with another tag': change((file) => ({ ...file, tag: flip(file.tag) })),
  'with a short tag': change((file) => ({ ...file, tag: file.tag.slice(0, 8) })),
  'with another header': change((file) => ({ ...file, key: { ...file.key, retire: 'keychain' } })),
};

function change(edit: (file: File) => unknown): (text: string) => string {
  return (text) => JSON.stringify(edit(JSON.parse(text)));
}

async function expectRefused(vault: OwnVault, message: string): Promise<void> {
  const before = await vault.text();
  const error = {
    code: 'SECRETS_UNAVAILABLE',
    message: expect.stringContaining(message),
    hint: expect.any(String),
  };
  await expect(vault.open().get('n')).rejects.toMatchObject(error);
  await expect(vault.open().list()).rejects.toMatchObject(error);
  await expect(vault.open().set('n', 'other')).rejects.toMatchObject(error);
  await expect(vault.open().delete('n')).rejects.toMatchObject(error);
  await expect(vault.open().rotate()).rejects.toMatchObject(error);
  expect(await vault.text()).toBe(before);
}

describe('a vault that cannot be opened is never overwritten', () => {
  it.each(Object.entries(DAMAGES))('%s', async (_name, damage) => {
    const vault = await ownVault();
    await vault.open().set('n', SECRET);
    await vault.write(damage(await vault.text()));
    await expectRefused(vault, 'is damaged');
  });

  it('its key is missing', async () => {
    const vault = await ownVault();
    await vault.open().set('n', SECRET);
    await rm(vault.directory.file('vault.key'));
    await expectRefused(vault, 'is missing from the file');
  });

  it('its key is that of another vault', async () => {
    const [vault, other] = [await ownVault(), await ownVault()];
    await vault.open().set('n', SECRET);
    await other.open().set('n', SECRET);
    await vault.write(await other.text('vault.key'), 'vault.key');
    await expectRefused(vault, 'is missing from the file');
  });

  it('its key is damaged', async () => {
    const vault = await ownVault();
    await vault.open().set('n', SECRET);
    await vault.write('AAAA\n', 'vault.key');
    await expectRefused(vault, 'is damaged');
  });

  it('and neither is the key of a vault that is temporarily moved away', async () => {
    const vault = await ownVault();
    await vault.open().set('n', SECRET);
    await rename(vault.directory.file('vault.json'), vault.directory.file('moved'));
    await vault.open().set('m', 'another vault');
    await rename(vault.directory.file('moved'), vault.directory.file('vault.json'));
    expect(await vault.open().get('n')).toBe(SECRET);
    await rm(vault.directory.file('vault.json'));
    await vault.write('AAAA\n', 'vault.key');
    await expect(vault.open().set('n', SECRET)).rejects.toMatchObject({ code: 'SECRETS_UNAVAILABLE' });
    expect(await vault.text('vault.key')).toBe('AAAA\n');
  });

  it('its error does not reveal the content', async () => {
    const vault = await ownVault();
    await vault.open().set('n', SECRET);
    await vault.write((await vault.text()).replace('"version": 1', '"version": 7'));
    const error: unknown = await vault
      .open()
      .get('n')
      .catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error)).not.toContain(SECRET);
    expect(error).toMatchObject({
      message: expect.stringContaining('does not support'),
      data: { file: expect.any(String) },
    });
  });
});
