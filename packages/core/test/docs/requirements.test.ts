/** Every promise has a test: a requirement is cited, the threat model names the tests of a threat, an error code is used. */
import { describe, expect, it } from 'vitest';
import { REQUIREMENTS } from '../../../../e2e/requirements.js';
import { ERRORS } from '../../src/errors.js';
import { listFiles, readText } from './repository.js';

/** Requirements and threats both use the ids T1, T2 …: only requirements are cited this way. */
const CITATION = /^\s*\/\/ requirement ([A-Z]\d+(?:, [A-Z]\d+)*)$/gm;
const ANY_CITATION = /(?:\/\/|\*) *requirements?\b.*$/gim;

const tests = ['packages', 'e2e']
  .flatMap((directory) => listFiles(directory, /\.ts$/))
  .filter((file) => /^packages\/[^/]+\/test\/|^e2e\/.*\.test\.ts$/.test(file))
  .filter((file) => !file.endsWith('docs/requirements.test.ts'))
  .map((file) => ({ file, text: readText(file) }));
const cited = tests.flatMap(({ file, text }) =>
  [...text.matchAll(CITATION)].flatMap(([, ids = '']) => ids.split(', ').map((id) => ({ id, file }))),
);
const citedIds = new Set(cited.map(({ id }) => id));

describe('a requirement', () => {
  it('has an id of its own', () => {
    expect(tests.length).toBeGreaterThan(300);
    const ids = REQUIREMENTS.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('that is built is cited by a test', () => {
    const built = REQUIREMENTS.filter(({ planned }) => planned !== true);
    expect(built.filter(({ id }) => !citedIds.has(id))).toEqual([]);
  });

  it('that is planned is cited by no test: remove the mark when it is built', () => {
    const planned = new Set(REQUIREMENTS.filter((one) => one.planned === true).map(({ id }) => id));
    expect(cited.filter(({ id }) => planned.has(id))).toEqual([]);
  });

  it('that is cited exists', () => {
    const known = new Set(REQUIREMENTS.map(({ id }) => id));
    expect(cited.filter(({ id }) => !known.has(id))).toEqual([]);
  });

  it('is cited in the form that this test recognizes', () => {
    const others = tests.flatMap(({ file, text }) =>
      [...text.matchAll(ANY_CITATION)]
        .map(([line]) => line)
        .filter((line) => [...line.matchAll(CITATION)].length === 0)
        .map((line) => ({ file, line })),
    );
    expect(others).toEqual([]);
  });
});

describe('a threat', () => {
  it('has a test, or is marked as not built', () => {
    const [, index = ''] = readText('docs/threat-model.md').split('## By number');
    const rows = [...index.matchAll(/^\| ([ST]\d+) +\| (.*?) +\| (.*?) +\|$/gm)];
    expect(rows.length).toBeGreaterThan(100);
    const untested = rows.filter(([, , test = '']) => !test.includes('.test.ts')).map(([, id]) => id);
    // These belong to planned parts: see the requirements E and L.
    expect(untested).toEqual(['S33', 'S34']);
  });
});

describe('an error code', () => {
  it.each(Object.keys(ERRORS))('%s is expected by a test', (code) => {
    const quoted = new RegExp(`['"\`]${code}['"\`]`);
    expect(tests.some(({ text }) => quoted.test(text))).toBe(true);
  });
});
