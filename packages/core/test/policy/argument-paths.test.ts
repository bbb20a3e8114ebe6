/** An ask or deny rule for a path matches every spelling of it, including the directory itself and the file URL. */
import { describe, expect, it } from 'vitest';
import type { ArgumentPattern } from '../../src/config/schema/rule-schema.js';
import { strictTest, wideTest } from '../../src/policy/argument-pattern.js';
import { DecisionBudget } from '../../src/policy/decision-budget.js';

const isMatch = (pattern: ArgumentPattern, value: unknown): boolean =>
  wideTest(pattern)(value, new DecisionBudget());

/** Spellings of a path. */
const spellings = (path: string): readonly string[] => {
  const [first = ''] = path.slice(1);
  const coded = `/%${first.charCodeAt(0).toString(16)}${path.slice(2)}`;
  const plain = [path, `//${path.slice(1)}`, `/x/..${path}`, `/.${path}`, `${path}/.`, `${path}/x/..`];
  const schemes = [
    'file:',
    'file://',
    'File:',
    'FILE://',
    'file://localhost',
    'file://LOCALHOST.',
    ' file:',
    'fi\tle:',
  ];
  return [
    ...plain,
    coded,
    `/x\\..${path.replaceAll('/', '\\')}`,
    ...schemes.flatMap((scheme) => [...plain, coded].map((one) => scheme + one)),
    `file:${path.slice(1)}`,
    `file:${path.replaceAll('/', '\\')}`,
    `file://elsewhere${path}`,
  ];
};

describe.each(['/etc/**', '/etc/*', 'file:///etc/**', 'FILE:/etc/**', '/e?c/**', '/*tc/**'])(
  '%s',
  (pattern) => {
    it.each(['/etc', '/etc/', '/etc/passwd', '/etc/ssl/private'].flatMap(spellings))(
      'matches %j',
      (value) => {
        expect(isMatch(pattern, value)).toBe(true);
        expect(isMatch({ glob: pattern }, { deep: [value] })).toBe(true);
      },
    );
  },
);

it.each(['/etc/**', '/etc/*', 'file:///etc/**'])('%s takes nothing else', (pattern) => {
  for (const value of [
    ...[
      '',
      '/',
      'etc',
      '/etcetera',
      '/home/etc',
      '/home/x',
      'file:///home/etc/x',
      'file:/etcetera',
      '.',
      7,
      true,
    ],
    ...['https://example.com/etc/passwd', 'x:/etc/passwd', 'mailto:etc@example.com', 'about /etc/passwd'],
  ])
    expect([value, isMatch(pattern, value)]).toEqual([value, false]);
});

it.each([
  ['**/*', 'plain'],
  ['*/**', 'plain'],
  ['/**', ''],
  ['?/**', 'x'],
])('%s does not match %j, which has no directory', (pattern, value) => {
  expect(isMatch(pattern, value)).toBe(false);
});

it.each<[pattern: ArgumentPattern, value: string]>([
  [{ equals: '/etc/passwd' }, 'file:/etc/passwd'],
  [{ oneOf: ['/x', '/etc/passwd'] }, 'FILE:/x/../etc/passwd'],
  [{ startsWith: '/etc/' }, 'file:/etc/passwd'],
  ['C:/Windows/**', 'file:///C:/Windows/System32'],
  ['C:/Windows/**', 'file:///C|/Windows/System32'],
  ['**/.ssh/**', '/home/ada/.ssh'],
  ['src/**', 'src'],
  ['/home/*/**', '/home/ada'],
])('%j matches %s', (pattern, value) => {
  expect(isMatch(pattern, value)).toBe(true);
});

it('an allow rule matches only the exact spelling', () => {
  const test = strictTest('/data/**');
  for (const value of ['/data', 'file:/data/a', 'file:///data/a', '/x/../data/a'])
    expect(test(value, new DecisionBudget())).toBe(false);
  expect(test('/data/a', new DecisionBudget())).toBe(true);
});
