import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { fixture } from '@turnbuckle/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { BIN, createHome, environmentOf, type Home, json, turnbuckle } from './turnbuckle.js';

let home: Home;
beforeAll(async () => {
  home = await createHome({ files: { command: 'x' }, fetch: { command: 'x' }, good: fixture('echo') });
  await home.write('bin/.keep', '');
  await symlink(BIN, home.file('bin/turnbuckle'));
});

const shell = (command: string, args: readonly string[]) =>
  spawnSync(command, args, {
    cwd: home.project,
    encoding: 'utf8',
    env: { ...environmentOf(home), PATH: `${home.file('bin')}:${process.env.PATH}`, TERM: 'xterm-256color' },
  });

const has = (command: string): boolean => spawnSync(command, ['--version']).error === undefined;

describe('completion', () => {
  const complete = (...words: string[]): string[] => {
    const script = `source <(turnbuckle completion bash)
      COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _turnbuckle; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return shell('bash', ['-c', script])
      .stdout.split('\n')
      .filter((line) => line !== '');
  };

  it('for bash is a script that bash takes, and completes commands and servers', async () => {
    const { code, stdout } = await turnbuckle(['completion', 'bash'], { home });
    expect(code).toBe(0);
    expect(spawnSync('bash', ['-n'], { input: stdout, encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
    expect(complete('turnbuckle', 'pr')).toEqual(['prompts', 'prompt']);
    expect(complete('turnbuckle', 'sta')).toEqual(['status']);
    expect(complete('turnbuckle', 'call', 'f')).toEqual(['files', 'fetch']);
    expect(complete('turnbuckle', 'schema', 'f')).toEqual([]);
  });

  it('never runs what a project calls its servers', async () => {
    const file = home.file('ran');
    await home.write('project/.turnbuckle/mcp.json', {
      servers: { [`$(touch ${file})`]: { command: 'x' }, [`\`touch ${file}\``]: { command: 'x' } },
    });
    expect(complete('turnbuckle', 'call', '')).toEqual(['files', 'fetch', 'good']);
    expect(existsSync(file)).toBe(false);
  });

  it('is there for zsh and fish, for nothing else, and as JSON', async () => {
    for (const name of ['zsh', 'fish'])
      expect((await turnbuckle(['completion', name], { home })).stdout).toContain('doctor');
    expect(await turnbuckle(['completion', 'cmd'], { home })).toMatchObject({
      code: 13,
      stderr: expect.stringContaining('bash, zsh and fish'),
    });
    expect(await json(['completion', 'fish'], { home })).toMatchObject({ shell: 'fish' });
  });
});

describe.skipIf(!has('script'))('in a terminal', () => {
  const inTerminal = (line: string): string => shell('script', ['-qec', line, '/dev/null']).stdout;

  it('there are colours, unless NO_COLOR or --json say otherwise', () => {
    expect(inTerminal('turnbuckle list good')).toContain('\u001b[32m●');
    expect(inTerminal('turnbuckle nope')).toContain('\u001b[31merror');
    expect(inTerminal('NO_COLOR=1 turnbuckle list good')).not.toContain('\u001b[32m');
    expect(inTerminal('turnbuckle list good --json')).not.toContain('\u001b');
  });

  it('a redirected stderr gets none', async () => {
    inTerminal('turnbuckle nope 2> errors.txt');
    expect(await home.read('project/errors.txt')).toMatch(/^error There is no command/);
  });
});
