import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { pathsBehindLinks } from '../../src/files/link-paths.js';
import { watchFiles } from '../../src/files/watch-files.js';

async function ownDirectory(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  return directory.path;
}

it('notices by polling what no watch reports: a moved ancestor directory', async () => {
  const root = await ownDirectory();
  const file = join(root, 'a', 'b', 'c', 'mcp.json');
  await mkdir(join(root, 'a', 'b', 'c'), { recursive: true });
  await mkdir(join(root, 'other', 'b', 'c'), { recursive: true });
  await writeFile(file, '{}');
  await writeFile(join(root, 'other', 'b', 'c', 'mcp.json'), '{ "servers": {} }');
  let rounds = 0;
  const stop = await watchFiles({
    files: () => [file],
    pollMs: 20,
    onChange: async () => {
      rounds += 1;
    },
  });
  onTestFinished(stop);
  await waitUntil(async () => {
    await rename(join(root, 'a'), join(root, 'old'));
    await rename(join(root, 'other'), join(root, 'a'));
    await rename(join(root, 'old'), join(root, 'other'));
    await delay(100);
    return rounds > 0;
  });
});

it('does not wait for endless changes to end', async () => {
  const root = await ownDirectory();
  const file = join(root, 'mcp.json');
  let rounds = 0;
  const stop = await watchFiles({
    files: () => [file],
    onChange: async () => {
      rounds += 1;
    },
  });
  onTestFinished(stop);
  let writing = true;
  const writer = (async () => {
    for (let index = 0; writing; index += 1) {
      await writeFile(file, String(index));
      await delay(10);
    }
  })();
  await waitUntil(() => rounds > 1);
  writing = false;
  await writer;
});

it('rounds do not overlap, and pending ones are merged', async () => {
  const root = await ownDirectory();
  const file = join(root, 'mcp.json');
  let running = 0;
  let most = 0;
  let rounds = 0;
  let finish = (): void => {};
  const stop = await watchFiles({
    files: () => [file],
    onChange: async () => {
      running += 1;
      rounds += 1;
      most = Math.max(most, running);
      if (rounds === 1)
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
      running -= 1;
    },
  });
  onTestFinished(stop);
  await writeFile(file, '1');
  await waitUntil(() => rounds === 1);
  for (const text of ['2', '3', '4']) {
    await writeFile(file, text);
    await delay(120);
  }
  finish();
  await waitUntil(() => rounds >= 2);
  await stop();
  expect(most).toBe(1);
  expect(rounds).toBeLessThan(4);
});

it('finds every link in the path of a file', async () => {
  const root = await ownDirectory();
  const at = (...names: string[]): string => join(root, ...names);
  await mkdir(at('real', 'deep'), { recursive: true });
  await writeFile(at('real', 'deep', 'file'), '');
  await symlink('real', at('directory'));
  await symlink(join('..', 'directory', 'deep', 'file'), at('real', 'link'));
  await symlink('circle', at('circle'));
  expect(await pathsBehindLinks(at('plain'))).toEqual([at('plain')]);
  expect((await pathsBehindLinks(at('directory', 'link'))).sort()).toEqual(
    [at('directory', 'link'), at('directory'), at('real', 'link'), at('real', 'deep', 'file')].sort(),
  );
  expect(await pathsBehindLinks(at('circle'))).toEqual([at('circle')]);
});
