/** Hostile files of other tools: reading them takes bounded time, and at worst reports a problem. */
import { execFileSync } from 'node:child_process';
import { temporaryDirectory, timeBound } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { HOSTILE_TEXTS } from '../../../core/test/config/hostile-texts.js';
import { CLIENTS, readClientConfig, readUnknownConfig } from '../../src/imports/index.js';
import { readDiscovered } from '../../src/imports/read-discovered.js';

const BYTES = 128 * 1_024;
const times = (piece: string): string => piece.repeat(Math.floor(BYTES / piece.length));

const OTHER_TEXTS: Readonly<Record<string, string>> = {
  'yaml: anchors': `a: &a [x]\n${Array.from({ length: 2_000 }, (_, index) => `b${index}: *a`).join('\n')}`,
  'yaml: lists of lists': times('- '),
  'yaml: keys': Array.from({ length: 8_000 }, (_, index) => `k${index}: 1`).join('\n'),
  'yaml: servers': `mcpServers:\n${Array.from({ length: 4_000 }, (_, index) => `  s${index}:\n    command: x`).join('\n')}`,
  'yaml: quotes': times("'"),
  'toml: tables': Array.from({ length: 6_000 }, (_, index) => `[mcp_servers.s${index}]`).join('\n'),
  'toml: deep keys': `${times('a.')}a = 1`,
  'toml: arrays': `a = [${times('1,')}]`,
  'toml: text': `a = """${times('"" ')}`,
};

/** One client for each file format. */
const readers = [...new Map(CLIENTS.map((client) => [client.format, client])).values()];

it.each(readers.map((client) => [client.format, client] as const))(
  'hostile texts are read in bounded time in the format %s',
  (_format, { id }) => {
    const texts = {
      ...Object.fromEntries(Object.entries(HOSTILE_TEXTS).map(([what, make]) => [what, make(BYTES)])),
      ...OTHER_TEXTS,
    };
    for (const [what, text] of Object.entries(texts)) {
      const began = performance.now();
      const { servers, problems } = readClientConfig(id, text, { file: 'file' });
      expect(Array.isArray(servers) && Array.isArray(problems), what).toBe(true);
      expect(performance.now() - began, what).toBeLessThan(timeBound(2_000));
    }
  },
  300_000,
);

it('hostile texts of an unknown tool are read in bounded time', () => {
  for (const [what, text] of Object.entries({ ...OTHER_TEXTS })) {
    const began = performance.now();
    readUnknownConfig(text, { file: 'file' });
    expect(performance.now() - began, what).toBeLessThan(timeBound(4_000));
  }
}, 120_000);

it.skipIf(process.platform === 'win32')('does not block on a named pipe in place of a file', async () => {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const path = home.file('mcp.json');
  execFileSync('mkfifo', [path]);
  const result = readDiscovered({ client: 'cursor', path, scope: 'project' } as never);
  expect(result).toMatchObject({ servers: [], problems: ['it is not a regular file'] });
});
