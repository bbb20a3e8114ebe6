import { chmod, chown, mkdir, readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OFF, ownVault } from './own-vault.js';

const SECRET = 'correct horse battery staple';
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe('a vault', () => {
  it('writes to the disk when a secret is stored, and not before', async () => {
    const { directory, open } = await ownVault();
    const stateDir = join(directory.path, 'state', 'deep');
    const vault = open({ stateDir });
    expect(await vault.get('secret/a')).toBeUndefined();
    expect(await vault.list()).toEqual([]);
    expect(await readdir(directory.path)).toEqual([]);
    await vault.set('secret/a', SECRET);
    expect((await readdir(stateDir)).sort()).toEqual(['vault.json', 'vault.key']);
  });

  it('stores secrets, for other instances too, and lists names without values', async () => {
    const { open } = await ownVault();
    const vault = open({ now: () => Date.UTC(2026, 6, 28) });
    await vault.set('secret/b', SECRET);
    await vault.set('secret/a', 'première 🔑\n');
    await vault.set('__proto__', 'x');
    const other = open();
    expect(await other.get('secret/a')).toBe('première 🔑\n');
    expect(await other.get('__proto__')).toBe('x');
    expect(await other.get('constructor')).toBeUndefined();
    const updatedAt = '2026-07-28T00:00:00.000Z';
    expect(await other.list()).toEqual(
      ['__proto__', 'secret/a', 'secret/b'].map((name) => ({ name, updatedAt })),
    );
    expect(await other.delete('secret/a')).toBe(true);
    expect(await other.delete('secret/a')).toBe(false);
    expect(await vault.get('secret/a')).toBeUndefined();
  });

  it('reveals nothing on the disk: no name, no value, and each time different bytes', async () => {
    const { open, text, directory } = await ownVault();
    const vault = open();
    const seen: string[] = [];
    for (const value of [SECRET, 'other', SECRET]) {
      await vault.set('secret/name-of-it', value);
      seen.push(await text());
    }
    for (const one of [...seen, await text('vault.key')]) {
      expect(one).not.toContain('name-of-it');
      expect(one).not.toContain(SECRET);
      expect(one).not.toContain(Buffer.from(SECRET).toString('base64').slice(0, 16));
    }
    const fields = seen.map((one): Record<string, string> => JSON.parse(one));
    for (const field of ['iv', 'tag', 'data'])
      expect(new Set(fields.map((one) => one[field])).size, field).toBe(3);
    expect(JSON.parse(seen[0] ?? '')).toMatchObject({ version: 1, key: { from: 'file' } });
    expect(await modeOf(directory.file('vault.json'))).toBe(0o600);
    expect(await modeOf(directory.file('vault.key'))).toBe(0o600);
    expect(await modeOf(directory.path)).toBe(0o700);
  });

  it('changes an entry atomically, and does not write the file if it is unchanged', async () => {
    const { open, text } = await ownVault();
    const vault = open();
    expect(await vault.update('n', (old) => `${old ?? 'new'}!`)).toBe('new!');
    expect(await vault.update('n', async (old) => `${old}!`)).toBe('new!!');
    const before = await text();
    expect(await vault.update('n', (old) => old)).toBe('new!!');
    expect(await text()).toBe(before);
    expect(await vault.update('n', () => undefined)).toBeUndefined();
    expect(await vault.list()).toEqual([]);
    await expect(
      vault.update('n', () => {
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    await vault.set('n', 'free again');
  });

  it('immediately sees what another process wrote, however fast they alternate', async () => {
    const { open } = await ownVault();
    const [left, right] = [open(), open()];
    for (let turn = 0; turn < 100; turn += 1) {
      // The same length each time: neither size nor time distinguishes the files.
      const value = String(turn).padStart(4, '0');
      const [writer, reader] = turn % 2 === 0 ? [left, right] : [right, left];
      await writer.set('n', value);
      expect(await reader.get('n')).toBe(value);
    }
  });

  it('sees it even with a cached copy and an unchanged file time', async () => {
    const { open, directory, text, write } = await ownVault();
    const written = new Date('2026-07-28T10:00:00Z');
    const later = open({ now: () => written.getTime() + 60_000 });
    const atOnce = open({ now: () => written.getTime() });
    const settle = (): Promise<void> => utimes(directory.file('vault.json'), written, written);
    const writer = open();
    await writer.set('n', 'second');
    const second = await text();
    await writer.set('n', 'first!');
    await settle();
    expect(await later.get('n')).toBe('first!');
    expect(await atOnce.get('n')).toBe('first!');
    // Same size and time: only an instance that read the file too soon after that time reads it again.
    await write(second);
    await settle();
    expect(await atOnce.get('n')).toBe('second');
    await writer.set('n', 'third');
    expect(await later.get('n')).toBe('third');
  });

  it('rejects values that are too large, and keeps the rest', async () => {
    const { open } = await ownVault();
    const vault = open();
    await vault.set('n', SECRET);
    await expect(vault.set('big', 'x'.repeat(2_000_000))).rejects.toThrow('more than');
    await expect(vault.set('', 'x')).rejects.toThrow('the name');
    expect(await vault.list()).toHaveLength(1);
  });
});

describe('the permissions of its files', () => {
  it.each(['vault.json', 'vault.key'])('of %s are tightened, and that is reported', async (name) => {
    const { open, directory, warnings } = await ownVault();
    await open().set('n', SECRET);
    await chmod(directory.file(name), 0o644);
    expect(await open().get('n')).toBe(SECRET);
    expect(await modeOf(directory.file(name))).toBe(0o600);
    expect(warnings).toEqual([expect.stringContaining(`Other users could read ${directory.file(name)}`)]);
    await open().set('n', 'other');
    expect(await modeOf(directory.file(name))).toBe(0o600);
    expect(warnings).toHaveLength(1);
  });

  it('are reported as a process warning without a listener', async () => {
    const { open, directory } = await ownVault();
    await open().set('n', SECRET);
    await chmod(directory.file('vault.json'), 0o640);
    const told = new Promise<Error>((resolve) => process.once('warning', resolve));
    await open({ onWarning: undefined }).get('n');
    expect(await told).toMatchObject({ code: 'TURNBUCKLE_SECRETS' });
  });

  it('of its directory are tightened if it belongs to us alone', async () => {
    const { open, directory, warnings } = await ownVault();
    const [shared, everybodys] = ['shared', 'everybodys'].map((name) => directory.file(name));
    if (shared === undefined || everybodys === undefined) throw new Error('no directories');
    await mkdir(shared);
    await chmod(shared, 0o755);
    await open({ stateDir: shared }).set('n', SECRET);
    expect(await modeOf(shared)).toBe(0o700);
    await mkdir(everybodys);
    await chmod(everybodys, 0o1777);
    await open({ stateDir: everybodys }).set('n', SECRET);
    expect(await modeOf(everybodys)).toBe(0o777);
    expect(warnings).toEqual([
      expect.stringContaining('now give access only to you'),
      expect.stringContaining('Other users can write'),
    ]);
  });

  it.skipIf(process.getuid?.() !== 0).each(['vault.json', 'vault.key'])(
    'do not help another user: %s owned by someone else is rejected',
    async (name) => {
      const { open, directory, text } = await ownVault();
      await open().set('n', SECRET);
      await chown(directory.file(name), 12_345, 12_345);
      const before = await text();
      const refused = { code: 'SECRETS_UNAVAILABLE', message: expect.stringContaining('another user') };
      await expect(open().get('n')).rejects.toMatchObject(refused);
      await expect(open().set('n', 'other')).rejects.toMatchObject(refused);
      expect(await text()).toBe(before);
    },
  );

  it('that forbid writing are reported', async () => {
    const { open, directory } = await ownVault();
    const vault = open({ stateDir: directory.file('vault.json') });
    await open().set('n', SECRET);
    // A file where the directory should be.
    await expect(vault.set('n', SECRET)).rejects.toMatchObject({ code: 'SECRETS_UNAVAILABLE' });
    await expect(open({ environment: OFF }).get('n')).resolves.toBe(SECRET);
  });
});
