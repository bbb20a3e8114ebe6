/** A state directory that cannot be created: every command reports it with the path; none hangs or reports an internal error. */
import { existsSync } from 'node:fs';
import { fixture } from '@turnbuckle/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Home, turnbuckle } from './turnbuckle.js';

let home: Home;
beforeAll(async () => {
  home = await createHome({ echo: fixture('echo') });
  await home.write('file', 'no directory');
  await home.write('project/.turnbuckle/mcp.json', { servers: { own: { command: 'x' } } });
});

const PLACES: ReadonlyArray<readonly [name: string, place: () => string | undefined]> = [
  ['below a file', () => home.file('file/state')],
  ['in /proc', () => (existsSync('/proc/self') ? '/proc/nope' : undefined)],
  ['deeper in /proc', () => (existsSync('/proc/self') ? '/proc/nope/deeper/state' : undefined)],
  ['in /sys', () => (existsSync('/sys/kernel') ? '/sys/nope' : undefined)],
];

const LINES: ReadonlyArray<readonly [line: string, code: number]> = [
  ['token create q', 24],
  ['token list', 24],
  ['serve --port 0', 10],
  ['serve start --port 0', 10],
  ['secrets set x', 24],
  ['trust --yes', 10],
  ['setup cursor --yes', 24],
  ['rules pin echo --yes', 10],
  ['rules deny agents echo add --yes', 0],
  ['rules', 0],
  ['list --no-connect', 0],
  ['call echo add a=1 b=2', 0],
];

it.skipIf(!existsSync('/proc/self')).each([
  [['export', '--to', 'cursor', '--file', '/proc/nope/a/mcp.json', '--yes'], 10],
  [['setup', 'cursor', '--file', '/proc/nope/a/mcp.json', '--yes'], 10],
])('turnbuckle %j reports that its file cannot be written, and does not hang', async (words, code) => {
  const finished = await turnbuckle(words, { home });
  expect([finished.code, finished.stderr]).toEqual([code, expect.stringContaining('/proc/nope')]);
  expect(finished.stderr).not.toContain('INTERNAL');
});

describe.each(PLACES)('a state directory %s', (_name, place) => {
  it.each(LINES)('turnbuckle %s', { timeout: 60_000 }, async (line, expected) => {
    const state = place();
    if (state === undefined) return;
    const { code, stderr } = await turnbuckle(line.split(' '), {
      home,
      stdin: 'a value',
      env: { TURNBUCKLE_STATE_DIR: state },
    });
    expect(stderr).not.toMatch(/INTERNAL|^ +at /m);
    expect([line, code, stderr]).toEqual([line, expected, expect.anything()]);
    if (expected !== 0) expect(stderr).toContain(state.startsWith('/proc') ? '/proc/nope' : state);
  });
});
