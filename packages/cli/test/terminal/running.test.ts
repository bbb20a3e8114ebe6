import { descendants, fixture, isAlive, waitUntil } from '@turnbuckle/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Home, turnbuckle } from '../commands/turnbuckle.js';
import { HAS_TERMINAL, KEYS, NEEDS_TERMINAL, onTerminal, openTerminal } from './terminal.js';

let home: Home;
beforeAll(async () => {
  home = await createHome({
    demo: fixture('echo'),
    late: fixture('slow', '--start-ms', '60000'),
    silent: fixture('slow', '--hang-at', 'call'),
  });
});

describe.skipIf(!HAS_TERMINAL)(`Ctrl-C${NEEDS_TERMINAL}`, () => {
  it.each([
    ['a call with progress', ['call', 'demo', 'sleep', 'ms=60000'], 'Calling demo:sleep'],
    ['a call without progress', ['call', 'silent', 'echo', 'text=x'], 'Calling silent:echo'],
    ['a connection', ['list', 'late'], 'Connecting'],
    ['logs', ['logs', 'demo'], 'connecting -> ready'],
  ])('ends %s, and its server', async (_, words, sign) => {
    const terminal = openTerminal(words, { home });
    await terminal.see(sign);
    const processes = descendants(terminal.pid);
    expect(processes.length).toBeGreaterThan(1);
    terminal.press(KEYS.ctrlC);
    expect(await terminal.ended).toBe(130);
    await waitUntil(() => processes.every((pid) => !isAlive(pid)));
    expect(terminal.text()).not.toMatch(/error|pending/);
  });
});

describe.skipIf(!HAS_TERMINAL)(`a slow call${NEEDS_TERMINAL}`, () => {
  const SLEEP = ['call', 'demo', 'sleep', 'ms=2000', 'everyMs=500'];
  /** Slow machines print the first line too. */
  const NOTICES = /^(Connecting demo …\n)?Calling demo:sleep …\n$/;

  it('is shown on the terminal with its progress, in one line that is cleared', async () => {
    const { raw, code } = await onTerminal(SLEEP, { home });
    expect(code).toBe(0);
    expect(raw).toMatch(/Calling demo:sleep +50 %/);
    const lines = raw.split('\n').filter((line) => line !== '');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.endsWith('\r\u001b[Kslept 2000 ms\r')).toBe(true);
  });

  it('is shown on stderr only', async () => {
    const { raw } = await onTerminal(SLEEP, { home, redirect: '> out.txt' });
    expect(raw).toContain('Calling demo:sleep');
    expect(await home.read('project/out.txt')).toBe('slept 2000 ms\n');
    const redirected = await onTerminal(SLEEP, { home, redirect: '2> errors.txt' });
    expect(redirected.raw).toBe('slept 2000 ms\r\n');
    expect(await home.read('project/errors.txt')).toMatch(NOTICES);
    expect(await turnbuckle(SLEEP, { home })).toEqual({
      code: 0,
      stdout: 'slept 2000 ms\n',
      stderr: expect.stringMatching(NOTICES),
    });
    expect(await turnbuckle([...SLEEP, '--json'], { home })).toMatchObject({ code: 0, stderr: '' });
  });

  it('keeps to one line on a narrow terminal', async () => {
    const { raw } = await onTerminal(SLEEP, { home, columns: 20 });
    const drawn = raw.split(/[\r\n]/).filter((part) => part.includes('Calling'));
    expect(drawn.length).toBeGreaterThan(0);
    for (const line of drawn) expect(line.replace('\u001b[K', '').length).toBeLessThan(20);
  });

  it('shows no spinner on a terminal that cannot overwrite a line', async () => {
    const { raw } = await onTerminal(SLEEP, { home, env: { TERM: 'dumb' } });
    const [last, ...notices] = raw.trimEnd().split('\r\n').reverse();
    expect(last).toBe('slept 2000 ms');
    expect(`${notices.reverse().join('\n')}\n`).toMatch(NOTICES);
  });
});

describe.skipIf(!HAS_TERMINAL)(`colour${NEEDS_TERMINAL}`, () => {
  it('is used on a terminal, unless NO_COLOR, TERM=dumb or --json turn it off', async () => {
    const [list, error, none, dumb, data] = await Promise.all([
      onTerminal(['list', 'demo'], { home }),
      onTerminal(['nope'], { home }),
      onTerminal(['list', 'demo'], { home, env: { NO_COLOR: '1' } }),
      onTerminal(['list', 'demo'], { home, env: { TERM: 'dumb' } }),
      onTerminal(['list', 'demo', '--json'], { home }),
    ]);
    expect(list?.raw).toContain('\u001b[32m●');
    expect(error?.raw).toContain('\u001b[31merror');
    for (const plain of [none, dumb, data]) expect(plain?.raw).not.toContain('\u001b[3');
  });

  it('is not written to files and pipes', async () => {
    await onTerminal(['list', 'demo'], { home, redirect: '> list.txt' });
    await onTerminal(['nope'], { home, redirect: '2> errors.txt' });
    expect(await home.read('project/list.txt')).toMatch(/^● {2}demo/);
    expect(await home.read('project/errors.txt')).toMatch(/^error Unknown command/);
    const { stdout, stderr } = await turnbuckle(['list', 'demo', 'late', '--no-connect'], { home });
    expect(stdout + stderr).not.toContain('\u001b');
  });
});
