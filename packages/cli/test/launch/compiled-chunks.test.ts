import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { fixture } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { createHome, type Home, QUIET, turnbuckle } from '../commands/turnbuckle.js';

const createCaller = async (): Promise<Home> => createHome({ echo: fixture('echo') });

async function call(home: Home, env: Record<string, string> = {}): Promise<void> {
  const finished = await turnbuckle(['call', 'echo', 'add', 'a=1', 'b=2'], { home, env });
  expect(finished).toEqual({ code: 0, stdout: '{"sum":3}\n', stderr: QUIET });
}

function entries(home: Home): string[] {
  const root = home.file('state/code-cache');
  return readdirSync(root).flatMap((build) =>
    readdirSync(join(root, build)).map((name) => join(root, build, name)),
  );
}

const inodes = (files: readonly string[]): number[] => files.map((file) => statSync(file).ino);

it('a call keeps the code that was compiled for it, and the next call uses it', async () => {
  const home = await createCaller();
  await call(home);
  const kept = entries(home);
  expect(kept.length).toBeGreaterThan(0);
  const before = inodes(kept);
  await call(home);
  // What is not accepted is compiled and written again.
  expect(entries(home)).toEqual(kept);
  expect(inodes(kept)).toEqual(before);
});

it.each([
  ['nothing', Buffer.alloc(0)],
  ['other data', Buffer.alloc(5_000, 'x')],
])('a cache entry with %s changes no result, and is replaced', async (_name, data) => {
  const home = await createCaller();
  await call(home);
  const [first = ''] = entries(home);
  const compiled = readFileSync(first);
  const crc = Buffer.alloc(4);
  crc.writeUInt32LE(crc32(data));
  writeFileSync(first, Buffer.concat([crc, data]));
  await call(home);
  expect(readFileSync(first).length).toBeGreaterThan(compiled.length / 2);
});

it('NODE_DISABLE_COMPILE_CACHE turns it off', async () => {
  const home = await createCaller();
  await call(home, { NODE_DISABLE_COMPILE_CACHE: '1' });
  expect(existsSync(home.file('state/code-cache'))).toBe(false);
});

it('other flags of V8 have entries of their own', async () => {
  const home = await createCaller();
  await call(home);
  const before = entries(home);
  await call(home, { NODE_OPTIONS: '--stack-trace-limit=20' });
  const after = entries(home);
  expect(after).toEqual(expect.arrayContaining(before));
  expect(after.length).toBeGreaterThan(before.length);
});
