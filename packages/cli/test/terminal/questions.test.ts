import { existsSync } from 'node:fs';
import { fixture } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { tattletale } from '../commands/local-servers.js';
import { createHome, type Home, turnbuckle } from '../commands/turnbuckle.js';
import { HAS_TERMINAL, KEYS, NEEDS_TERMINAL, openTerminal, type TerminalOptions } from './terminal.js';

let home: Home;
let started: string;
beforeEach(async () => {
  home = await createHome({ demo: fixture('echo') });
  started = home.file('started');
});

const open = (words: readonly string[], options: Partial<TerminalOptions> = {}) =>
  openTerminal(words, { home, ...options });

describe.skipIf(!HAS_TERMINAL)(`trust asks${NEEDS_TERMINAL}`, () => {
  const QUESTION = 'Trust "theirs" with exactly this configuration?';
  const trusts = async (): Promise<boolean> => {
    await turnbuckle(['ping', 'theirs'], { home });
    return existsSync(started);
  };
  beforeEach(() => home.write('project/.turnbuckle/mcp.json', { servers: { theirs: tattletale(started) } }));

  it('and "y" trusts the server', async () => {
    const terminal = open(['trust']);
    await terminal.see(started);
    await terminal.see(QUESTION);
    terminal.press('y');
    await terminal.see('Trusted theirs');
    expect(await terminal.ended).toBe(0);
    expect(existsSync(started)).toBe(false);
    expect(await trusts()).toBe(true);
  });

  it.each([
    ['no', 'n', 0],
    ['Enter, which means no', KEYS.enter, 0],
    ['Ctrl-C', KEYS.ctrlC, 130],
    ['Escape', KEYS.escape, 130],
  ])('and %s starts nothing', async (_, key, exit) => {
    const terminal = open(['trust']);
    await terminal.see(QUESTION);
    terminal.press(key);
    expect(await terminal.ended).toBe(exit);
    expect(terminal.text()).not.toContain('Trusted');
    expect(await trusts()).toBe(false);
  });
});

describe.skipIf(!HAS_TERMINAL)(`import asks${NEEDS_TERMINAL}`, () => {
  beforeEach(() => home.write('.cursor/mcp.json', { mcpServers: { notes: { command: 'notes-mcp' } } }));

  it('after it has shown the change', async () => {
    const terminal = open(['import']);
    await terminal.see('notes from cursor');
    await terminal.see('+     "notes": {');
    await terminal.see('Write this?');
    expect(await home.read('.config/turnbuckle/mcp.json')).not.toContain('notes');
    terminal.press('y');
    await terminal.see('Imported 1 server');
    expect(await terminal.ended).toBe(0);
    expect(await home.read('.config/turnbuckle/mcp.json')).toContain('"command": "notes-mcp"');
  });

  it.each([
    ['no', KEYS.enter, 0, 'Nothing was written.'],
    ['Ctrl-C', KEYS.ctrlC, 130, 'Nothing was done.'],
  ])('and %s changes nothing', async (_, key, exit, answer) => {
    const before = await home.read('.config/turnbuckle/mcp.json');
    const terminal = open(['import']);
    await terminal.see('Write this?');
    terminal.press(key);
    await terminal.see(answer);
    expect(await terminal.ended).toBe(exit);
    expect(await home.read('.config/turnbuckle/mcp.json')).toBe(before);
  });
});

describe.skipIf(!HAS_TERMINAL)(`commands without questions${NEEDS_TERMINAL}`, () => {
  it('init and add do not ask on a terminal', async () => {
    const empty = await createHome();
    expect(await open(['init'], { home: empty }).ended).toBe(0);
    expect(await open(['add', 'x', '--', 'true'], { home: empty }).ended).toBe(0);
    expect(await empty.read('.config/turnbuckle/mcp.json')).toContain('"command": "true"');
  });
});
