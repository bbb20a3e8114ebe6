import { writeFile } from 'node:fs/promises';
import { temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { readSecret } from '../../../src/config/placeholders/secrets.js';

const ENVIRONMENT = {
  PATH: process.env.PATH,
  OWN: 'stays',
  TURNBUCKLE_PASSPHRASE: 'not for the command',
  TURNBUCKLE_NEW_PASSPHRASE: 'not for the command',
  TURNBUCKLE_SECRET_OTHER: 'not for the command',
  TURNBUCKLE_INPUT_OTHER: 'not for the command',
};

// requirement K2
describe('${secret:name}', () => {
  const vault = async () => ({
    get: async (name: string) => (name === 'secret/a.b' ? 'of the vault' : undefined),
  });

  it('is taken from the environment, then the vault, then the command', async () => {
    const command = ['printf', '%s\n', 'of the command: {name}'];
    const environment = { ...ENVIRONMENT, TURNBUCKLE_SECRET_A_B: 'of the environment' };
    expect(await readSecret('a.b', { environment, vault, command })).toBe('of the environment');
    expect(await readSecret('a.b', { environment: ENVIRONMENT, vault, command })).toBe('of the vault');
    expect(await readSecret('c', { environment: ENVIRONMENT, vault, command })).toBe('of the command: c');
    expect(await readSecret('c', { environment: ENVIRONMENT, vault })).toBeUndefined();
  });

  it('fails when the vault fails, whatever the command would return', async () => {
    const broken = { get: () => Promise.reject(new Error('shut')) };
    await expect(
      readSecret('c', { environment: ENVIRONMENT, vault: async () => broken, command: ['printf', 'x'] }),
    ).rejects.toThrow('shut');
  });

  it('does not pass our own secrets to the command', async () => {
    const given = await readSecret('c', { environment: ENVIRONMENT, command: ['env'] });
    expect(given).toContain('OWN=stays');
    expect(given).not.toContain('not for the command');
  });

  it('is passed to the command as one argument, whatever it contains', async () => {
    const directory = await temporaryDirectory();
    await writeFile(directory.file('x'), '');
    const name = `a b"; touch ${directory.file('made')} #`;
    expect(await readSecret(name, { environment: ENVIRONMENT, command: ['printf', '%s', '{name}'] })).toBe(
      name,
    );
    await directory.remove();
  });
});
