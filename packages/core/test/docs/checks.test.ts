/** The checks of the structure fail on what they forbid. They run in a copy of the sources, to which faulty files are added. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryDirectory } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from './repository.js';

const ARROWS = ['scripts/check-arrows.mjs'];
const STRUCTURE = ['scripts/check-structure.mjs'];
const WORDS = ['scripts/check-words.mjs'];
const LINT = ['node_modules/@biomejs/biome/bin/biome', 'check', 'packages/core/src/json'];

const copy = await temporaryDirectory();
/** The smallest package alone, for what needs no more: checking all of them takes seconds. */
const store = await temporaryDirectory();

beforeAll(() => {
  cpSync(join(root, 'packages/store/src'), store.file('packages/store/src'), { recursive: true });
  const files = ['AGENTS.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'biome.json', '.gitignore'];
  const folders = ['bench', 'docs', 'e2e', 'examples', 'packages', 'scripts', 'testing'];
  for (const name of [...files, ...folders])
    cpSync(join(root, name), copy.file(name), {
      recursive: true,
      filter: (path) => !/[/\\](?:node_modules|dist|test)$/.test(path),
    });
  // Imports of a package by its name have to lead to the copy.
  mkdirSync(copy.file('node_modules/@turnbuckle'), { recursive: true });
  for (const name of readdirSync(copy.file('packages'))) {
    const link = name === 'core' ? 'turnbuckle' : `@turnbuckle/${name}`;
    symlinkSync(copy.file(`packages/${name}`), copy.file(`node_modules/${link}`), 'junction');
  }
});
afterAll(() => Promise.all([copy.remove(), store.remove()]));

/** The faults that a check reports in a copy with these files, and whether it fails. */
async function check(
  [program = '', ...words]: readonly string[],
  files: Readonly<Record<string, string>>,
  where = copy,
) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(where.file(name)), { recursive: true });
    writeFileSync(where.file(name), text);
  }
  const env = { ...process.env, NO_COLOR: '1' };
  const result = await new Promise<{ failed: boolean; lines: string[] }>((resolve) =>
    execFile(process.execPath, [join(root, program), ...words], { cwd: where.path, env }, (error, out, err) =>
      resolve({ failed: error !== null, lines: (err || out).trim().split('\n') }),
    ),
  );
  for (const name of Object.keys(files)) rmSync(where.file(name));
  return result;
}

const exportsOf = (count: number): string =>
  Array.from({ length: count }, (_, index) => `export const a${index} = ${index};\n`).join('');

const functionOf = (lines: number): string =>
  `export function long(): number {\n  let sum = 0;\n${'  sum += 1;\n'.repeat(lines - 4)}  return sum;\n}\n`;

describe('npm run arrows', () => {
  it('fails on imports that point up, also of types, and on a file in no level', async () => {
    const { failed, lines } = await check(ARROWS, {
      'packages/core/src/json/up.ts': "import { createRuntime } from '../runtime/create.js';\n",
      'packages/core/src/text/up.ts': "export type Up = import('../runtime/runtime.js').Runtime;\n",
      'packages/core/src/policy/impure.ts': "import 'node:fs';\n",
      'packages/store/src/up.ts': "import '@turnbuckle/gateway';\n",
      'packages/gateway/src/identity/up.ts': "import '../daemon/daemon.js';\n",
      'packages/gateway/src/identity/path.ts': "import '../../../core/src/index.js';\n",
      'packages/cli/src/terminal/up.ts': "await import('../commands/list.js');\n",
      'packages/cli/src/terminal/example.ts': "import '../../../../examples/guided-tour/tour.mjs';\n",
      'packages/core/src/strays/stray.ts': '',
    });
    expect(failed).toBe(true);
    expect(lines.sort()).toEqual([
      'cli imports only from the packages before it: packages/cli/src/terminal/example.ts -> examples/guided-tour/tour.mjs',
      'cli/terminal/ imports only from below: packages/cli/src/terminal/up.ts -> packages/cli/src/commands/list.ts',
      'core/json/ imports only from below: packages/core/src/json/up.ts -> packages/core/src/runtime/create.ts',
      'core/text/ imports only from below: packages/core/src/text/up.ts -> packages/core/src/runtime/runtime.ts',
      'gateway imports another package by its name: packages/gateway/src/identity/path.ts -> packages/core/src/index.ts',
      'gateway/identity/ imports only from below: packages/gateway/src/identity/up.ts -> packages/gateway/src/daemon/daemon.ts',
      'packages/core/src/strays/stray.ts belongs to no level: name its folder in scripts/check-arrows.mjs.',
      'pure modules use no Node built-ins: packages/core/src/policy/impure.ts -> fs',
      'store imports only from the packages before it: packages/store/src/up.ts -> packages/gateway/src/index.ts',
    ]);
  });

  it('fails on a cycle', async () => {
    expect(await check(ARROWS, {}, store)).toMatchObject({ failed: false });
    const cycle = {
      'packages/store/src/one.ts': "import './two.js';\n",
      'packages/store/src/two.ts': "import type {} from './one.js';\n",
    };
    const { failed, lines } = await check(ARROWS, cycle, store);
    expect(failed).toBe(true);
    expect(lines).toContainEqual(
      expect.stringMatching(/^no cycles: packages\/store\/src\/(one|two)\.ts -> /),
    );
  });
});

describe('npm run structure', () => {
  it('fails on a loose file, a crowded folder, a long function and a name that is exported twice', async () => {
    const crowd = Array.from({ length: 21 }, (_, index) => `packages/core/src/crowd/f${index}.mts`);
    const { failed, lines } = await check(STRUCTURE, {
      ...Object.fromEntries(crowd.map((name) => [name, ''])),
      'packages/core/src/loose.ts': '',
      'packages/core/src/json/long.ts': functionOf(61),
      'packages/core/src/text/long.ts': functionOf(60),
      'packages/core/src/json/one.ts': 'export { same };\nconst same = 1;\n',
      'packages/core/src/text/two.ts': 'const other = 2;\nexport { other as same };\n',
    });
    expect(failed).toBe(true);
    expect(lines).toEqual([
      'packages/core/src/crowd has 21 files, more than 20.',
      'packages/core/src/loose.ts is at the root of core: move it into a folder.',
      '"long" is exported by more than one file: packages/core/src/json/long.ts, packages/core/src/text/long.ts.',
      '"same" is exported by more than one file: packages/core/src/json/one.ts, packages/core/src/text/two.ts.',
      'packages/core/src/json/long.ts:1 has a function of 61 lines, more than 60.',
    ]);
  });
});

describe('npm run lint', () => {
  it('fails on a file of 401 lines and on four parameters', async () => {
    const { failed, lines } = await check(LINT, {
      'packages/core/src/json/many.ts': exportsOf(401),
      'packages/core/src/json/fits.ts': exportsOf(400),
      'packages/core/src/json/four.ts':
        'export const four = (a: 1, b: 2, c: 3, d: 4): number => a + b + c + d;\n',
    });
    expect(failed).toBe(true);
    const found = lines.flatMap((line) => /(\w+\.ts):\d+:\d+ lint\/\w+\/(\w+)/.exec(line)?.slice(1) ?? []);
    expect(found).toEqual(['four.ts', 'useMaxParams', 'many.ts', 'noExcessiveLinesPerFile']);
  });
});

describe('npm run words', () => {
  it('fails on a word in a name, a text and a page', async () => {
    const { failed, lines } = await check(WORDS, {
      'packages/core/src/json/hub.ts': '',
      'packages/core/src/json/name.ts': 'export const serverHub = 1;\n',
      'packages/core/src/json/text.ts': "export const text = 'Upstream failed.';\n",
      'packages/core/src/json/template.ts':
        'export const text = (x: string) => `The backend\n${x} failed.`;\n',
      'docs/page.md': 'This name stands\ntwice.\n',
      'e2e/page.md': 'The upstream is slow.\n',
    });
    expect(failed).toBe(true);
    expect(lines).toEqual([
      'packages/core/src/json/hub.ts: the name hub has "hub" in it.',
      'packages/core/src/json/name.ts:1: the name serverHub has "hub" in it.',
      'packages/core/src/json/template.ts:1: the text has "backend" in it.',
      'packages/core/src/json/text.ts:1: the text has "upstream" in it.',
      'docs/page.md:1: the page has "stands twice" in it.',
      'e2e/page.md:1: the page has "upstream" in it.',
    ]);
  });
});
