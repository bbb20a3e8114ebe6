import { fixture } from '@turnbuckle/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Home, turnbuckle } from '../commands/turnbuckle.js';
import { HAS_TERMINAL, NEEDS_TERMINAL, onTerminal } from './terminal.js';

/** Characters from a server that must never reach the screen. */
const HIDDEN = /(?![\n\t])\p{Cc}|[\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]|\p{M}{9}/u;
const HOSTILE =
  'seen \u001b[2J\u001b]8;;https://evil.example\u0007\u202e\u200b\u{e0041}\ufe01\u00ad\u009b1A\rEVIL words';
const ODD =
  'odd\u202e\u2066\u200b\u2060\u{e0072}\u{e0075}\u{e006e}\u{e0020}\u{e0072}\u{e006d}\ufe01\u{e0121}\u00ad\u3164\ufff9\u034fname';

let home: Home;
beforeAll(async () => {
  home = await createHome({
    evil: { ...fixture('hostile-text'), description: HOSTILE },
    old: fixture('hostile-text', '--era', 'legacy'),
    dead: fixture('hostile-text', '--die'),
    wrong: { command: 'x', [HOSTILE]: HOSTILE },
    lost: { command: HOSTILE.replaceAll(/\p{Cc}/gu, '') },
  });
  await home.write('project/.turnbuckle/mcp.json', {
    servers: { foreign: { command: 'true', args: [HOSTILE], description: HOSTILE } },
  });
  await home.write('project/client.json', { mcpServers: { theirs: { command: 'true', args: [HOSTILE] } } });
});

const COMMANDS: readonly string[][] = [
  ['list'],
  ['list', 'evil', 'old'],
  ['tools'],
  ['tools', 'evil'],
  ['tools', 'evil', '--schema'],
  ['tools', 'evil', '--ts'],
  ['tools', 'old', HOSTILE],
  ['call', 'evil', 'speak'],
  ['call', 'old', 'speak'],
  ['call', 'evil', ODD],
  ['call', 'evil', 'structure'],
  ['call', 'evil', 'report'],
  ['call', 'evil', 'refuse'],
  ['call', 'old', 'refuse'],
  ['call', 'evil', 'needs'],
  ['call', 'evil', 'die'],
  ['call', 'evil', 'choose'],
  ['call', 'evil', 'speak', `choice=${HOSTILE}x`],
  ['call', 'evil', HOSTILE],
  ['call', HOSTILE, 'x'],
  ['call', 'dead', 'x'],
  ['resources', 'evil'],
  ['resources'],
  ['read', 'evil', 'evil://plain'],
  ['read', 'evil', `evil://${HOSTILE}`],
  ['prompts', 'evil'],
  ['prompts'],
  ['prompt', 'evil', 'plain'],
  ['prompt', 'evil', 'wants'],
  ['prompt', 'evil', ODD],
  ['prompt', 'evil', HOSTILE],
  ['logs', 'evil', '--seconds', '0.5'],
  ['logs', 'old', '--seconds', '0.5'],
  ['logs', 'dead', '--seconds', '0.3'],
  ['ping', 'evil'],
  ['ping', 'dead'],
  ['doctor'],
  ['config'],
  ['config', 'evil'],
  ['config', 'foreign'],
  ['config', HOSTILE],
  ['trust'],
  ['import', '--from', 'client.json'],
  ['export', 'evil', '--to', 'cursor'],
  ['export', 'evil', '--to', 'cursor', '--file', '-'],
  ['rules'],
  ['rules', 'test', 'evil', 'speak'],
  ['rules', 'test', 'evil', ODD],
  ['rules', 'test', 'evil', HOSTILE],
  ['whoami'],
  ['login', 'evil'],
  ['remove', HOSTILE],
  ['enable', HOSTILE],
  ['--mcp-server', HOSTILE, 'list'],
  [HOSTILE],
  ['tools', `--${HOSTILE}`],
];

const shown = (words: readonly string[]): string =>
  words.map((word) => JSON.stringify(word).slice(0, 24)).join(' ');

it.each(COMMANDS.map((words) => [shown(words), words] as const))(
  '%s prints no control or invisible characters',
  async (_, words) => {
    const runs = await Promise.all(
      [[], ['--json', '--verbose']].map((more) => turnbuckle([...words, ...more], { home })),
    );
    for (const { stdout, stderr } of runs) {
      expect(stdout).not.toMatch(HIDDEN);
      expect(stderr).not.toMatch(HIDDEN);
      expect(`${stdout}${stderr}`).not.toBe('');
    }
  },
);

it('hostile text is readable in the output, and complete as JSON', async () => {
  const { stdout } = await turnbuckle(['call', 'evil', 'report'], { home });
  expect(stdout).toContain('seen \\u{1b}[2J');
  const json = await turnbuckle(['call', 'evil', 'report', '--json'], { home });
  expect(JSON.parse(json.stdout)).toMatchObject({
    content: [{ text: expect.stringContaining('\u001b[2J\u001b[31m\u001b]8;;') }],
  });
});

describe.skipIf(!HAS_TERMINAL)(`on a terminal${NEEDS_TERMINAL}`, () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what we print ourselves: colours, a cleared line, a hidden cursor
  const OURS = /\u001b\[[0-9;]*m|\r?\u001b\[K|\u001b\[\?25[hl]|\r(?=\n)|\r(?=[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏])/g;

  it.each([
    [['list']],
    [['tools', 'evil']],
    [['call', 'evil', 'speak']],
    [['call', 'evil', 'refuse']],
    [['prompts', 'evil']],
    [['doctor', 'evil']],
    [['logs', 'evil', '--seconds', '0.5']],
  ])('%j prints no escape sequences but ours', async (words) => {
    const { raw } = await onTerminal(words, { home, columns: 80 });
    expect(raw.replace(OURS, '')).not.toMatch(HIDDEN);
    expect(raw).toMatch(/seen|odd/);
  });
});
