import { chmod } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { createHome, type Home, turnbuckle } from '../commands/turnbuckle.js';
import { HAS_TERMINAL, KEYS, NEEDS_TERMINAL, openTerminal, type Terminal } from './terminal.js';

let home: Home;
beforeEach(async () => {
  home = await createHome({
    ...Object.fromEntries(
      ['legacy', 'modern'].map((era) => [
        era,
        { ...fixture('asking', '--era', era), mayAsk: ['elicitation', 'sampling', 'roots'] },
      ]),
    ),
    quiet: fixture('asking'),
  });
});

const FORM = {
  message: 'Where to?\nLine two',
  requestedSchema: {
    type: 'object',
    properties: {
      city: { type: 'string', title: 'City', description: 'Any city', minLength: 2 },
      nights: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
      room: {
        type: 'string',
        oneOf: [
          { const: 's', title: 'Single' },
          { const: 'd', title: 'Double' },
        ],
      },
      extras: { type: 'array', items: { type: 'string', enum: ['bike', 'boat'] } },
      late: { type: 'boolean', title: 'Late arrival' },
    },
    required: ['city', 'room', 'late'],
  },
};
const words = (server: string, params: unknown, kind = 'elicitation'): string[] => [
  'call',
  server,
  'ask',
  `kind=${kind}`,
  `params:=${JSON.stringify(params)}`,
];
const open = (server: string, params: unknown, env: Record<string, string> = {}): Terminal =>
  openTerminal(words(server, params), { home, env });

describe.skipIf(!HAS_TERMINAL)(`a server that sends an elicitation request${NEEDS_TERMINAL}`, () => {
  it.each(['legacy', 'modern'])('gets the filled-in form after a confirmation: %s', async (server) => {
    const terminal = open(server, FORM);
    await terminal.see(`${server} asks you:`);
    await terminal.see('│ Where to?');
    await terminal.see('│ Line two');
    await terminal.see(`Answer "${server}"?`);
    terminal.press(KEYS.enter);
    await terminal.see('│ Any city');
    await terminal.see(`${server}: City`);
    terminal.press('X', KEYS.enter);
    await terminal.see('at least 2');
    terminal.press('anten', KEYS.enter);
    await terminal.see('nights (optional)');
    terminal.press('3', KEYS.enter);
    await terminal.see('at most 9');
    terminal.press('\u007f', KEYS.enter);
    await terminal.see('room');
    terminal.press(KEYS.down, KEYS.enter);
    await terminal.see('extras');
    terminal.press(' ', KEYS.enter);
    await terminal.see('Late arrival');
    terminal.press(KEYS.enter);
    await terminal.see('City: "Xanten"');
    await terminal.see(`Send this to "${server}"?`);
    terminal.press(KEYS.enter);
    expect(await terminal.ended).toBe(0);
    const content = { city: 'Xanten', nights: 2, room: 'd', extras: ['bike'], late: true };
    expect(terminal.text()).toContain(JSON.stringify([{ action: 'accept', content }]));
  });

  it.each([
    ['declined', [KEYS.down, KEYS.enter], 'decline'],
    ['cancelled', [KEYS.escape], 'cancel'],
  ])('learns that the request was %s', async (_, keys, action) => {
    const terminal = open('modern', FORM);
    await terminal.see('Answer "modern"?');
    terminal.press(...keys);
    expect(await terminal.ended).toBe(0);
    expect(terminal.text()).toContain(`[{"action":"${action}"}]`);
  });

  it('gets nothing when the user does not confirm', async () => {
    const terminal = open('modern', {
      message: 'Name?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    });
    await terminal.see('Answer "modern"?');
    terminal.press(KEYS.enter);
    await terminal.see('name (optional)');
    terminal.press('Ada', KEYS.enter);
    await terminal.see('Send this to');
    terminal.press(KEYS.down, KEYS.enter);
    expect(await terminal.ended).toBe(0);
    expect(terminal.text()).toContain('[{"action":"decline"}]');
  });

  it('cannot print control characters', async () => {
    const evil = '\u001b[2J\u001b]8;;https://evil.example\u0007EVIL\u202e\u200b\rmodern asks you:';
    const terminal = open('modern', {
      message: evil,
      requestedSchema: {
        type: 'object',
        properties: { a: { type: 'string', title: evil, description: evil, enum: [evil], default: evil } },
      },
    });
    await terminal.see('Answer "modern"?');
    terminal.press(KEYS.enter);
    await terminal.see('(optional)');
    terminal.press(KEYS.escape);
    expect(await terminal.ended).toBe(0);
    const raw = terminal.raw();
    for (const part of ['\u001b[2J', '\u001b]8', '\u202e', '\u200b', '\rmodern asks'])
      expect(raw).not.toContain(part);
  });

  it('may not ask for a secret: its form is not shown', async () => {
    const params = {
      message: 'Hi',
      requestedSchema: { type: 'object', properties: { password: { type: 'string' } } },
    };
    const terminal = open('modern', params);
    expect(await terminal.ended).toBe(0);
    expect(terminal.text()).toContain('[{"action":"decline"}]');
    expect(terminal.text()).not.toContain('asks you');
  });

  it('gets a page opened only after the user agrees', async () => {
    const opened = home.file('opened');
    const opener = await home.write('bin/xdg-open', `#!/bin/sh\necho "$1" > '${opened}'\n`);
    await chmod(opener, 0o755);
    const env = { PATH: `${home.file('bin')}:${process.env.PATH ?? ''}` };
    const page = {
      mode: 'url',
      message: 'Sign in there',
      url: 'https://example.com/sign-in?x=1',
      elicitationId: '1',
    };

    const no = open('legacy', page, env);
    await no.see('a page on example.com');
    await no.see('https://example.com/sign-in?x=1');
    await no.see('Open this page for "legacy"?');
    no.press(KEYS.enter);
    expect(await no.ended).toBe(0);
    expect(no.text()).toContain('[{"action":"decline"}]');
    await expect(home.read('opened')).rejects.toThrow();

    const yes = open('legacy', page, env);
    await yes.see('Open this page for "legacy"?');
    yes.press(KEYS.down, KEYS.enter);
    expect(await yes.ended).toBe(0);
    expect(yes.text()).toContain('[{"action":"accept"}]');
    // The opener runs in its own process.
    await waitUntil(
      async () => (await home.read('opened').catch(() => '')) === 'https://example.com/sign-in?x=1\n',
    );
  });

  it('is refused when mayAsk does not allow it', async () => {
    const terminal = open('quiet', FORM);
    expect(await terminal.ended).toBe(22);
    expect(terminal.text()).toContain('add "elicitation" to mayAsk');
  });
});

describe('without a terminal', () => {
  it('fails without a prompt, with a hint to run it in a terminal', async () => {
    const { code, stderr } = await turnbuckle(words('modern', FORM), { home });
    expect(code).toBe(22);
    expect(stderr).toContain('Run the command in a terminal');
    const quiet = await turnbuckle(words('quiet', FORM), { home });
    expect(quiet.stderr).toContain('add "elicitation" to mayAsk');
  });

  it('a server that may ask for roots gets the current directory, and sampling is not offered', async () => {
    const { stdout } = await turnbuckle(words('modern', {}, 'roots'), { home });
    expect(JSON.parse(stdout)).toEqual([
      { roots: [{ uri: pathToFileURL(home.project).href, name: 'project' }] },
    ]);
    const offered = await turnbuckle(['call', 'modern', 'offered'], { home });
    expect(JSON.parse(offered.stdout)).toEqual({ roots: {} });
    expect((await turnbuckle(['call', 'quiet', 'offered'], { home })).stdout).toBe('{}\n');
  });
});
