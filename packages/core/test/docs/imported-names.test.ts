import * as turnbuckle from 'turnbuckle';
import * as host from 'turnbuckle/host';
import * as light from 'turnbuckle/light';
import { expect, it } from 'vitest';
import { listFiles, readText } from './repository.js';

const ENTRIES: ReadonlyMap<string, object> = new Map<string, object>([
  ['turnbuckle', turnbuckle],
  ['turnbuckle/host', host],
  ['turnbuckle/light', light],
]);
const IMPORT =
  /(?:import\s*\{(?<names>[^}]*)\}\s*from\s*|\{(?<late>[^{}]*)\}\s*=\s*await\s+import\(\s*)'(?<from>turnbuckle(?:\/\w+)?)'/g;

/** Nothing checks the types of plain JavaScript: a missing name would show up only when the file runs. */
it('every name that a plain JavaScript file imports from the library exists', () => {
  const files = ['bench', 'e2e', 'examples', 'scripts', 'testing', 'packages'].flatMap((directory) =>
    listFiles(directory, /\.mjs$/),
  );
  const imported = files.flatMap((file) =>
    [...readText(file).matchAll(IMPORT)].flatMap(({ groups }) =>
      (groups?.names ?? groups?.late ?? '')
        .split(',')
        .map((name) => name.trim().split(/[\s:]/)[0] ?? '')
        .filter((name) => name !== '')
        .map((name) => ({ file, name, from: groups?.from ?? '' })),
    ),
  );
  expect(imported.length).toBeGreaterThan(10);
  const isMissing = ({ name, from }: { readonly name: string; readonly from: string }): boolean =>
    !Object.hasOwn(ENTRIES.get(from) ?? {}, name);
  expect(imported.filter(isMissing)).toEqual([]);
});
