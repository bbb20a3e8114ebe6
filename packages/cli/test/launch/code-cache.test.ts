import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@turnbuckle/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CodeCache } from '../../src/launch/code-cache.js';

const DATA = Buffer.from('compiled');

async function filledCache(build = 'one') {
  const state = (await temporaryDirectory()).path;
  const cache = new CodeCache(state, build);
  cache.write('chunk', DATA);
  const directory = join(state, 'code-cache', build);
  const file = join(directory, readdirSync(directory)[0] ?? '');
  return { state, cache, directory, file };
}

describe('the cache of compiled code', () => {
  it('returns what was written, and has no entry for another name or build', async () => {
    const { state, cache } = await filledCache();
    expect(cache.read('chunk')).toEqual(DATA);
    expect(cache.read('other')).toBeUndefined();
    expect(new CodeCache(state, 'two').read('chunk')).toBeUndefined();
  });

  it('is readable and writable by its owner only', async () => {
    const { directory, file } = await filledCache();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('ignores a file that was changed anywhere or cut off', async () => {
    const { cache, file } = await filledCache();
    const written = readFileSync(file);
    fc.assert(
      fc.property(fc.nat(written.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const damaged = Buffer.from(written);
        damaged.writeUInt8(damaged.readUInt8(at) ^ change, at);
        writeFileSync(file, damaged);
        expect(cache.read('chunk')).toBeUndefined();
        writeFileSync(file, written.subarray(0, at));
        expect(cache.read('chunk')).toBeUndefined();
      }),
    );
  });

  it('ignores a file and directories that others can write', async () => {
    const { state, cache, directory, file } = await filledCache();
    for (const [path, mode] of [
      [file, 0o600],
      [directory, 0o700],
      [join(state, 'code-cache'), 0o700],
    ] as const) {
      chmodSync(path, 0o777);
      expect(cache.read('chunk')).toBeUndefined();
      chmodSync(path, mode);
    }
    expect(cache.read('chunk')).toEqual(DATA);
  });

  it('follows no link, neither of a file nor of a directory', async () => {
    const { state, cache, directory, file } = await filledCache();
    symlinkSync(directory, join(state, 'code-cache', 'linked'));
    expect(new CodeCache(state, 'linked').read('chunk')).toBeUndefined();
    symlinkSync(file, file.replace('chunk', 'linked'));
    expect(cache.read('linked')).toBeUndefined();
  });

  it('writes nothing where the state directory is missing or can be written by others', async () => {
    const { path: state } = await temporaryDirectory();
    new CodeCache(join(state, 'missing'), 'one').write('chunk', DATA);
    chmodSync(state, 0o777);
    new CodeCache(state, 'one').write('chunk', DATA);
    expect(readdirSync(state)).toEqual([]);
  });

  it('is not an error where it cannot be written', async () => {
    const { path: state } = await temporaryDirectory();
    writeFileSync(join(state, 'code-cache'), 'a file');
    const cache = new CodeCache(state, 'one');
    cache.write('chunk', DATA);
    expect(cache.read('chunk')).toBeUndefined();
  });

  it('keeps the last few builds only', async () => {
    const { path: state } = await temporaryDirectory();
    mkdirSync(join(state, 'code-cache'), { mode: 0o700 });
    for (let build = 0; build < 10; build += 1) new CodeCache(state, `build-${build}`).write('chunk', DATA);
    expect(readdirSync(join(state, 'code-cache'))).toHaveLength(4);
    expect(new CodeCache(state, 'build-9').read('chunk')).toEqual(DATA);
  });
});
