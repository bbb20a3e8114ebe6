import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  ForeignFileError,
  fileStamp,
  fileStampSync,
  readPrivateFile,
  readPrivateFileSync,
  replacePrivateFile,
} from '../../src/files/private-file.js';

async function stage() {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  return directory;
}

const isPosix = process.platform !== 'win32';
const WAYS = [
  ['async', readPrivateFile, fileStamp],
  [
    'sync',
    async (...args: Parameters<typeof readPrivateFile>) => readPrivateFileSync(...args),
    async (file: string) => fileStampSync(file),
  ],
] as const;

describe.each(WAYS)('a private file, %s', (_way, read, stamp) => {
  it('is read together with its stamp', async () => {
    const { file } = await stage();
    expect([await read(file('none')), await stamp(file('none'))]).toEqual([undefined, undefined]);
    replacePrivateFile(file('a'), 'text');
    const first = await read(file('a'));
    expect(first).toEqual({ text: 'text', stamp: await stamp(file('a')), changedAtMs: expect.any(Number) });
    replacePrivateFile(file('a'), 'next');
    expect(await read(file('a'))).toMatchObject({ text: 'next' });
    expect(await stamp(file('a'))).not.toBe(first?.stamp);
  });

  it.runIf(isPosix)('loses its permissions for others, which is reported', async () => {
    const { file } = await stage();
    for (const mode of [0o640, 0o604, 0o602]) {
      writeFileSync(file('a'), 'text');
      chmodSync(file('a'), mode);
      let exposed = 0;
      expect(await read(file('a'), () => (exposed += 1))).toMatchObject({ text: 'text' });
      expect([exposed, statSync(file('a')).mode & 0o777]).toEqual([1, 0o600]);
      await read(file('a'), () => (exposed += 1));
      expect(exposed).toBe(1);
    }
  });

  it.skipIf(process.getuid?.() !== 0)('of another user is not read', async () => {
    const { file } = await stage();
    replacePrivateFile(file('a'), 'text');
    chownSync(file('a'), 12_345, 12_345);
    await expect(read(file('a'))).rejects.toThrow(ForeignFileError);
  });

  it.runIf(isPosix)('is an ordinary file: a pipe does not block, and a directory is refused', async () => {
    const { file } = await stage();
    execFileSync('mkfifo', [file('pipe')]);
    mkdirSync(file('directory'));
    symlinkSync(file('pipe'), file('link'));
    await expect(read(file('pipe'))).rejects.toMatchObject({ code: 'ENOTSUP' });
    await expect(read(file('link'))).rejects.toMatchObject({ code: 'ENOTSUP' });
    await expect(read(file('directory'))).rejects.toMatchObject({ code: 'EISDIR' });
  });
});

describe('a replaced file', () => {
  it.runIf(isPosix)('is readable by its owner only, and replaces a link', async () => {
    const { file, path } = await stage();
    writeFileSync(file('target'), 'old');
    symlinkSync(file('target'), file('a'));
    replacePrivateFile(file('a'), 'new', { durable: true });
    expect(readPrivateFileSync(file('a'))?.text).toBe('new');
    expect(readPrivateFileSync(file('target'))?.text).toBe('old');
    expect(statSync(file('a')).mode & 0o777).toBe(0o600);
    expect(readdirSync(path).sort()).toEqual(['a', 'target']);
  });

  it('leaves no temporary file if it cannot be replaced', async () => {
    const { file, path } = await stage();
    mkdirSync(file('a'));
    expect(() => replacePrivateFile(file('a'), 'new')).toThrow();
    expect(readdirSync(path)).toEqual(['a']);
  });
});
