import { ERRORS } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';
import { createPathBuilder } from '../../src/imports/client-paths.js';
import { CLIENTS } from '../../src/imports/index.js';
import { readText, rowsOf } from './repository.js';

const codeIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);

describe('the table of tools in docs/importing.md', () => {
  const head = ['name', 'tool', 'where its servers are, among others'];
  const rows = rowsOf(readText('docs/importing.md'), head);

  it('has every tool, in order of precedence', () => {
    expect(CLIENTS.length).toBeGreaterThan(0);
    expect(rows.map(([name = '', label]) => [...codeIn(name), label])).toEqual(
      CLIENTS.map(({ id, label }) => [id, label]),
    );
  });

  it.each(CLIENTS.map((client) => [client.id, client] as const))(
    'names existing file locations of %s',
    (id, client) => {
      const at = createPathBuilder({ platform: 'linux', home: '~', env: {}, cwd: '.' });
      const places = client.candidates(at).map(({ path, each }) => {
        if (each === undefined) return path;
        return 'ending' in each ? `${path}/*${each.ending}` : `${path}/*/${each.file}`;
      });
      const [, , named = ''] = rows.find(([name]) => name === `\`${id}\``) ?? [];
      const isReal = (shown: string): boolean =>
        shown.startsWith('…')
          ? places.some((place) => place.endsWith(shown.slice(1)))
          : places.includes(shown);
      expect(codeIn(named)).not.toEqual([]);
      expect(codeIn(named).filter((shown) => !isReal(shown))).toEqual([]);
    },
  );
});

describe('the table of sign-ins and sandboxes in docs/importing.md', () => {
  it('has the settings that each tool has a place for', () => {
    const head = ['name', '`auth` of type `oauth`', '`auth` of type `none`', '`sandbox`'];
    const rows = rowsOf(readText('docs/importing.md'), head);
    const stated = rows.map(([name = '', oauth = '', none, sandbox]) => [
      ...codeIn(name),
      codeIn(oauth).sort(),
      none,
      sandbox,
    ]);
    const actual = CLIENTS.filter(({ dialect }) => (dialect.oauth ?? dialect.sandbox) !== undefined).map(
      ({ id, dialect: { oauth, sandbox } }) => [
        id,
        [...new Set([...Object.keys(oauth?.keys ?? {}), ...(oauth?.port ? ['redirectUri'] : [])])].sort(),
        oauth?.off === undefined ? '' : 'yes',
        sandbox === undefined ? '' : 'yes',
      ],
    );
    expect(stated).toEqual(actual);
  });
});

describe('the table of exit codes in docs/command-line.md', () => {
  it('has the exit code of every error', () => {
    const rows = rowsOf(readText('docs/command-line.md'), ['exit', 'when']);
    const stated = rows.flatMap(([exit, when = '']) =>
      codeIn(when)
        .filter((word) => /^[A-Z_]+$/.test(word))
        .map((code) => [code, Number(exit)] as const),
    );
    const actual = Object.entries(ERRORS).map(([code, { exit }]) => [code, exit]);
    expect(Object.fromEntries(stated)).toEqual(Object.fromEntries(actual));
    expect(stated.length).toBe(actual.length);
  });
});
