import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { COMMANDS } from '../../src/commands.js';
import { VERSION } from '../../src/version.js';
import { createHome, type Home, turnbuckle } from './turnbuckle.js';

let home: Home;
beforeAll(async () => {
  home = await createHome();
});

it('shows every command without arguments, with help and with --help', async () => {
  const [bare, help, flag] = await Promise.all(
    [[], ['help'], ['--help']].map((words) => turnbuckle(words, { home })),
  );
  expect(bare).toMatchObject({ code: 0, stderr: '' });
  expect(help?.stdout).toBe(bare?.stdout);
  expect(flag?.stdout).toBe(bare?.stdout);
  for (const { name } of COMMANDS) expect(bare?.stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
});

it('prints the version of its package', async () => {
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  expect(JSON.parse(manifest)).toMatchObject({ version: VERSION });
  for (const words of [['--version'], ['-V'], ['version']])
    expect((await turnbuckle(words, { home })).stdout).toBe(`${VERSION}\n`);
});

it('accepts global options, long and short, before the command', async () => {
  const stated = await createHome({});
  const run = (...words: string[]) => turnbuckle(words, { home: stated });
  for (const words of [
    ['-v', 'list', '--json'],
    ['--json', '-v', 'list'],
    ['-v', '--json', '--no-daemon', 'ls'],
  ])
    expect(await run(...words), words.join(' ')).toMatchObject({ code: 0, stdout: '[]\n' });
  expect((await run('--json', '--version')).stdout).toBe(`${VERSION}\n`);
  expect((await run('-v', '--help')).stdout).toBe((await run('--help')).stdout);
  expect((await run('-v', 'list', '-h')).stdout).toContain('usage: turnbuckle list');
  expect((await run('-v', '--frob', 'list')).stderr).toContain('Unknown option "--frob".');
  const { code, stdout } = await run('--json', 'frobnicate');
  expect([code, JSON.parse(stdout).error.code]).toEqual([2, 'USAGE']);
});

it('shows examples with an explanation for each command, without colours in a pipe', async () => {
  const pages = await Promise.all(
    COMMANDS.map(async (command) => ({
      command,
      page: await turnbuckle([command.name, '--help'], { home }),
    })),
  );
  for (const { command, page } of pages) {
    expect(page).toMatchObject({ code: 0, stderr: '' });
    expect(page.stdout).toContain(`usage: turnbuckle ${command.name}`);
    expect(page.stdout).not.toContain('\u001b');
    for (const { line, what } of command.examples) {
      expect(page.stdout).toContain(line);
      expect(what, line).not.toBe('');
    }
  }
});

it.each([
  [['lst'], 'Unknown command "lst".', 'turnbuckle list'],
  [['pign'], 'Unknown command "pign".', 'turnbuckle ping'],
  [['help', 'nope'], 'Unknown command "nope".', 'turnbuckle --help'],
  [['--frob'], 'Unknown option "--frob".', 'turnbuckle --help'],
  [['list', '--frob'], "Unknown option '--frob'.", 'turnbuckle list --help'],
  [['list', '--jsn'], "Unknown option '--jsn'.", 'Did you mean --json?'],
  [['add', 'x', '--forse', 'y'], "Unknown option '--forse'.", 'Did you mean --force?'],
  [['add', 'x', 'npx', '-y', 'pkg'], "Unknown option '-y'.", 'turnbuckle add <name> -- <command>'],
  [['call', 'a', 'b', '--timeout'], "Option '--timeout <value>' argument missing.", 'turnbuckle call --help'],
])('%j is a usage error with a next step', async (words, message, hint) => {
  const { code, stdout, stderr } = await turnbuckle(words, { home });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).toContain(hint);
});

it.each([
  ['call', []],
  ['read', ['x']],
  ['prompt', ['x']],
  ['ping', []],
  ['logs', []],
  ['add', []],
  ['add', ['x']],
  ['remove', []],
  ['enable', []],
  ['disable', []],
  ['completion', []],
  ['export', []],
])('%s %j reports the missing argument and how to write it', async (command, words) => {
  const { code, stderr, stdout } = await turnbuckle([command, ...words, '--json'], { home });
  expect(code).toBe(13);
  expect(stderr).toMatch(/Missing/);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: 'ARGUMENTS_INVALID', hint: expect.stringMatching(/turnbuckle|Available clients/) },
  });
});

it.each([
  [['schema', 'x'], 'Unexpected argument "x".'],
  [['token', 'list', 'x'], 'Unexpected argument "x".'],
  [['token', 'revoke', 'x', 'y'], 'Unexpected argument "y".'],
  [['serve', 'foo'], 'Unknown subcommand "foo".'],
])('%j is refused as a wrong argument', async (words, message) => {
  const { code, stdout, stderr } = await turnbuckle(words, { home });
  expect({ code, stdout }).toEqual({ code: 13, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).toMatch(/ {6}(usage: turnbuckle|Did you mean)/);
});

it('accepts global options with values before the command', async () => {
  const { code, stdout } = await turnbuckle(
    ['--json', '--mcp-server', 'x=https://example.invalid', 'config'],
    {
      home,
    },
  );
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ servers: [{ name: 'x' }] });
});

it('of a command without examples ends with its options', async () => {
  const { stdout } = await turnbuckle(['demo-server', '--help'], { home });
  expect(stdout).toContain('Global options:');
  expect(stdout).not.toContain('Examples:');
});
