import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type KeychainSession, openKeychainSession, SKIPPED, temporaryHome } from './keychain-session.js';

const SECRET = 'xV9-correct-horse-battery';

describe.skipIf(SKIPPED !== '')(`the vault's key in GNOME's keyring${SKIPPED}`, () => {
  let home: Awaited<ReturnType<typeof temporaryHome>>;
  let session: KeychainSession;
  beforeEach(async () => {
    home = await temporaryHome();
    session = await openKeychainSession(home.path, { unlocked: true });
  });
  afterEach(async () => {
    await session.close();
    await home.remove();
  });

  const secrets = (words: string, more = {}) => session.turnbuckle(['secrets', ...words.split(' ')], more);
  /** The files of the vault; what else a command keeps is of no concern here. */
  const state = async (): Promise<string[]> =>
    (await readdir(join(home.path, 'state'))).filter((name) => name !== 'code-cache').sort();
  const header = async (): Promise<{ from: string; id: string }> =>
    JSON.parse(await readFile(join(home.path, 'state', 'vault.json'), 'utf8')).key;
  /** The secret that a server receives: the server writes it to a file and ends. */
  const receivedSecret = async (env = {}): Promise<string> => {
    const file = join(home.path, 'given');
    const server = `probe=sh -c 'printf %s "$0" > ${file}' \${secret:token}`;
    await session.turnbuckle(['ping', 'probe', '--mcp-server', server], { env });
    return readFile(file, 'utf8').catch(() => '');
  };

  it('is stored there, and no key file is written', async () => {
    expect((await secrets('set token', { stdin: SECRET })).code).toBe(0);
    expect(await state()).toEqual(['vault.json']);
    expect(await header()).toMatchObject({ from: 'keychain' });
    expect(JSON.parse((await secrets('list --json')).stdout)).toMatchObject({
      key: 'keychain',
      secrets: [{ name: 'token' }],
    });
    expect(await receivedSecret()).toBe(SECRET);
  });

  it('changes on rotation, and moves to a file and back', async () => {
    await secrets('set token', { stdin: SECRET });
    const ids = new Set([(await header()).id]);
    for (const [words, files] of [
      ['rotate', ['vault.json']],
      ['rotate --to file', ['vault.json', 'vault.key']],
      ['rotate --to keychain', ['vault.json']],
    ] as const) {
      expect((await secrets(words)).code, words).toBe(0);
      expect(await state(), words).toEqual(files);
      ids.add((await header()).id);
      expect(await receivedSecret(), words).toBe(SECRET);
    }
    expect(ids.size).toBe(4);
  });

  it('is removed from the keyring once it is moved to a file', async () => {
    await secrets('set token', { stdin: SECRET });
    const before = join(home.path, 'before.json');
    const vault = join(home.path, 'state', 'vault.json');
    await rename(vault, before);
    // A new vault reuses the key in the keyring, so that the old vault can still be opened.
    await secrets('set other', { stdin: SECRET });
    await rename(before, vault);
    expect(await receivedSecret()).toBe(SECRET);
    const old = await readFile(vault);
    await secrets('rotate --to file');
    const { writeFile } = await import('node:fs/promises');
    await writeFile(vault, old);
    expect(await secrets('list')).toMatchObject({
      code: 24,
      stderr: expect.stringContaining('missing from the keychain'),
    });
  });

  it('is not read when the keychain is disabled', async () => {
    const env = { TURNBUCKLE_KEYCHAIN: 'off' };
    await secrets('set token', { stdin: SECRET, env });
    expect(await header()).toMatchObject({ from: 'file' });
    expect((await secrets('rotate --to keychain', { env })).code).toBe(24);
    await secrets('rotate --to keychain');
    expect(await secrets('list', { env })).toMatchObject({
      code: 24,
      stderr: expect.stringContaining('TURNBUCKLE_KEYCHAIN'),
    });
  });

  it('cannot be read from a locked keyring, and the vault is unchanged', async () => {
    await secrets('set token', { stdin: SECRET });
    await session.close();
    session = await openKeychainSession(home.path, { unlocked: false });
    const before = await readFile(join(home.path, 'state', 'vault.json'), 'utf8');
    const { code, stderr } = await secrets('set token', { stdin: 'other' });
    expect(code).toBe(24);
    expect(stderr).toMatch(/Cannot access the keychain|missing from the keychain/);
    expect(await readFile(join(home.path, 'state', 'vault.json'), 'utf8')).toBe(before);
    await session.close();
    session = await openKeychainSession(home.path, { unlocked: true });
    expect(await receivedSecret()).toBe(SECRET);
  });

  it('is stored in a file when the keyring is locked from the start', async () => {
    await session.close();
    session = await openKeychainSession(home.path, { unlocked: false });
    expect((await secrets('set token', { stdin: SECRET })).code).toBe(0);
    expect(await header()).toMatchObject({ from: 'file' });
  });
});
