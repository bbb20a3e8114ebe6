import { fixture } from '@turnbuckle/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/commands.js';
import { helpFor, helpForAll } from '../../src/help.js';
import { displayWidth } from '../../src/terminal/display-width.js';
import { argumentServer } from '../commands/local-servers.js';
import { createHome, type Home, turnbuckle } from '../commands/turnbuckle.js';
import { HAS_TERMINAL, NEEDS_TERMINAL, onTerminal } from './terminal.js';

let home: Home;
beforeAll(async () => {
  home = await createHome({ demo: fixture('echo'), kinds: argumentServer });
});

const widest = (text: string): number => Math.max(...text.split('\n').map(displayWidth));

/** Without the lines that are one long word, such as the path of a temporary directory: a word is not split. */
const withoutLongWords = (text: string, width: number): string =>
  text
    .split('\n')
    .filter((line) => displayWidth(line) <= width || line.trim().includes(' '))
    .join('\n');

describe.skipIf(!HAS_TERMINAL)(`a narrow terminal${NEEDS_TERMINAL}`, () => {
  it.each([[['list']], [['tools']], [['prompts']], [['resources']]])(
    'shows each row of %j in one line',
    async (words) => {
      const [wide, narrow] = await Promise.all([
        onTerminal(words, { home, columns: 200 }),
        onTerminal(words, { home, columns: 60 }),
      ]);
      expect(widest(narrow.screen)).toBeLessThanOrEqual(60);
      expect(narrow.screen.split('\n').length).toBe(wide.screen.split('\n').length);
    },
  );

  it('marks cut text, and a pipe gets the full text', async () => {
    const { screen } = await onTerminal(['tools', 'demo', 'region'], { home, columns: 60 });
    expect(screen).toBe('demo  header  Its region also travels as an HTTP header in …\n');
    expect((await turnbuckle(['tools', 'demo', 'region'], { home })).stdout).toBe(
      'demo  header  Its region also travels as an HTTP header in the modern era\n',
    );
  });

  it('shows the end of the location of a rule, and wraps notes between words', async () => {
    const ruled = await createHome();
    await ruled.write('.config/turnbuckle/mcp.json', {
      rules: [{ action: 'ask', caller: 'an-agent-with-a-long-name', server: 'files', tool: 'write_*' }],
    });
    const { screen } = await onTerminal(['rules'], { home: ruled, columns: 80 });
    expect(widest(screen)).toBeLessThanOrEqual(80);
    expect(screen.split('\n')[0]).toMatch(/^0 +ask +\S.*\/mcp\.json:\d+$/);
    expect(screen.replace(/\s+/g, ' ')).toContain('Agent calls require approval, unless they only read');
    const doctor = await onTerminal(['doctor'], { home: ruled, columns: 60 });
    expect(widest(withoutLongWords(doctor.screen, 60))).toBeLessThanOrEqual(60);
  });

  it('that reports no columns counts as one of 80', async () => {
    const broken = await createHome({ demo: { comand: 'x' } });
    const { screen } = await onTerminal(['doctor'], { home: broken, columns: 0 });
    expect(widest(screen)).toBeGreaterThan(60);
    expect(widest(withoutLongWords(screen, 80))).toBeLessThanOrEqual(80);
    const unknown = await onTerminal(['tools', 'nope'], { home: broken, columns: 0 });
    expect(widest(unknown.screen)).toBeGreaterThan(30);
  });

  it('wraps help between words', async () => {
    const { screen } = await onTerminal(['list', '--help'], { home, columns: 50 });
    expect(widest(screen)).toBeLessThanOrEqual(50);
    expect(screen).toContain('  # as JSON\n  turnbuckle list --json\n');
  });
});

describe('help', () => {
  it.each([60, 80, 100])('fits into %i columns, except examples, which are meant to be copied', (width) => {
    expect(widest(helpForAll(COMMANDS, width))).toBeLessThanOrEqual(width);
    for (const command of COMMANDS) {
      const [page = ''] = helpFor(command, width).split('\nExamples:');
      expect(widest(page), command.name).toBeLessThanOrEqual(width);
    }
  });
});

describe('text of a server', () => {
  it.each([
    ['tools', 'kinds'],
    ['tools', 'kinds', '--ts'],
    ['tools', 'kinds', '--schema'],
    ['tools', 'kinds', '--json'],
    ['call', 'kinds', 'odd'],
    ['call', 'kinds', 'say'],
  ])('prints no control characters: %s %s %s', async (...words) => {
    const { stdout, stderr } = await turnbuckle(words, { home });
    const hidden = [...(stdout + stderr)].filter((one) => /(?!\n)[\p{Cc}\p{Cf}]/u.test(one));
    expect(hidden).toEqual([]);
  });
});
