/** The validator checks every entry of a configuration, so entries are counted before. */
import { readFileSync, writeFileSync } from 'node:fs';
import { temporaryDirectory, timeBound } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { editServers } from '../../src/config/edit/config-editor.js';
import { parseServer } from '../../src/config/layers/parse.js';
import { MAX_FILE_BYTES, MAX_SERVERS } from '../../src/config/schema/file-limits.js';
import { FILE_SCHEMAS } from '../../src/config/schema/file-schema.js';
import { jsonSchema } from '../../src/config/schema/json-schema.js';
import { ADJUSTMENT_SCHEMA, SERVER_SCHEMAS } from '../../src/config/schema/schema.js';

interface Definition {
  readonly type: string;
  readonly in?: Part;
  readonly out?: Part;
  readonly element?: Part;
  readonly valueType?: Part;
  readonly innerType?: Part;
  readonly options?: readonly Part[];
  readonly shape?: Readonly<Record<string, Part>>;
}
interface Part {
  readonly _zod: { readonly def: Definition };
}

/** The maps and lists in a schema that are not counted first. */
function uncounted({ _zod: { def } }: Part, path: string, isCounted = false): string[] {
  const inner = [def.element, def.valueType, def.innerType, ...(def.options ?? [])].filter(
    (one) => one !== undefined,
  );
  const isCollection = def.type === 'array' || def.type === 'record';
  return [
    ...(isCollection && !isCounted ? [path] : []),
    ...(def.type === 'pipe' && def.out ? uncounted(def.out, path, def.in?._zod.def.type === 'custom') : []),
    ...inner.flatMap((part) => uncounted(part, `${path}${isCollection ? '[]' : ''}`)),
    ...Object.entries(def.shape ?? {}).flatMap(([key, part]) => uncounted(part, `${path}.${key}`)),
  ];
}

it('there is no map and no list in any schema that is not counted first', () => {
  const all = { ...SERVER_SCHEMAS, ...FILE_SCHEMAS, adjustment: ADJUSTMENT_SCHEMA };
  expect(Object.entries(all).flatMap(([name, schema]) => uncounted(schema as unknown as Part, name))).toEqual(
    [],
  );
});

const NAMES = Array.from({ length: 100_000 }, (_, index) => `A${index}`);
const map = (value: unknown) => Object.fromEntries(NAMES.map((name) => [name, value]));
const url = 'http://127.0.0.1:1/';
const ENTRIES: Readonly<Record<string, object>> = {
  env: { command: 'node', env: map('x') },
  'env, with values of a wrong type': { command: 'node', env: map(7) },
  args: { command: 'node', args: NAMES },
  inheritEnv: { command: 'node', inheritEnv: NAMES },
  labels: { command: 'node', labels: map(['private']) },
  'sandbox.read': { command: 'node', sandbox: { read: NAMES } },
  requires: { command: 'node', requires: NAMES },
  includeTools: { command: 'node', includeTools: NAMES },
  excludeTools: { command: 'node', excludeTools: NAMES },
  mayAsk: { command: 'node', mayAsk: NAMES },
  headers: { url, headers: map('x') },
  'auth.scopes': { url, auth: { type: 'oauth', scopes: NAMES } },
};

it.each(Object.entries(ENTRIES))('100,000 entries are rejected by their number: %s', (_what, entry) => {
  const from = performance.now();
  expect(() => parseServer('a', entry)).toThrow(/100000 entries \(maximum \d+\)/);
  expect(performance.now() - from).toBeLessThan(timeBound(250));
});

it('the maximum number of entries is accepted, and part of the JSON Schema', () => {
  const env = Object.fromEntries(NAMES.slice(0, 1_000).map((name) => [name, 'x']));
  expect(parseServer('a', { command: 'node', env, args: NAMES.slice(0, 1_000) })).toMatchObject({ env });
  expect(() => parseServer('a', { command: 'node', env: { ...env, more: 'x' } })).toThrow(
    '1001 entries (maximum 1000)',
  );
  const text = JSON.stringify(jsonSchema());
  expect(text).toContain('"env":{"default":{},"type":"object","propertyNames"');
  expect(text).toContain('"maxItems":1000');
});

it('an edit does not make a file too large to be read', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const file = directory.file('mcp.json');
  const before = `{ "servers": { "a": { "command": "a" } } } // ${'x'.repeat(MAX_FILE_BYTES - 100)}`;
  const add = (count: number, entry: object) =>
    editServers(
      file,
      Array.from(
        { length: count },
        (_, index) => ({ action: 'add', name: `b${index}`, config: { command: 'b', ...entry } }) as const,
      ),
    );
  const cases: ReadonlyArray<readonly [before: string, adding: () => Promise<boolean>, why: RegExp]> = [
    [
      before,
      () => add(1, { description: 'y'.repeat(200) }),
      /the file would have \d+ bytes \(maximum 524288\)/,
    ],
    ['', () => add(1, { args: Array(20).fill('x'.repeat(32_000)) }), /more than \d+ characters/],
    ['', () => add(40, { args: Array(900).fill('a') }), /more than 60000 JSON tokens/],
    ['', () => add(MAX_SERVERS + 1, {}), /501 servers \(maximum 500\)/],
  ];
  for (const [text, adding, why] of cases) {
    writeFileSync(file, text);
    await expect(adding()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(why),
    });
    expect(readFileSync(file, 'utf8')).toBe(text);
  }
  // A file that is already too large may be made smaller, even if it is still too large.
  const large = `{ "servers": { "a": { "command": "a" } } } // ${'x'.repeat(MAX_FILE_BYTES)}`;
  writeFileSync(file, large);
  expect(await editServers(file, [{ action: 'remove', name: 'a' }])).toBe(true);
});
