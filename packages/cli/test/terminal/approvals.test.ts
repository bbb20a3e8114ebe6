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
/** Keys that come in one piece are a paste, so these come apart. */
const moment = () => delay(150);
const config = () => home.read('.config/turnbuckle/mcp.json');

describe.skipIf(!HAS_TERMINAL)(`a call that is asked for${NEEDS_TERMINAL}`, () => {
  it('shows who wants what, and a y lets it through once', async () => {
    const terminal = call('text=hello');
    await terminal.see('claude wants to call echo');
    await terminal.see('demo (untrusted)');
    await terminal.see('agent calls require approval by default');
    await terminal.see('│ text: "hello"');
    await terminal.see(QUESTION);
    terminal.press('y');
    await terminal.see('Allowed, this time.');
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

  it('says when private data could go out for a stranger, and offers no "always"', async () => {
    const labels = ['untrusted', 'private', 'outbound'];
    const rules = [{ action: 'allow' }];
    await home.write('.config/turnbuckle/mcp.json', {
      servers: { demo: { ...fixture('echo'), labels } },
      rules,
    });
    const terminal = call('text=hello');
    await terminal.see('reason     this run read private data (this call) and text of strangers (this call)');
    await terminal.see(QUESTION);
    expect(terminal.text()).not.toContain('a always');
    terminal.press('y');
    expect(await terminal.ended).toBe(0);
  });

  it('is approved only once when it is too long to be shown, and shows what stands behind that', async () => {
    const terminal = call(`text=${'lorem ipsum '.repeat(3_500)}`, 'last=visible');
    await terminal.see('not shown  ');
    await terminal.see('it can be allowed only once');
    await terminal.see('y once · n no (default)');
    terminal.press('s');
    terminal.press('a');
    await moment();
    expect(terminal.text()).not.toContain('Allowed');
    terminal.press('y');
    await terminal.see('Allowed, this time.');
    expect(await terminal.ended).toBe(0);
  });

  it('is not approved by a key that was typed before the question was there', async () => {
    const terminal = call('text=hello');
    terminal.press('y');
    await terminal.see(QUESTION);
    await moment();
    expect(terminal.text()).not.toContain('Allowed');
    terminal.press('n');
    await terminal.see('Not allowed.');
    expect(await terminal.ended).toBe(15);
  });

  it('is not approved by what is pasted, or is no answer', async () => {
    const terminal = call('text=hello');
    await terminal.see(QUESTION);
    terminal.press('yes\ny');
    terminal.press(KEYS.up);
    await moment();
    terminal.press('x');
    await moment();
    expect(terminal.text()).not.toContain('Allowed');
    terminal.press('n');
    await terminal.see('Not allowed.');
    expect(await terminal.ended).toBe(15);
  });

  it('"a" is kept: the next call is not asked for', async () => {
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

  it('does not offer to keep what a stronger rule would ask again', async () => {
    const file = await home.write('strict.json', { rules: [{ action: 'ask' }] });
    const terminal = open(['call', 'demo', 'echo', 'text=x', '--config', file]);
    await terminal.see('This command wants to call echo');
    await terminal.see(`a rule says ask (${file}:3)`);
    await terminal.see('y once · s this session · n no (default)');
    terminal.press('a');
    await moment();
    terminal.press('s');
    expect(await terminal.ended).toBe(0);
    expect(await config()).not.toContain('rules');
  });

  it('with very much to say shows the first 20 lines, counts the rest, and shows it page by page', async () => {
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

  it('obeys nothing that stands in its text', async () => {
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
    // What looks like another argument is still inside the text.
    await terminal.see('│   ┊   │ text: "harmless"');
    await terminal.see('Allow it?  y once');
    terminal.press('n');
    await terminal.ended;
    for (const obeyed of ['\u202e', '\u200b', '\u0007', '\u001b[2J', '\u001b]'])
      expect(terminal.raw()).not.toContain(obeyed);
  });

  it('says so when nobody is there: in a pipe, and with --json', async () => {
    const piped = open(['call', 'demo', 'echo', 'text=x', '--as', 'claude'], { redirect: '2>/dev/null' });
    expect(await piped.ended).toBe(15);
    const json = open(['call', 'demo', 'echo', 'text=x', '--as', 'claude', '--json']);
    await json.see('APPROVAL_NEEDED');
    expect(await json.ended).toBe(15);
  });
});

describe.skipIf(!HAS_TERMINAL)(`a tool that changed${NEEDS_TERMINAL}`, () => {
  it('is shown with what changed, and asked for again', async () => {
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
    await second.see('it changed since it was approved');
    await second.see('- description: "Added a note"');
    await second.see('+ description: "Adds a note"');
    await second.see(QUESTION);
    second.press('n');
    expect(await second.ended).toBe(15);
  });
});
