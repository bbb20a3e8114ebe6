import { setTimeout as delay } from 'node:timers/promises';
import { fixture } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { createHome, type Home } from '../commands/turnbuckle.js';
import { HAS_TERMINAL, KEYS, NEEDS_TERMINAL, openTerminal, type TerminalOptions } from './terminal.js';

let home: Home;
beforeEach(async () => {
  home = await createHome({ demo: fixture('echo') });
});

const QUESTION = 'Allow it?';
const open = (words: readonly string[], options: Partial<TerminalOptions> = {}) =>
  openTerminal(words, { home, ...options });
const call = (...words: string[]) => open(['call', 'demo', 'echo', ...words, '--as', 'claude']);
/** Keys that arrive together count as a paste, so the tests pause between them. */
const pause = () => delay(150);
const config = () => home.read('.config/turnbuckle/mcp.json');

describe.skipIf(!HAS_TERMINAL)(`a call that needs approval${NEEDS_TERMINAL}`, () => {
  it('shows caller, server and arguments, and "y" allows it once', async () => {
    const terminal = call('text=hello');
    await terminal.see('claude wants to call echo');
    await terminal.see('demo (untrusted)');
    await terminal.see('agent calls require approval by default');
    await terminal.see('│ text: "hello"');
    await terminal.see(QUESTION);
    terminal.press('y');
    await terminal.see('Allowed once.');
    await terminal.see('hello');
    expect(await terminal.ended).toBe(0);
    expect(await config()).not.toContain('rules');
  });

  it.each([
    ['n', 'n', 15],
    ['Enter, the default', KEYS.enter, 15],
    ['Escape', KEYS.escape, 15],
    ['Ctrl-D', '\u0004', 15],
    ['Ctrl-C', KEYS.ctrlC, 130],
  ])('is not made after %s', async (_, key, exit) => {
    const terminal = call('text=hello');
    await terminal.see(QUESTION);
    terminal.press(key);
    expect(await terminal.ended).toBe(exit);
    expect(terminal.text()).not.toContain('Allowed');
  });

  it('warns when private data could leave the run because of untrusted text, and offers no "always"', async () => {
    const labels = ['untrusted', 'private', 'outbound'];
    const rules = [{ action: 'allow' }];
    await home.write('.config/turnbuckle/mcp.json', {
      servers: { demo: { ...fixture('echo'), labels } },
      rules,
    });
    const terminal = call('text=hello');
    await terminal.see(
      'reason       this run has read private data (this call) and untrusted text (this call), so the',
    );
    await terminal.see(QUESTION);
    expect(terminal.text()).not.toContain('a always');
    terminal.press('y');
    expect(await terminal.ended).toBe(0);
  });

  it('can only be allowed once when it is too long to show, and says how much is not shown', async () => {
    const terminal = call(`text=${'lorem ipsum '.repeat(3_500)}`, 'last=visible');
    await terminal.see('not shown  ');
    await terminal.see('the only way to allow this call is once');
    await terminal.see('y once · n no (default)');
    terminal.press('s');
    terminal.press('a');
    await pause();
    expect(terminal.text()).not.toContain('Allowed');
    terminal.press('y');
    await terminal.see('Allowed once.');
    expect(await terminal.ended).toBe(0);
  });

  it('is not approved by a key that was typed before the prompt', async () => {
    const terminal = call('text=hello');
    terminal.press('y');
    await terminal.see(QUESTION);
    await pause();
    expect(terminal.text()).not.toContain('Allowed');
    terminal.press('n');
    await terminal.see('Denied.');
    expect(await terminal.ended).toBe(15);
  });

  it('is not approved by pasted text or by other keys', async () => {
    const terminal = call('text=hello');
    await terminal.see(QUESTION);
    terminal.press('yes\ny');
    terminal.press(KEYS.up);
    await pause();
    terminal.press('x');
    await pause();
    expect(terminal.text()).not.toContain('Allowed');
    terminal.press('n');
    await terminal.see('Denied.');
    expect(await terminal.ended).toBe(15);
  });

  it('"a" is saved as a rule: the next call needs no approval', async () => {
    const terminal = call('text=hello');
    await terminal.see(QUESTION);
    terminal.press('a');
    await terminal.see('Allowed from now on.');
    expect(await terminal.ended).toBe(0);
    expect(JSON.parse(await config()).rules).toMatchObject([
      { action: 'allow', server: 'demo', tool: 'echo', caller: 'claude' },
    ]);
    const again = call('text=again');
    expect(await again.ended).toBe(0);
    expect(again.text()).not.toContain(QUESTION);
  });

  it('does not offer "always" when a rule with higher precedence would ask again', async () => {
    const file = await home.write('strict.json', { rules: [{ action: 'ask' }] });
    // Wide enough for the path of any temporary directory.
    const terminal = open(['call', 'demo', 'echo', 'text=x', '--config', file], { columns: 400 });
    await terminal.see('This command wants to call echo');
    await terminal.see(`a rule requires approval (${file}:3)`);
    await terminal.see('y once · s this session · n no (default)');
    terminal.press('a');
    await pause();
    terminal.press('s');
    expect(await terminal.ended).toBe(0);
    expect(await config()).not.toContain('rules');
  });

  it('with long arguments shows the first 20 lines, counts the rest, and shows all page by page', async () => {
    const lines = Array.from({ length: 200 }, (_, index) => `line ${index + 1}`).join('\n');
    await home.write('long.json', { text: lines });
    const terminal = open(['call', 'demo', 'echo', '--args-file', home.file('long.json'), '--as', 'claude']);
    await terminal.see('text: 200 lines');
    await terminal.see('┊ line 19');
    await terminal.see('… 181 more lines, press v to view all');
    await terminal.see(QUESTION);
    expect(terminal.text()).not.toContain('line 20');
    terminal.press('v');
    await terminal.see('lines 1 to 28 of 201');
    for (const last of [56, 84, 112]) {
      terminal.press(' ');
      await terminal.see(`to ${last} of 201`);
    }
    terminal.press('b');
    await terminal.see('lines 57 to 84 of 201');
    terminal.press('q');
    await terminal.see(QUESTION);
    terminal.press('n');
    expect(await terminal.ended).toBe(15);
  });

  it('shows a very long line in full, in pieces that fit', async () => {
    const text = `${'x'.repeat(2_900)}END`;
    const terminal = openTerminal(['call', 'demo', 'echo', `text=${text}`, '--as', 'claude'], {
      home,
      columns: 60,
    });
    await terminal.see('more lines, press v to view all');
    await terminal.see(QUESTION);
    const quoted = terminal
      .text()
      .split('\n')
      .filter((line) => line.startsWith('  │'));
    expect(quoted).toHaveLength(20);
    for (const line of quoted) expect([...line].length).toBeLessThanOrEqual(60);
    terminal.press('v');
    await terminal.see('space next');
    terminal.press(' ');
    await terminal.see('END');
    terminal.press('q');
    await terminal.see(QUESTION);
    terminal.press('n');
    expect(await terminal.ended).toBe(15);
  });

  it('prints no control characters from arguments or names', async () => {
    const nasty =
      '\u001b[2J\u001b[1;1H\u001b]0;title\u0007Allow it?\u202e\u200b\r\n  │ text: "harmless"\u001b]8;;x\u0007';
    await home.write('nasty.json', { text: nasty, 'key\u001b[31m\n': nasty });
    const terminal = open([
      'call',
      'demo',
      'echo',
      '--args-file',
      home.file('nasty.json'),
      '--as',
      'cl\u001b[2Jaude',
    ]);
    await terminal.see('cl\\u{1b}[2Jaude wants to call echo');
    await terminal.see('\\u{202e}\\u{200b}');
    // The text that imitates another argument is still inside the quoted block.
    await terminal.see('│   ┊   │ text: "harmless"');
    await terminal.see('Allow it?  y once');
    terminal.press('n');
    await terminal.ended;
    for (const sequence of ['\u202e', '\u200b', '\u0007', '\u001b[2J', '\u001b]'])
      expect(terminal.raw()).not.toContain(sequence);
  });

  it('fails without a terminal: in a pipe, and with --json', async () => {
    const piped = open(['call', 'demo', 'echo', 'text=x', '--as', 'claude'], { redirect: '2>/dev/null' });
    expect(await piped.ended).toBe(15);
    const json = open(['call', 'demo', 'echo', 'text=x', '--as', 'claude', '--json']);
    await json.see('APPROVAL_NEEDED');
    expect(await json.ended).toBe(15);
  });
});

describe.skipIf(!HAS_TERMINAL)(`a tool that changed${NEEDS_TERMINAL}`, () => {
  it('shows the change, and needs approval again', async () => {
    home = await createHome({ shifty: fixture('schema-changing') });
    const words = ['call', 'shifty', 'shifty', 'note=x', '--as', 'claude'];
    const first = open(words);
    await first.see(QUESTION);
    first.press('a');
    expect(await first.ended).toBe(0);
    const file = 'state/pins.json';
    const pins = (await home.read(file))
      .replace('Adds a note', 'Added a note')
      .replace(/"hash": "../, '"hash": "ff');
    await home.write(file, pins);
    const second = open(words);
    await second.see("the tool's definition changed since it was approved");
    await second.see('- description: "Added a note"');
    await second.see('+ description: "Adds a note"');
    await second.see(QUESTION);
    second.press('n');
    expect(await second.ended).toBe(15);
  });
});
