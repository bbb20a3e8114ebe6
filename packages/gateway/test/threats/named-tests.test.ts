/** The threat model names tests that exist, and every known attack has one. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const page = readFileSync(`${root}docs/threat-model.md`, 'utf8');
const PACKAGES = ['cli', 'gateway', 'steward', 'store'];
/** The publicly known attacks are numbered. */
const KNOWN = Array.from({ length: 60 }, (_, index) => `S${index + 1}`);
/** Attacks on parts that are not built yet: this list only ever gets shorter. */
const NOT_BUILT = ['S33', 'S34'];

/** The path of a test, from its name on the page. */
function placeOf(name: string): string {
  const [first = '', ...rest] = name.split('/');
  return (
    root +
    (PACKAGES.includes(first) ? `packages/${first}/test/${rest.join('/')}` : `packages/core/test/${name}`)
  );
}

/** The cells of the rows of tables, without their heads. */
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => /^\| (?:S|T)\d/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split(' | ')
        .map((cell) => cell.trim()),
    );
const pathsIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

const [tables = '', index = ''] = page.split('## By number');
const threats = rowsOf(tables).map(([ids = '', attack = '', , tests = '']) => ({
  ids: ids.split(', '),
  attack,
  tests: pathsIn(tests),
}));
const byNumber = rowsOf(index).map(([id = '', tests = '', title = '']) => ({
  id,
  tests: pathsIn(tests),
  title,
}));
const named = [...threats, ...byNumber].flatMap(({ tests }) => tests);

const hasTests = (path: string): boolean =>
  statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true }).some((file) => String(file).endsWith('.test.ts'))
    : path.endsWith('.test.ts');

describe('the page', () => {
  it('names only tests that exist', () => {
    expect(named.length).toBeGreaterThan(120);
    expect(named.filter((name) => !existsSync(placeOf(name)) || !hasTests(placeOf(name)))).toEqual([]);
  });

  it('names every test of this folder', () => {
    const own = readdirSync(new URL('.', import.meta.url)).filter((file) => file.endsWith('.test.ts'));
    const others = own.filter((file) => file !== 'named-tests.test.ts');
    expect(named).toEqual(expect.arrayContaining(others.map((file) => `gateway/threats/${file}`)));
  });

  it('has an id and a test in every row, unless the part is not built', () => {
    const lines = tables.split('\n').filter((line) => line.startsWith('| '));
    expect(lines.filter((line) => !/^\| (?:id |--|(?:S|T)\d+(?:, (?:S|T)\d+)* )/.test(line))).toEqual([]);
    const bare = threats.filter(
      ({ ids, tests }) => tests.length === 0 && !ids.every((id) => NOT_BUILT.includes(id)),
    );
    expect(bare.map(({ attack }) => attack)).toEqual(['the model inside the background sub-agent']);
  });
});

describe('the numbers', () => {
  it('are complete, unique, and the same as in the rows above', () => {
    const ids = byNumber.map(({ id }) => id);
    expect(ids.filter((id) => id.startsWith('S'))).toEqual(KNOWN);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(threats.flatMap((threat) => threat.ids))).toEqual(new Set(ids));
  });

  it('have a test, except for what is not built', () => {
    expect(byNumber.filter(({ tests }) => tests.length === 0).map(({ id }) => id)).toEqual(NOT_BUILT);
  });

  it.each(
    byNumber
      .filter(({ tests }) => tests.length > 0)
      .map(({ id, tests, title }) => [id, title, tests[0] ?? '']),
  )('%s: "%s" is a test of %s', (_id, title, test) => {
    expect(title.length).toBeGreaterThan(10);
    const source = readFileSync(placeOf(test), 'utf8');
    // At the beginning of a title: behind a quote, and not somewhere in the code.
    expect(["'", '"', '`'].some((quote) => source.includes(`${quote}${title}`))).toBe(true);
  });
});
