import { beforeAll, describe, expect, it } from 'vitest';
import { displayWidth } from '../../src/terminal/display-width.js';
import { call, createLoggedHome } from '../commands/logged-home.js';
import { type Home, turnbuckle } from '../commands/turnbuckle.js';
import { HAS_TERMINAL, NEEDS_TERMINAL, onTerminal } from './terminal.js';

const LONG = 'a-rather-long-name-of-a-server-for-width';
/** The short time of a call: of today, of this year, of an earlier year. */
const SHORT = /^(?:\d\d:\d\d:\d\d|\d\d-\d\d \d\d:\d\d|\d{4}-\d\d-\d\d) /;

let home: Home;
beforeAll(async () => {
  home = await createLoggedHome(
    [
      call('k3v9x1-41', { startedAt: Date.now() - 3 * 86_400_000 }),
      call('k3v9x1-42', { server: LONG, tool: 'search_everything', caller: 'claude-code' }),
      call('k3v9x1-43', { outcome: 'failed', code: 'CALL_TIMEOUT', error: 'It did not answer.' }),
      call('8dd1c2e4-5a0f-4a51-9df5-0e0a5a3f4c11'),
    ],
    {
      servers: [LONG, 'demo'].map((name) => ({
        name,
        config: '{}',
        enabled: true,
        at: Date.now() - 1e9,
        removed: false,
        tools: 3,
        toolTokens: 900,
      })),
    },
  );
  const words = ['token', 'create', 'continuous-integration', '--expires', '7d', '--access', 'call,read'];
  await turnbuckle(
    [...words, '--capability', 'mcp_github', '--capability', 'mcp_files', '--capability', 'mcp_web'],
    { home },
  );
});

const widest = (text: string): number => Math.max(...text.split('\n').map(displayWidth));

describe.skipIf(!HAS_TERMINAL)(`the log on a narrow terminal${NEEDS_TERMINAL}`, () => {
  it.each([[['calls']], [['stats']], [['token', 'list']]])('%j has each row in one line', async (words) => {
    const [wide, narrow] = await Promise.all([
      onTerminal(words, { home, columns: 200 }),
      onTerminal(words, { home, columns: 80 }),
    ]);
    expect(widest(narrow.screen)).toBeLessThanOrEqual(80);
    expect(narrow.screen.split('\n').length).toBe(wide.screen.split('\n').length);
  });

  it('shows why a call failed and its id, however long the names are', async () => {
    const { screen } = await onTerminal(['calls', '--limit', '3', '--search', 'echo'], { home, columns: 80 });
    const line = screen.split('\n').find((one) => one.includes('k3v9x1-43'));
    expect(line).toContain('CALL_TIMEOUT');
  });

  it('shows the day only for calls of another day', async () => {
    const { screen } = await onTerminal(['calls'], { home, columns: 80 });
    const [head, ...lines] = screen.split('\n');
    expect(head).toMatch(/^time +call +took +caller +id/);
    expect(lines.map((line) => SHORT.test(line))).toEqual([true, true, true, true, false]);
    expect((await turnbuckle(['calls'], { home })).stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d /);
  });
});
