import { fixture } from '@turnbuckle/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { argumentServer } from '../commands/local-servers.js';
import { createHome, type Home, turnbuckle } from '../commands/turnbuckle.js';
import { HAS_TERMINAL, KEYS, NEEDS_TERMINAL, openTerminal } from './terminal.js';

let home: Home;
beforeAll(async () => {
  home = await createHome({ demo: fixture('echo'), kinds: argumentServer });
});

describe.skipIf(!HAS_TERMINAL)(`a missing argument${NEEDS_TERMINAL}`, () => {
  it('is asked for, and converted to the type of its schema', async () => {
    const terminal = openTerminal(['call', 'demo', 'add', 'b=3'], { home });
    await terminal.see('a (number)');
    terminal.press('2', KEYS.enter);
    await terminal.see('{"sum":5}');
    expect(await terminal.ended).toBe(0);
  });

  it('is asked for again when the answer has the wrong type', async () => {
    const terminal = openTerminal(['call', 'demo', 'add', 'b=3'], { home });
    await terminal.see('a (number)');
    terminal.press('two', KEYS.enter);
    await terminal.see('The value must be a number.');
    terminal.press('\u0015', '2', KEYS.enter);
    await terminal.see('{"sum":5}');
    expect(await terminal.ended).toBe(0);
  });

  it('is selected from a list if it is an enum', async () => {
    const terminal = openTerminal(['call', 'kinds', 'choose'], { home });
    await terminal.see('level: How loud');
    await terminal.see('quiet');
    terminal.press(KEYS.down, KEYS.enter);
    await terminal.see('{"level":"loud"}');
    expect(await terminal.ended).toBe(0);
  });

  it('is asked for by its name, with control characters spelt out', async () => {
    const terminal = openTerminal(['call', 'kinds', 'odd'], { home });
    await terminal.see('a=\\u{1b}[31mb');
    terminal.press('x', KEYS.enter);
    await terminal.see('constructor');
    expect(terminal.raw()).not.toContain('\u001b[31mb');
    terminal.press('y', KEYS.enter);
    await terminal.see(JSON.stringify({ 'a=\u001b[31mb': 'x', constructor: 'y' }));
    expect(await terminal.ended).toBe(0);
  });

  it('is asked for on stderr: stdout has only the result', async () => {
    const terminal = openTerminal(['call', 'demo', 'echo'], { home, redirect: '> result.txt' });
    await terminal.see('text');
    terminal.press('hi', KEYS.enter);
    expect(await terminal.ended).toBe(0);
    expect(await home.read('project/result.txt')).toBe('hi\n');
  });

  it('makes no call when it is left unanswered', async () => {
    const terminal = openTerminal(['call', 'demo', 'echo'], { home });
    await terminal.see('text');
    terminal.press(KEYS.ctrlC);
    expect(await terminal.ended).toBe(130);
    expect(terminal.text()).toContain('Nothing was done.');
  });

  it('of a prompt is asked for too', async () => {
    const terminal = openTerminal(['prompt', 'demo', 'greet'], { home });
    await terminal.see('who: Whom');
    terminal.press('Ada', KEYS.enter);
    await terminal.see('Greet Ada.');
    expect(await terminal.ended).toBe(0);
  });
});

it('without a terminal, the error names a missing argument', async () => {
  const { code, stdout, stderr } = await turnbuckle(['call', 'demo', 'add', 'b=3'], { home });
  expect({ code, stdout }).toEqual({ code: 13, stdout: '' });
  expect(stderr).toContain('Tool "add" requires a.');
  expect(stderr).toContain('turnbuckle tools demo add --schema');
});
