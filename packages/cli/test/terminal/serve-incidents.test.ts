/** A daemon in the foreground reports incidents on its terminal, and not in the middle of a question. */
import { fixture, startFixture, waitUntil } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { createHome, json, turnbuckle } from '../commands/turnbuckle.js';
import { post } from '../daemon/running-daemon.js';
import { HAS_TERMINAL, KEYS, NEEDS_TERMINAL, openTerminal } from './terminal.js';

const count = (text: string, part: string): number => text.split(part).length - 1;

// requirement C5
it.skipIf(!HAS_TERMINAL)(
  `a failing, an invalid and a sign-in server are told once each, with the next step${NEEDS_TERMINAL}`,
  async () => {
    const wall = await startFixture('auth-wall', { transport: 'http', flags: ['--status', '401'] });
    onTestFinished(() => wall.stop());
    const script = `process.stderr.write('\\u001b[2Jevil'); process.exit(3)`;
    const home = await createHome({
      dead: { command: process.execPath, args: ['-e', script] },
      wrong: { command: 7 },
      web: { type: 'http', url: wall.url },
    });
    const terminal = openTerminal(['serve', '--port', '0'], { home, columns: 400 });
    const has = (part: string): boolean => terminal.text().includes(part);
    await waitUntil(
      () => ['doctor dead', 'doctor wrong', 'login web'].every((part) => has(`turnbuckle ${part}`)),
      20_000,
    );
    // It has failed more often by now.
    await waitUntil(async () => {
      const [dead] = await json<{ error?: { time: string } }[]>(['list', 'dead'], { home });
      const [first] = await json<{ at: string }[]>(['incidents', 'dead'], { home });
      return Date.parse(dead?.error?.time ?? '') > Date.parse(first?.at ?? '');
    }, 30_000);
    terminal.press(KEYS.ctrlC);
    expect(await terminal.ended).toBe(0);
    const text = terminal.text();
    expect(count(text, 'SERVER_EXITED Server "dead" exited with code 3')).toBe(1);
    expect(count(text, 'AUTH_REQUIRED')).toBe(1);
    expect(count(text, 'servers.wrong.command: expected a string')).toBe(1);
    for (const next of ['doctor dead', 'doctor wrong', 'login web'])
      expect(text).toMatch(new RegExp(`^ {6}Next: .*turnbuckle ${next}`, 'm'));
    expect(terminal.raw()).not.toContain('\u001b[2J');
    expect(text).toContain('\\u{1b}[2Jevil');
  },
  60_000,
);

it.skipIf(!HAS_TERMINAL)(
  `a line waits until the open question is answered${NEEDS_TERMINAL}`,
  async () => {
    const home = await createHome({ demo: fixture('echo') });
    const token = (await turnbuckle(['token', 'create', 'claude'], { home })).stdout.trim();
    const terminal = openTerminal(['serve', '--port', '0'], { home, columns: 74 });
    await terminal.see('Turnbuckle is running at ');
    await terminal.see('Ctrl-C');
    const url = /Turnbuckle is running at (\S+)/.exec(terminal.text())?.[1] ?? '';
    const body = { server: 'demo', tool_name: 'echo', arguments: { text: 'hello' } };
    const called = post({ url, token }, '/mcp/call', body);
    await terminal.see('Allow it?');
    await home.write('.config/turnbuckle/mcp.json', {
      servers: { demo: fixture('echo'), bad: { command: 7 } },
    });
    await waitUntil(
      async () => (await json<{ kind: string }[]>(['incidents', 'bad'], { home })).length > 0,
      20_000,
    );
    expect(terminal.text()).not.toContain('servers.bad.command');
    terminal.press('y');
    await terminal.see('Allowed once.');
    await terminal.see('servers.bad.command');
    // The line ends behind its first word; a command is not broken.
    await terminal.see('turnbuckle doctor bad');
    expect(await called).toMatchObject({ status: 200 });
    terminal.press(KEYS.ctrlC);
    expect(await terminal.ended).toBe(0);
  },
  60_000,
);
