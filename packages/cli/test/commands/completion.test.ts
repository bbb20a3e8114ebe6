import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { BIN, createHome, environmentOf, type Home, json, turnbuckle } from './turnbuckle.js';

let home: Home;
beforeAll(async () => {
  home = await createHome({ files: { command: 'x' }, fetch: { command: 'x' }, good: { command: 'x' } });
  await home.write('bin/.keep', '');
  await symlink(BIN, home.file('bin/turnbuckle'));
});

const shell = (command: string, ...args: string[]) =>
  spawnSync(command, args, {
    cwd: home.project,
    encoding: 'utf8',
    env: { ...environmentOf(home), PATH: `${home.file('bin')}:${process.env.PATH}`, TERM: 'xterm-256color' },
  });
const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');
const has = (command: string): boolean => spawnSync(command, ['--version']).error === undefined;
const titleOf = (command: string): string => `${command}${has(command) ? '' : ' (skipped: not installed)'}`;

describe('the script', () => {
  for (const [name, ...check] of [
    ['bash', '-n'],
    ['zsh', '-n'],
    ['fish', '--no-execute'],
  ] as const)
    it.skipIf(!has(name))(`is valid in its shell: ${titleOf(name)}`, async () => {
      const { code, stdout, stderr } = await turnbuckle(['completion', name], { home });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('doctor');
      const file = await home.write(`completion.${name}`, stdout);
      expect(shell(name, ...check, file)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    });

  it('does not exist for other shells, and is available as JSON', async () => {
    expect(await turnbuckle(['completion', 'cmd'], { home })).toMatchObject({
      code: 13,
      stderr: expect.stringContaining('bash, zsh and fish'),
    });
    expect(await json(['completion', 'fish'], { home })).toMatchObject({ shell: 'fish' });
  });
});

describe.skipIf(!has('bash'))(titleOf('bash'), () => {
  const complete = (...words: string[]): string[] => {
    const script = `source <(turnbuckle completion bash)
      COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _turnbuckle; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return linesOf(shell('bash', '-c', script).stdout);
  };

  it('completes commands, and servers where a command takes one', () => {
    expect(complete('turnbuckle', 'pr')).toEqual(['prompts', 'prompt']);
    expect(complete('turnbuckle', 'sta')).toEqual(['status', 'stats']);
    expect(complete('turnbuckle', 'call', 'f')).toEqual(['files', 'fetch']);
    expect(complete('tbk', 'rm', 'g')).toEqual(['good']);
    expect(complete('turnbuckle', 'schema', 'f')).toEqual([]);
    expect(complete('turnbuckle', 'add', 'f')).toEqual([]);
  });

  it('never runs the server names of a project', async () => {
    const file = home.file('ran');
    await home.write('project/.turnbuckle/mcp.json', {
      servers: { [`$(touch ${file})`]: { command: 'x' }, [`\`touch ${file}\``]: { command: 'x' } },
    });
    expect(complete('turnbuckle', 'call', '')).toEqual(['files', 'fetch', 'good']);
    expect(existsSync(file)).toBe(false);
  });
});

describe.skipIf(!has('fish'))(titleOf('fish'), () => {
  const complete = (line: string): string[] => {
    const { stdout } = shell('fish', '-c', `turnbuckle completion fish | source; complete -C '${line}'`);
    return linesOf(stdout).map((found) => found.split('\t')[0] ?? '');
  };

  it('completes commands, and servers where a command takes one', () => {
    expect(complete('turnbuckle pro')).toEqual(['prompt', 'prompts']);
    expect(complete('turnbuckle call f')).toEqual(['fetch', 'files']);
    expect(complete('tbk ping g')).toEqual(['good']);
    expect(complete('turnbuckle call files f')).toEqual([]);
    expect(complete('turnbuckle schema ')).toEqual([]);
  });
});
