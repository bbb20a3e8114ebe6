import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { temporaryDirectory } from '@turnbuckle/testing';
import { type ParseError, parse } from 'jsonc-parser';
import { expect, it } from 'vitest';
import { editConfig } from '../../src/config/edit/config-editor.js';
import { setKey } from '../../src/config/edit/edit-servers.js';
import { startWriter } from './writer-process.js';

const START = `// top
{
  /* before */ "counter": 0, // the counter
  "servers": {
    // the user's own
    "own": { "command": "x" }, // untouched
  }, // behind
}
// bottom
`;
const COMMENTS = START.match(/\/\/.*|\/\*.*?\*\//g) ?? [];

function valid(text: string): Record<string, Record<string, unknown>> {
  const errors: ParseError[] = [];
  const value: Record<string, Record<string, unknown>> = parse(text, errors, { allowTrailingComma: true });
  expect(errors, text).toEqual([]);
  for (const comment of COMMENTS) expect(text).toContain(comment);
  return value;
}

it('two processes, 200 sequences of edits: no edit is lost, comments are kept, and readers never see an invalid file', async () => {
  const directory = await temporaryDirectory();
  const file = directory.file('turnbuckle.jsonc');
  await writeFile(file, START);
  const writers = ['left', 'right'].map((name) => startWriter('sequences', file, [name, 100]));
  let writing = true;
  let reads = 0;
  const reader = (async () => {
    for (; writing; reads += 1) {
      valid(await readFile(file, 'utf8'));
      await nextTurn();
    }
  })();
  await Promise.all(writers.map(({ done }) => done)).finally(() => {
    writing = false;
  });
  await reader;
  expect(reads).toBeGreaterThan(50);
  expect(writers.map(({ acknowledged }) => acknowledged.length)).toEqual([100, 100]);
  const { servers } = valid(await readFile(file, 'utf8'));
  expect(servers).toEqual(
    Object.assign({ own: { command: 'x' } }, ...writers.map((one) => one.acknowledged.at(-1))),
  );
  expect(await readdir(directory.path)).toEqual(['turnbuckle.jsonc']);
  await directory.remove();
});

it('several concurrent processes take over a stale lock once', async () => {
  const directory = await temporaryDirectory();
  const file = directory.file('turnbuckle.jsonc');
  await writeFile(file, START);
  for (let round = 0; round < 3; round += 1) {
    const before = valid(await readFile(file, 'utf8')).counter;
    const dead = startWriter('increments', file, ['dead', 100_000]);
    await once(dead.child.stdout ?? dead.child, 'data');
    dead.child.kill('SIGKILL');
    await dead.done;
    const between = Number(valid(await readFile(file, 'utf8')).counter);
    expect(between - Number(before)).toBeGreaterThanOrEqual(dead.acknowledged.length);
    const writers = ['a', 'b', 'c'].map((name) => startWriter('increments', file, [name, 10]));
    await Promise.all(writers.map(({ done }) => done));
    expect(valid(await readFile(file, 'utf8')).counter).toBe(between + 30);
    expect(new Set(writers.flatMap(({ acknowledged }) => acknowledged)).size).toBe(30);
  }
  expect(await readdir(directory.path)).toEqual(['turnbuckle.jsonc']);
  await directory.remove();
});

it('edits within one process queue up', async () => {
  const directory = await temporaryDirectory();
  const file = directory.file('turnbuckle.jsonc');
  await writeFile(file, START);
  const values = await Promise.all(
    Array.from({ length: 40 }, async () => {
      let value = 0;
      await editConfig(file, (text) => {
        value = Number(valid(text).counter) + 1;
        return setKey(text, ['counter'], value);
      });
      return value;
    }),
  );
  expect(values).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
  await directory.remove();
});
