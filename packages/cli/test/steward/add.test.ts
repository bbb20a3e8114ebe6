import { readFileSync } from 'node:fs';
import { waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { createHome, json, turnbuckle } from '../commands/turnbuckle.js';
import { HAS_TERMINAL, KEYS, NEEDS_TERMINAL, openTerminal } from '../terminal/terminal.js';
import { openStewardHome, recordWithFields, type StewardHome } from './steward-home.js';

const NAME = 'io.github.acme/files';
const SECRET = 'canary-77b1c05e';

interface Pending {
  readonly id: string;
  readonly requestId: string;
  readonly subject: { readonly action: string };
}

const pending = ({ home }: StewardHome): Promise<Pending[]> =>
  json<Pending[]>(['steward', 'approvals'], { home });

/** Without a sandbox on this machine the test has a warning, which is a question of its own. */
async function finishAddition(stage: StewardHome, requestId: string): Promise<void> {
  const { home } = stage;
  await waitUntil(async () => {
    const { state, waitingFor } = await json<{ state: string; waitingFor?: string }>(
      ['steward', 'status', requestId],
      { home },
    );
    if (state === 'failed') throw new Error('The request failed.');
    const [second] = waitingFor === undefined ? [] : await pending(stage);
    if (second !== undefined) await turnbuckle(['steward', 'approve', second.id], { home });
    return state === 'completed';
  }, 40_000);
}

describe('add <registry name> without a terminal', () => {
  it('shows exactly what would be installed, and how to approve it', async () => {
    const stage = await openStewardHome();
    const { home, npm } = stage;
    await stage.daemon();
    const { code, stdout, stderr } = await turnbuckle(['add', NAME], { home });
    expect(code).toBe(15);
    expect(stdout).toContain('Installing @acme/server-files 1.2.3 as server "files"');
    expect(stdout).toContain(`  │ command: ${process.execPath} `);
    expect(stdout).toContain(`  │ integrity: ${npm.integrityOf('@acme/server-files', '1.2.3')}\n`);
    const [asked] = await pending(stage);
    expect(stderr).toContain(`Approve the request: turnbuckle steward approve ${asked?.id}`);
    expect(JSON.parse(readFileSync(home.config, 'utf8'))).not.toHaveProperty('servers');
    const { stderr: mentioned } = await turnbuckle(['approvals'], { home });
    expect(mentioned).toContain('1 install approval is pending.');
    const approved = await turnbuckle(['steward', 'approve', asked?.id.slice(0, 8) ?? ''], { home });
    expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining('Approved: Installing') });
    await finishAddition(stage, asked?.requestId ?? '');
    const { stdout: shown } = await turnbuckle(['steward', 'status', asked?.requestId ?? ''], { home });
    expect(shown).toContain('Added files with 2 tools\n  count_words\n  whoami\n');
  });

  it('installs nothing after a refusal', async () => {
    const stage = await openStewardHome();
    const { home } = stage;
    await stage.daemon();
    await turnbuckle(['add', NAME], { home });
    const [asked] = await pending(stage);
    const refused = await turnbuckle(['steward', 'refuse', asked?.id ?? ''], { home });
    expect(refused).toMatchObject({ code: 0, stdout: expect.stringContaining('Refused: Installing') });
    expect(await pending(stage)).toEqual([]);
    const again = await turnbuckle(['steward', 'approve', asked?.id ?? ''], { home });
    expect(again).toMatchObject({ code: 13, stderr: expect.stringContaining('No pending install approval') });
    expect(JSON.parse(readFileSync(home.config, 'utf8'))).not.toHaveProperty('servers');
  });

  it('says how to start the daemon, and takes no options of an entry', async () => {
    const home = await createHome({});
    const { code, stderr } = await turnbuckle(['add', NAME], { home });
    expect(code).toBe(17);
    expect(stderr).toContain('Start the daemon: turnbuckle serve start');
    const withOption = await turnbuckle(['add', NAME, '--env', 'A=b'], { home });
    expect(withOption).toMatchObject({ code: 13, stderr: expect.stringContaining('Remove --env') });
    const path = await turnbuckle(['add', './server/files'], { home });
    expect(path).toMatchObject({ code: 13, stderr: expect.stringContaining('Missing command or URL.') });
  });

  it('passes on why a server must not be installed', async () => {
    const stage = await openStewardHome({ settings: { allow: [] } });
    await stage.daemon();
    const { code, stderr } = await turnbuckle(['add', NAME], { home: stage.home });
    expect(code).toBe(15);
    expect(stderr).toContain('"@acme/server-files"');
    const unknown = await turnbuckle(['add', 'io.github.acme/nope'], { home: stage.home });
    expect(unknown).toMatchObject({ code: 11, stderr: expect.stringContaining('turnbuckle search') });
  });
});

describe('approve', () => {
  it('takes secrets from stdin only, and repeats none', async () => {
    const stage = await openStewardHome({ records: [recordWithFields()] });
    const { home } = stage;
    await stage.daemon();
    await turnbuckle(['add', NAME], { home });
    const [asked] = await pending(stage);
    const approve = (words: readonly string[], stdin = '') =>
      turnbuckle(['steward', 'approve', asked?.id ?? '', ...words], { home, stdin });
    const attempts = [
      [await approve([`FILES_KEY=${SECRET}`]), 'secrets cannot be passed as arguments'],
      [await approve([`OTHER=${SECRET}`]), '"OTHER" is not a field'],
      [await approve([SECRET]), 'expected field=value'],
      [await approve(['--secrets-stdin'], `{ "FILES_KEY": ${SECRET}`), 'a JSON object with string values'],
      [
        await approve(['--secrets-stdin'], `{ "FILES_KEY": ["${SECRET}"] }`),
        'a JSON object with string values',
      ],
      [await approve(['FILES_ROOT=/srv']), 'A value is required for "FILES_KEY".'],
      [await approve([]), '"FILES_KEY", "FILES_ROOT"'],
    ] as const;
    for (const [{ code, stdout, stderr }, text] of attempts) {
      expect({ code, stderr }).toEqual({ code: 13, stderr: expect.stringContaining(text) });
      expect(stdout + stderr).not.toContain(SECRET);
    }
    expect(await pending(stage)).toHaveLength(1);
    const given = await approve(
      ['FILES_ROOT=/srv', '--secrets-stdin', '--json'],
      JSON.stringify({ FILES_KEY: SECRET }),
    );
    expect(given).toMatchObject({ code: 0, stderr: '' });
    await finishAddition(stage, asked?.requestId ?? '');
    const config = readFileSync(home.config, 'utf8');
    expect(config).toContain('"FILES_ROOT": "/srv"');
    expect(config).not.toContain(SECRET);
  });
});

describe.skipIf(!HAS_TERMINAL)(`add <registry name> on a terminal${NEEDS_TERMINAL}`, () => {
  it('asks, asks for the fields, follows it to the end and prints the tools', async () => {
    const stage = await openStewardHome({ records: [recordWithFields()] });
    await stage.daemon();
    const terminal = openTerminal(['add', NAME], { home: stage.home });
    await terminal.see('Installing @acme/server-files 1.2.3');
    await terminal.see('integrity: sha512-');
    await terminal.see('field FILES_KEY (required, secret): The key');
    await terminal.see('Install exactly this?');
    terminal.press('y');
    await terminal.see('FILES_KEY: The key');
    terminal.press(SECRET, KEYS.enter);
    await terminal.see('FILES_ROOT: Where the files are');
    terminal.press('/srv', KEYS.enter);
    // The question about a test with warnings comes only where there is no sandbox.
    await waitUntil(() => /Continue\?|Added files/.test(terminal.text()), 40_000);
    if (terminal.text().includes('Continue?')) terminal.press('y');
    await terminal.see('Added files with 2 tools');
    await terminal.see('count_words');
    expect(await terminal.ended).toBe(0);
    expect(terminal.raw()).not.toContain(SECRET);
  });

  it.each([
    ['no', KEYS.enter, 20, 'You declined: server "files" was not added.', 0],
    ['Ctrl-C', KEYS.ctrlC, 130, 'The request continues in the background.', 1],
  ])('and %s adds nothing', async (_, key, exit, text, left) => {
    const stage = await openStewardHome();
    await stage.daemon();
    const terminal = openTerminal(['add', NAME], { home: stage.home });
    await terminal.see('Install exactly this?');
    terminal.press(key);
    await terminal.see(text);
    expect(await terminal.ended).toBe(exit);
    const open = await pending(stage);
    expect(open).toHaveLength(left);
    const [asked] = open;
    if (asked !== undefined) {
      expect(terminal.text()).toContain(`turnbuckle steward approve ${asked.id.slice(0, 8)}`);
      expect(terminal.text()).toContain(`turnbuckle steward cancel ${asked.requestId.slice(0, 8)}`);
    }
    expect(terminal.text()).not.toContain('Nothing was done');
    expect(JSON.parse(readFileSync(stage.home.config, 'utf8'))).not.toHaveProperty('servers');
  });
});
