import { access, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { isAlive, processesWithEnvironment, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { OFF, ownVault } from './own-vault.js';

const SECRET = 'correct horse battery staple';
const withPassphrase = (words: string, more = {}) => ({
  environment: { ...OFF, TURNBUCKLE_PASSPHRASE: words, ...more },
});

describe('a vault with a passphrase', () => {
  it('is created if a passphrase is set from the start, and needs no key file', async () => {
    const { open, text, directory } = await ownVault();
    await open(withPassphrase('open sesame')).set('n', SECRET);
    expect(JSON.parse(await text())).toMatchObject({
      key: { from: 'passphrase', kdf: 'scrypt', N: 32_768, r: 8, p: 1, salt: expect.any(String) },
    });
    await expect(access(directory.file('vault.key'))).rejects.toThrow();
    expect(await open(withPassphrase('open sesame')).get('n')).toBe(SECRET);
    expect(await open(withPassphrase('open sesame')).keySource()).toBe('passphrase');
  });

  it('opens with every Unicode form of the passphrase', async () => {
    const { open } = await ownVault();
    await open(withPassphrase('caf\u00e9')).set('n', SECRET);
    expect(await open(withPassphrase('cafe\u0301')).get('n')).toBe(SECRET);
  });

  it.each([
    ['a wrong passphrase', withPassphrase('wrong'), 'Wrong passphrase'],
    ['none', { environment: OFF }, 'is locked with a passphrase'],
    ['an empty passphrase', withPassphrase(''), 'is locked with a passphrase'],
  ])('stays locked with %s', async (_name, options, message) => {
    const { open, text } = await ownVault();
    await open(withPassphrase('open sesame')).set('n', SECRET);
    const before = await text();
    const refused = { code: 'SECRETS_UNAVAILABLE', message: expect.stringContaining(message) };
    await expect(open(options).get('n')).rejects.toMatchObject(refused);
    await expect(open(options).set('n', 'other')).rejects.toMatchObject(refused);
    expect(await text()).toBe(before);
  });

  it('asks for it once, and again when it was wrong', async () => {
    const { open } = await ownVault();
    await open(withPassphrase('open sesame')).set('n', SECRET);
    const asked: string[] = [];
    const answers = ['wrong', 'open sesame'];
    const vault = open({
      passphrase: async (why) => {
        asked.push(why);
        return answers.shift();
      },
    });
    await expect(vault.get('n')).rejects.toMatchObject({ code: 'SECRETS_UNAVAILABLE' });
    expect(await Promise.all([vault.get('n'), vault.get('n'), vault.list()])).toMatchObject([
      SECRET,
      SECRET,
      [{}],
    ]);
    await vault.set('n', 'other');
    expect(await vault.get('n')).toBe('other');
    expect(asked).toEqual(['open', 'open']);
  });

  it('rejects key derivation parameters without bound', async () => {
    const { open, text, write } = await ownVault();
    await open(withPassphrase('open sesame')).set('n', SECRET);
    for (const [key, value] of Object.entries({ N: 2 ** 30, r: 1_000, p: 1_000_000 })) {
      const file = JSON.parse(await text());
      await write(JSON.stringify({ ...file, key: { ...file.key, [key]: value } }));
      await expect(open(withPassphrase('open sesame')).get('n')).rejects.toThrow('is damaged');
      await write(JSON.stringify(file));
    }
  });
});

// requirement K2
describe('rotating', () => {
  const KINDS = ['file', 'passphrase'] as const;
  it.each(KINDS.flatMap((from) => KINDS.map((to) => [from, to] as const)))(
    'from %s to %s gives a new key, and the old one is gone',
    async (from, to) => {
      const { open, text, write, directory } = await ownVault();
      const before = from === 'passphrase' ? withPassphrase('old words') : {};
      const rotating = withPassphrase('old words', { TURNBUCKLE_NEW_PASSPHRASE: 'new words' });
      const after = to === 'passphrase' ? withPassphrase('new words') : {};
      await open(before).set('n', SECRET);
      const old = await text();
      const oldKey = from === 'file' ? await text('vault.key') : undefined;
      expect(await open(rotating).rotate(to)).toEqual({ from, to });
      expect(await open(after).get('n')).toBe(SECRET);
      const { key } = JSON.parse(await text());
      expect(key).toMatchObject({ from: to });
      expect(key.id).not.toBe(JSON.parse(old).key.id);
      expect(key).not.toHaveProperty('retire');
      const newKey = await text('vault.key').catch(() => undefined);
      expect(newKey === undefined).toBe(to !== 'file');
      const [line = 'none'] = oldKey?.split('\n').filter((one) => !one.startsWith('#')) ?? [];
      expect(newKey ?? '').not.toContain(line);
      // The old file cannot be opened with the keys that are left.
      await write(old);
      await expect(open(after).get('n')).rejects.toMatchObject({ code: 'SECRETS_UNAVAILABLE' });
      if (to === 'passphrase') await rm(directory.file('vault.json'));
    },
  );

  it('keeps the kind of key, and instances that were open continue to work', async () => {
    const { open } = await ownVault();
    const [mine, theirs] = [open(), open()];
    await mine.set('n', SECRET);
    expect(await theirs.get('n')).toBe(SECRET);
    expect(await mine.rotate()).toEqual({ from: 'file', to: 'file' });
    expect(await theirs.get('n')).toBe(SECRET);
    await theirs.set('m', 'more');
    expect(await mine.get('m')).toBe('more');
  });

  it('needs a vault, and a new passphrase if the key comes from one', async () => {
    const { open, text } = await ownVault();
    await expect(open().rotate()).rejects.toThrow('There is no vault');
    await open().set('n', SECRET);
    const before = await text();
    await expect(open().rotate('passphrase')).rejects.toThrow('No new passphrase');
    await expect(open().rotate('keychain')).rejects.toMatchObject({ code: 'SECRETS_UNAVAILABLE' });
    expect(await text()).toBe(before);
  });

  it('that was interrupted after the new key was in use is completed by the next writer', async () => {
    const { open, text, write } = await ownVault();
    await open().set('n', SECRET);
    const oldKey = await text('vault.key');
    await open(withPassphrase('new words')).rotate('passphrase');
    // As if it had been killed before it removed the old key: sealed again with the note that this is still to do.
    await write(oldKey, 'vault.key');
    const { sealVault, parseVault, openVaultText } = await import('../../../src/vault/vault-format.js');
    const { deriveKey } = await import('../../../src/vault/vault-key.js');
    const sealed = parseVault(await text());
    if (typeof sealed === 'string' || sealed.key.from !== 'passphrase')
      throw new Error('not sealed as expected');
    const key = await deriveKey('new words', sealed.key);
    const entries = openVaultText(sealed, key) ?? new Map();
    await write(sealVault(entries, key, { ...sealed.key, retire: 'file' }));
    expect(await open(withPassphrase('new words')).get('n')).toBe(SECRET);
    await open(withPassphrase('new words')).set('m', 'more');
    await expect(text('vault.key')).rejects.toThrow();
    expect(JSON.parse(await text()).key).not.toHaveProperty('retire');
  });
});

describe('without a keychain that responds', () => {
  const session = { PATH: process.env.PATH, HOME: '/nonexistent' };

  it('the key is in a file', async () => {
    const { open, text } = await ownVault();
    await open({ environment: session }).set('n', SECRET);
    expect(JSON.parse(await text())).toMatchObject({ key: { from: 'file' } });
  });

  it.runIf(process.platform === 'linux')(
    'a keychain that does not respond for 3 s counts as missing',
    { timeout: 60_000 },
    async () => {
      const { open, text, directory } = await ownVault();
      const path = directory.file('bus');
      const held: Array<{ destroy(): void }> = [];
      const bus = createServer((socket) => void held.push(socket)).listen(path);
      try {
        const bus = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}` };
        const environment = { ...session, ...bus, OTHER_TOKEN: SECRET, NODE_OPTIONS: '--no-such-option' };
        const kept = open({ environment }).set('n', SECRET);
        await waitUntil(() => held.length > 0);
        const asking = processesWithEnvironment('DBUS_SESSION_BUS_ADDRESS', `unix:path=${path}`);
        expect(asking).toHaveLength(1);
        // The process that asks the keychain exposes no secret.
        for (const name of ['environ', 'cmdline'])
          expect(await readFile(`/proc/${asking[0]}/${name}`, 'utf8'), name).not.toContain(SECRET);
        await kept;
        expect(asking.filter(isAlive)).toEqual([]);
        expect(JSON.parse(await text())).toMatchObject({ key: { from: 'file' } });
      } finally {
        for (const socket of held) socket.destroy();
        bus.close();
      }
    },
  );

  it.each([
    ['it is switched off', { environment: OFF }, 'TURNBUCKLE_KEYCHAIN is "off"'],
    ['the program has turned it off', { environment: session, keychain: false }, 'has turned it off'],
    ['none is available', { environment: session }, 'Cannot access the keychain'],
  ])('a vault whose key is in one stays locked: %s', async (_name, options, message) => {
    const { open, text, write } = await ownVault();
    await open().set('n', SECRET);
    const file = JSON.parse(await text());
    await write(JSON.stringify({ ...file, key: { ...file.key, from: 'keychain' } }));
    const before = await text();
    await expect(open(options).set('n', 'other')).rejects.toMatchObject({
      code: 'SECRETS_UNAVAILABLE',
      message: expect.stringContaining(message),
    });
    expect(await text()).toBe(before);
  });
});
