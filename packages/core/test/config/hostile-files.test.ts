/** No file blocks other work, whatever it contains. Its faults are reported with their place. */
import { sampled, timeBound } from '@turnbuckle/testing';
import fc from 'fast-check';
import { TurnbuckleError } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import type { LayerScope } from '../../src/config/layers/layers.js';
import { readLayer } from '../../src/config/layers/read-layer.js';
import { interpolate } from '../../src/config/placeholders/interpolate.js';
import { HOSTILE_TEXTS } from './hostile-texts.js';
import { createSetting } from './setting.js';

const MAX_BYTES = 512 * 1_024;
/** The longest time that reading one file may block the event loop. */
const BLOCK_MS = 250;

/** The longest time that the work blocked the event loop. */
async function longestBlockMs(work: () => Promise<unknown>): Promise<number> {
  let worst = 0;
  let last = performance.now();
  let isOver = false;
  const tick = (): void => {
    const now = performance.now();
    worst = Math.max(worst, now - last);
    last = now;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  await work();
  isOver = true;
  return Math.max(worst, performance.now() - last);
}

function expectFaults(problems: readonly unknown[], file: string): void {
  for (const problem of problems) {
    expect(problem).toBeInstanceOf(TurnbuckleError);
    expect(problem).toMatchObject({ code: 'CONFIG_INVALID', data: { file, line: expect.any(Number) } });
  }
  expect(problems.length).toBeLessThanOrEqual(51);
}

describe.each(sampled(Object.entries(HOSTILE_TEXTS), 3))('a file of %s', (_what, make) => {
  it.each([MAX_BYTES, MAX_BYTES / 16])('of %d bytes is read in time as every layer', async (bytes) => {
    const { write, load, project, userFile, projectFile, localFile } = await createSetting();
    const text = make(bytes - 10);
    expect(text.length).toBeLessThanOrEqual(MAX_BYTES);
    const named = await write('named.json', text);
    const scopes: LayerScope[] = ['user', 'project', 'local', 'environment', 'flags', 'managed'];
    for (const scope of scopes) {
      const layer = { scope, file: named, required: true, directory: project };
      let problems: readonly unknown[] = [];
      const ms = await longestBlockMs(async () => {
        ({ problems } = await readLayer(layer));
      });
      expect(ms, scope).toBeLessThan(timeBound(BLOCK_MS));
      expectFaults(problems, named);
    }
    for (const file of [userFile, projectFile, localFile, `${project}/mcp-servers.json`]) {
      await write(file, text);
      const ms = await longestBlockMs(async () => {
        const { problems, servers } = await load({ trustProject: true });
        expectFaults(problems, file);
        for (const { problem } of servers.values())
          expect(problem === undefined || problem instanceof TurnbuckleError).toBe(true);
      });
      expect(ms, file).toBeLessThan(timeBound(BLOCK_MS));
      await write(file, '{}');
    }
  });
});

it('the first errors are reported, and the number of the rest', async () => {
  const { write, load } = await createSetting();
  const keys = Array.from({ length: 150 }, (_, index) => `"ke${index}": 1`).join(',\n');
  const file = await write('many.json', `{\n${keys}\n}`);
  const { problems } = await load({ files: [file] });
  expect(problems).toHaveLength(51);
  expect(problems[49]?.message).toBe(`${file}:51:1: ke49: unknown key "ke49".`);
  expect(problems[50]?.message).toBe(`${file}:1:1: 100 more errors in this file.`);
  const server = await write('server.json', `{ "servers": { "a": { "command": "x",\n${keys} } } }`);
  const { servers } = await load({ files: [server] });
  expect(servers.get('a')?.problem?.message).toMatch(/server\.json:2:1: .*; and 140 more\.$/);
});

it.each([
  [
    'servers',
    `{ "servers": { ${Array.from({ length: 501 }, (_, index) => `"s${index}": {"command":"x"}`)} } }`,
  ],
  ['keys', `{ ${Array.from({ length: 201 }, (_, index) => `"k${index}": 1`)} }`],
  ['placeholders', `{ "servers": { "a": { "command": "${'${A}'.repeat(5_001)}" } } }`],
  ['JSON tokens', `{ "servers": { "a": { "command": "x", "args": [${'1,'.repeat(40_000)}1] } } }`],
])('a managed file with too many %s allows nothing', async (word, text) => {
  const { write, project } = await createSetting();
  const file = await write('managed.json', text);
  const read = await readLayer({ scope: 'managed', file, required: true, directory: project });
  expect(read).toMatchObject({ known: false, unusable: true, servers: [] });
  expect(read.problems[0]?.message).toContain(`more than`);
  expect(read.problems[0]?.message).toContain(word);
});

it('too many rules count as one rule that asks for every call', async () => {
  const { write, load } = await createSetting();
  const rules = Array.from({ length: 2_001 }, () => ({ action: 'allow' }));
  const file = await write('rules.json', { rules });
  const config = await load({ files: [file] });
  expect(config.rules).toMatchObject([{ rule: { action: 'ask' } }]);
  expect(config.problems[0]?.message).toContain('more than 2000 rules');
});

it('placeholders may be nested ten deep, and no deeper', async () => {
  const nested = (depth: number): string => `${'${A:-'.repeat(depth)}x${'}'.repeat(depth)}`;
  const source = { environment: {}, workspaceFolder: '/', userHome: '/' };
  expect(await interpolate(nested(10), source, { server: 'a' })).toBe('x');
  await expect(interpolate(nested(11), source, { server: 'a' })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('${A:-'),
  });
});

const PIECES = [
  ...['{', '}', '[', ']', ',', ':', '"', '\\', '\n', ' ', '//', '/*', '*/', '${', '$${', '}', ':-', '\u0000'],
  ...[
    '"servers"',
    '"mcpServers"',
    '"rules"',
    '"daemon"',
    '"views"',
    '"command"',
    '"args"',
    '"env"',
    '"auth"',
  ],
  ...[
    '"inputs"',
    '"forbid"',
    '"a"',
    '"__proto__"',
    'null',
    'true',
    '1',
    '-',
    '1e999',
    '"${A:-${B}}"',
    'ü',
    '\u2028',
  ],
];

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: 'medium' },
    fc.constantFrom<unknown>(null, true, 1, -0, '', 'x', '${A}', '${A:-${B:-', 'allow', 'stdio', 'http://x'),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(
      fc.oneof(
        fc.constantFrom(...PIECES.flatMap((one) => (one.startsWith('"') ? [one.slice(1, -1)] : []))),
        fc.string(),
      ),
      tie('value'),
      { maxKeys: 8 },
    ),
  ),
})).value;

const texts = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 400 }).map((parts) => parts.join('')),
  json.map((value) => JSON.stringify(value)),
  fc
    .tuple(
      fc.constantFrom(...Object.values(HOSTILE_TEXTS)),
      fc.integer({ min: 400, max: 20_000 }),
      fc.nat(),
      fc.string(),
    )
    .map(([make, bytes, at, more]) => {
      const text = make(bytes);
      const place = at % text.length;
      return text.slice(0, place) + more + text.slice(place + more.length);
    }),
);

it('whatever a file holds, only faults with a place come of it', async () => {
  const { write, project } = await createSetting();
  const scopes = fc.constantFrom<LayerScope>('user', 'project', 'managed');
  const property = fc.asyncProperty(texts, scopes, async (text, scope) => {
    const file = await write('fuzzed.json', text);
    const began = performance.now();
    const { problems, servers } = await readLayer({ scope, file, required: true, directory: project });
    expect(performance.now() - began).toBeLessThan(timeBound(BLOCK_MS));
    expectFaults(problems, file);
    expect(servers.length).toBeLessThanOrEqual(1_000);
  });
  await fc.assert(property, { numRuns: 2_000, seed: 20_261_116 });
}, 120_000);
