import { stat } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { HAS_TERMINAL, KEYS, NEEDS_TERMINAL, openTerminal } from '../terminal/terminal.js';
import { argumentServer } from './local-servers.js';
import { createHome, type Finished, type Home, json, turnbuckle } from './turnbuckle.js';

const SECRET = 'xV9-correct horse "battery"';
const OFF = { TURNBUCKLE_KEYCHAIN: 'off' };

let home: Home;
beforeEach(async () => {
  home = await createHome({
    mine: { ...argumentServer, env: { GREETING: '${secret:greeting}' } },
  });
});

interface Given {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}
const run = (words: string, { stdin, env }: Given = {}): Promise<Finished> =>
  turnbuckle(['secrets', ...words.split(' ')], {
    home,
    ...(stdin !== undefined && { stdin }),
    env: { ...OFF, ...env },
  });
const list = (env = {}) =>
  json<{ key?: string; secrets: Array<{ name: string; updatedAt: string }> }>(['secrets', 'list'], {
    home,
    env: { ...OFF, ...env },
  });

describe('turnbuckle secrets', () => {
  it('stores a value from stdin, and shows names only', async () => {
    expect(await run('set greeting', { stdin: `${SECRET}\n` })).toMatchObject({
      code: 0,
      stdout: 'Secret stored. Use it as ${secret:greeting} in the configuration.\n',
      stderr: '',
    });
    const shown = await run('list');
    expect(shown.stdout).toMatch(/^greeting {2}\d{4}-\d\d-\d\d \d\d:\d\d\n$/);
    expect(shown.stderr).toContain('The encryption key is in a file next to the vault');
    expect(await list()).toMatchObject({ key: 'file', secrets: [{ name: 'greeting' }] });
    expect(JSON.stringify([shown, await list(), await home.read('state/vault.json')])).not.toContain(
      'battery',
    );
    expect((await stat(home.file('state/vault.json'))).mode & 0o777).toBe(0o600);
  });

  it('never accepts a value as an argument, and does not repeat it', async () => {
    for (const words of [
      'set greeting battery',
      'set greeting=battery',
      'set greeting a battery',
      'set battery=',
    ]) {
      const { code, stdout, stderr } = await run(words);
      expect(code, words).toBe(13);
      expect(stderr).toContain('The value would be visible to other processes and in your shell history');
      expect(stdout + stderr).not.toContain('battery');
    }
    expect(await list()).toMatchObject({ secrets: [] });
  });

  it('removes a secret', async () => {
    await run('set greeting', { stdin: SECRET });
    expect(await run('rm greetng')).toMatchObject({
      code: 13,
      stderr: expect.stringContaining('"greeting"'),
    });
    expect(await run('rm greeting')).toMatchObject({ code: 0, stdout: 'Removed greeting\n' });
    expect((await run('list')).stderr).toContain('No secrets');
    expect((await run('rm greeting')).code).toBe(13);
  });

  it.each([
    ['set', 'secret name'],
    ['set greeting', 'No value'],
    ['set {x}', 'Invalid secret name.'],
    ['remove greeting', 'usage: turnbuckle secrets'],
    ['lst', 'Did you mean "turnbuckle secrets list"?'],
    ['rotate now', 'Unexpected argument.'],
    ['rotate --to moon', 'keychain, file, passphrase'],
  ])('refuses: %s', async (words, message) => {
    const { code, stderr } = await run(words, { stdin: '' });
    expect(code).toBe(13);
    expect(stderr).toContain(message);
  });

  it('rotate gives the vault another key', async () => {
    const words = { TURNBUCKLE_PASSPHRASE: 'the new words' };
    expect((await run('rotate')).code).toBe(24);
    await run('set greeting', { stdin: SECRET });
    expect(await run('rotate')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('in a file next to the vault'),
    });
    expect(
      await run('rotate --to passphrase', { env: { TURNBUCKLE_NEW_PASSPHRASE: 'the new words' } }),
    ).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('derived from your passphrase'),
    });
    expect(await run('list')).toMatchObject({
      code: 24,
      stderr: expect.stringContaining('locked with a passphrase'),
    });
    expect(await list(words)).toMatchObject({ key: 'passphrase', secrets: [{ name: 'greeting' }] });
    expect((await run('rotate --to file', { env: words })).code).toBe(0);
    expect(await list()).toMatchObject({ key: 'file' });
  });

  it('warns that a file was readable by others', async () => {
    await run('set greeting', { stdin: SECRET });
    const { chmod } = await import('node:fs/promises');
    await chmod(home.file('state/vault.json'), 0o644);
    expect((await run('list')).stderr).toContain('warning Other users could read');
    expect((await run('list')).stderr).not.toContain('warning');
  });
});

describe('${secret:name} of a server', () => {
  const ping = (env = {}): Promise<Finished> =>
    turnbuckle(['ping', 'mine'], { home, env: { ...OFF, ...env } });

  it('comes from the environment, then the vault, then the command', async () => {
    const missing = await ping();
    expect(missing.code).toBe(10);
    expect(missing.stderr).toContain('turnbuckle secrets set greeting');
    await home.write('.config/turnbuckle/mcp.json', {
      secretCommand: ['printf', 'from the command: {name}'],
      servers: {
        mine: {
          command: 'sh',
          args: ['-c', 'printf "%s\n" "$GREETING" >> "$0"; exec false', home.file('seen')],
          env: { GREETING: '${secret:greeting}' },
        },
      },
    });
    const seen = async (): Promise<string | undefined> => (await home.read('seen')).trim().split('\n').at(-1);
    await ping();
    expect(await seen()).toBe('from the command: greeting');
    await run('set greeting', { stdin: 'from the vault' });
    await ping();
    expect(await seen()).toBe('from the vault');
    await ping({ TURNBUCKLE_SECRET_GREETING: 'from the environment' });
    expect(await seen()).toBe('from the environment');
  });

  it('is not looked for elsewhere when the vault cannot be opened', async () => {
    await run('set greeting', { stdin: SECRET });
    await home.write('state/vault.json', '{}');
    const { code, stderr } = await ping();
    expect(code).toBe(24);
    expect(stderr).toContain('is damaged');
  });
});

describe.skipIf(!HAS_TERMINAL)(`at a terminal${NEEDS_TERMINAL}`, () => {
  const open = (...words: string[]) => openTerminal(['secrets', ...words], { home, env: OFF });

  it('does not show a secret while it is typed', async () => {
    const terminal = open('set', 'greeting');
    await terminal.see('Value of greeting');
    terminal.press(KEYS.enter);
    await terminal.see('It is empty');
    terminal.press('hunter2-unseen', KEYS.enter);
    await terminal.see('Secret stored.');
    expect(await terminal.ended).toBe(0);
    expect(terminal.raw()).not.toContain('hunter2');
    expect(await list()).toMatchObject({ secrets: [{ name: 'greeting' }] });
  });

  it('asks twice for a new passphrase, and once for a known one', { timeout: 60_000 }, async () => {
    await run('set greeting', { stdin: SECRET });
    const rotating = open('rotate', '--to', 'passphrase');
    await rotating.see('New passphrase');
    rotating.press('short', KEYS.enter);
    await rotating.see('at least 8');
    rotating.press('-but-longer', KEYS.enter);
    await rotating.see('Repeat the passphrase');
    rotating.press('short-but-longer', KEYS.enter);
    await rotating.see('derived from your passphrase');
    expect(await rotating.ended).toBe(0);
    const listing = open('list');
    await listing.see('Vault passphrase');
    listing.press('short-but-longer', KEYS.enter);
    await listing.see('greeting');
    expect(await listing.ended).toBe(0);
    expect(rotating.raw() + listing.raw()).not.toContain('longer');
  });

  it('two different passphrases change nothing', { timeout: 60_000 }, async () => {
    await run('set greeting', { stdin: SECRET });
    const rotating = open('rotate', '--to', 'passphrase');
    await rotating.see('New passphrase');
    rotating.press('one of them', KEYS.enter);
    await rotating.see('Repeat the passphrase');
    rotating.press('another one', KEYS.enter);
    await rotating.see('do not match');
    expect(await rotating.ended).toBe(13);
    expect(await list()).toMatchObject({ key: 'file' });
  });
});
