import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/commands.js';
import { readText, root } from './repository.js';

const run = promisify(execFile);
let directory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'turnbuckle-reference-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const reference = (...words: string[]): Promise<{ stdout: string }> =>
  run(process.execPath, [join(root, 'scripts/write-command-reference.mjs'), ...words]);

describe('docs/commands.md', () => {
  it('matches the command table', async () => {
    const { stdout } = await reference('--check');
    expect(stdout).toContain(`${COMMANDS.length} commands`);
  });

  it('has a heading for every command in the source, not only in the build', () => {
    const headings = [...readText('docs/commands.md').matchAll(/^## (\S+)$/gm)].map(([, name]) => name);
    expect(headings).toEqual(COMMANDS.map(({ name }) => name));
  });

  it('--check fails when it is out of date or missing', async () => {
    const page = join(directory, 'commands.md');
    await expect(reference('--check', page)).rejects.toMatchObject({ code: 1 });
    await reference(page);
    await reference('--check', page);
    await appendFile(page, 'One line more.\n');
    await expect(reference('--check', page)).rejects.toMatchObject({ code: 1 });
  });
});
