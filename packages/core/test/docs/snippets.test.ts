import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listFiles, readText, root } from './repository.js';
import { countMarks, findSnippets, type Snippet } from './snippets.js';

const GUIDES = ['quickstart', 'calling-tools', 'transports', 'lifecycle', 'errors', 'security'];
const pages = ['README.md', ...listFiles('docs', /\.md$/)];
const snippets = pages.flatMap((page) => findSnippets(page, readText(page)));
const run = promisify(execFile);

// Inside node_modules, so that `turnbuckle` and `@turnbuckle/testing` resolve as they do for a user.
const cache = join(root, 'node_modules', '.cache');
let directory = '';

beforeAll(async () => {
  await mkdir(cache, { recursive: true });
  directory = await mkdtemp(join(cache, 'doc-snippets-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

/** Runs the block as a module in a separate process, on the built packages; returns its output. */
async function runSnippet({ page, line, language, code }: Snippet): Promise<string> {
  const file = join(directory, `${page.replace(/\W/g, '-')}-${line}.mjs`);
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  await writeFile(
    file,
    language === 'ts' ? ts.transpileModule(code, { compilerOptions: options }).outputText : code,
  );
  const home = join(directory, 'home');
  const env = { PATH: process.env.PATH, HOME: home, XDG_STATE_HOME: join(home, 'state'), NO_COLOR: '1' };
  const { stdout } = await run(process.execPath, [file], { env, cwd: directory, timeout: 20_000 });
  return stdout;
}

/** Lines without trailing white space, which editors remove. */
const toLines = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd());

describe('the code in the documentation', () => {
  it('exists in every guide', () => {
    expect(snippets.length).toBeGreaterThan(0);
    const without = GUIDES.filter((guide) => !snippets.some(({ page }) => page === `docs/${guide}.md`));
    expect(without).toEqual([]);
    expect(snippets.some(({ page }) => page === 'README.md')).toBe(true);
  });

  it('has no mark without a block', () => {
    for (const page of pages) {
      const found = findSnippets(page, readText(page));
      const withOutput = found.filter(({ output }) => output !== undefined).length;
      expect({ page, ...countMarks(readText(page)) }).toEqual({
        page,
        run: found.length,
        output: withOutput,
      });
    }
  });

  it.each(snippets.map((snippet) => [`${snippet.page}:${snippet.line}`, snippet] as const))(
    'runs: %s',
    async (_, snippet) => {
      const printed = await runSnippet(snippet);
      if (snippet.output !== undefined) expect(toLines(printed)).toEqual(toLines(snippet.output));
    },
  );

  it('reports a block that throws', async () => {
    const broken: Snippet = {
      page: 'made-up.md',
      line: 1,
      language: 'ts',
      code: 'const answer: string = "no answer";\nthrow new Error(answer);\n',
      output: undefined,
    };
    await expect(runSnippet(broken)).rejects.toThrow('no answer');
  });
});

describe('the quickstart example', () => {
  it('is the code in the guide', () => {
    const shown = readText('docs/quickstart.md');
    expect(shown).toContain(readText('examples/quickstart/quickstart.mjs').trimEnd());
  });
});
