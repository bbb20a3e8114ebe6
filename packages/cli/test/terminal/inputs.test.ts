import { fixture } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { createHome, type Home, json, turnbuckle } from '../commands/turnbuckle.js';
import { HAS_TERMINAL, KEYS, NEEDS_TERMINAL, openTerminal } from './terminal.js';

const INPUTS = [
  { id: 'who', type: 'promptString', description: 'Your \u001b[31mname', default: 'Ada' },
  { id: 'word', type: 'promptString', description: 'The password', password: true },
  { id: 'size', type: 'pickString', description: 'Which size', options: ['small', 'large'] },
];

/** A server that writes its variables to a file first. */
function serverThatSaves(file: string, env: Readonly<Record<string, string>>) {
  const { command, args } = fixture('echo');
  const names = Object.keys(env);
  const print = `printf '%s|' ${names.map((name) => `"$${name}"`).join(' ')} > "$0"`;
  return { command: 'sh', args: ['-c', `${print}; exec "$@"`, file, command, ...args], env };
}

let home: Home;
beforeEach(async () => {
  home = await createHome();
  const first = serverThatSaves(home.file('first'), {
    WHO: '${input:who}',
    WORD: '${input:word}',
    SIZE: '${input:size}',
  });
  const second = serverThatSaves(home.file('second'), { WHO: '${input:who}', MORE: '${input:more}' });
  await home.write('.config/turnbuckle/mcp.json', { inputs: INPUTS, servers: { first, second } });
});

describe.skipIf(!HAS_TERMINAL)(`\${input:…}${NEEDS_TERMINAL}`, () => {
  it('is asked for: one question after the other, and a password is not shown', async () => {
    const terminal = openTerminal(['call', 'first', 'echo', 'text=over'], { home });
    await terminal.see('Your \\u{1b}[31mname');
    expect(terminal.text()).not.toContain('The password');
    terminal.press(' L', KEYS.enter);
    await terminal.see('The password');
    terminal.press('open sesame', KEYS.enter);
    await terminal.see('Which size');
    terminal.press(KEYS.down, KEYS.enter);
    await terminal.see('over');
    expect(await terminal.ended).toBe(0);
    expect(await home.read('first')).toBe('Ada L|open sesame|large|');
    expect(terminal.raw()).not.toContain('sesame');
    expect(terminal.raw()).not.toContain('\u001b[31mname');
  });

  it('is asked for once, however many servers need it', async () => {
    const terminal = openTerminal(['list'], { home });
    await terminal.see('name');
    terminal.press(KEYS.enter);
    await terminal.see('The password');
    terminal.press('x', KEYS.enter);
    await terminal.see('Which size');
    terminal.press(KEYS.enter);
    await terminal.see('Value of "more"');
    terminal.press('y', KEYS.enter);
    await terminal.see('second  connected');
    expect(await terminal.ended).toBe(0);
    expect(await home.read('first')).toBe('Ada|x|small|');
    expect(await home.read('second')).toBe('Ada|y|');
  });

  it('ends the command when it is left unanswered, and starts no server', async () => {
    const terminal = openTerminal(['list'], { home });
    await terminal.see('name');
    terminal.press(KEYS.ctrlC);
    expect(await terminal.ended).toBe(130);
    expect(terminal.text()).not.toContain('The password');
    expect(terminal.text()).not.toContain('failed');
    await expect(home.read('first')).rejects.toThrow();
  });
});

it('an input from the environment is not asked for; without a terminal a missing one is an error', async () => {
  const env = { TURNBUCKLE_INPUT_WORD: 'w', TURNBUCKLE_INPUT_SIZE: 's' };
  const { code, stdout } = await turnbuckle(['call', 'first', 'echo', 'text=hi'], { home, env });
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'hi\n' });
  expect(await home.read('first')).toBe('Ada|w|s|');
  expect(await json(['ping', 'second'], { home })).toMatchObject({
    error: { code: 'VARIABLE_MISSING', message: expect.stringContaining('more') },
  });
});
