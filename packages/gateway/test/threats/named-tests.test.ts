/** The list of threats names tests: they are there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const page = readFileSync(`${root}docs/threat-model.md`, 'utf8');

/** Where a test lies, by the name that the page gives it. */
function placeOf(name: string): string {
  const [first = '', ...rest] = name.split('/');
  const isNamed = first === 'cli' || first === 'gateway';
  return isNamed ? `packages/${first}/test/${rest.join('/')}` : `packages/core/test/${name}`;
}

const named = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| -'))
  .flatMap((line) => [...(line.split('|').at(-2) ?? '').matchAll(/`([^`]+)`/g)])
  .map(([, name = '']) => name);

it('every test that the page names is there', () => {
  expect(named.length).toBeGreaterThan(80);
  expect(named.filter((name) => !existsSync(root + placeOf(name)))).toEqual([]);
});

it('every test of this folder is named there', () => {
  const own = readdirSync(new URL('.', import.meta.url)).filter((file) => file.endsWith('.test.ts'));
  const others = own.filter((file) => file !== 'named-tests.test.ts');
  expect(named).toEqual(expect.arrayContaining(others.map((file) => `gateway/threats/${file}`)));
});
