/** Names of earlier releases still work, print one warning each, and appear in no help text. */
import { fixture } from '@turnbuckle/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Home, json, turnbuckle } from './turnbuckle.js';

let home: Home;
beforeAll(async () => {
  home = await createHome({ echo: fixture('echo') });
});

const run = (...words: string[]) => turnbuckle(words, { home });

describe('turnbuckle log', () => {
  it('does what turnbuckle calls does, and warns on stderr', async () => {
    const [log, calls] = [await run('log', '--json'), await run('calls', '--json')];
    expect(log).toEqual({
      ...calls,
      stderr: 'warning The command "log" is deprecated. Use "turnbuckle calls" instead.\n',
    });
    expect(calls).toMatchObject({ code: 0, stdout: '[]\n', stderr: '' });
    expect((await run('help', 'log')).stdout).toBe((await run('calls', '--help')).stdout);
  });

  it('is not listed', async () => {
    expect((await run('--help')).stdout).not.toMatch(/^ {2}log /m);
    expect((await run('completion', 'bash')).stdout).not.toMatch(/\blog\b/);
    expect((await run('logs', '--help')).stdout).toContain('usage: turnbuckle logs <server>');
  });
});

describe('--can', () => {
  const test = (...flags: string[]) => run('rules', 'test', 'echo', 'add', '--caller', 'claude', ...flags);

  it.each([
    [
      ['--can', 'mcp:other'],
      ['--capability', 'mcp:other'],
    ],
    [
      ['--can', 'mcp:other', '--capability', 'mcp_echo'],
      ['--capability', 'mcp:other', '--capability', 'mcp_echo'],
    ],
  ])('%j means %j, and warns on stderr', async (old, current) => {
    const [before, now] = [await test(...old), await test(...current)];
    expect({ ...before, stderr: '' }).toEqual({ ...now, stderr: '' });
    expect(before.stderr).toBe(
      `warning The option --can is deprecated. Use --capability instead.\n${now.stderr}`,
    );
  });

  it('is not in the help of any command that takes it', async () => {
    for (const command of ['call', 'calls', 'rules', 'token']) {
      const { stdout } = await run(command, '--help');
      expect(stdout).toContain('--capability <capability>');
      expect(stdout).not.toMatch(/--can\b/);
    }
  });
});

it('token create accepts the access look and manage, and stores read and admin', async () => {
  const { code, stderr } = await run('token', 'create', 'old', '--access', 'look, manage');
  expect(code).toBe(0);
  expect(stderr).toContain('warning "look" access is deprecated. Use "read" instead.\n');
  expect(stderr).toContain('warning "manage" access is deprecated. Use "admin" instead.\n');
  expect(await home.read('state/tokens.json')).not.toMatch(/look|manage/);
  expect(await json(['token', 'list'], { home })).toMatchObject([
    { name: 'old', access: ['read', 'admin'] },
    { name: 'owner', access: ['call', 'read', 'admin'] },
  ]);
});
