// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are texts here
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fixture } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { daemonForTest } from '../daemon/running-daemon.js';
import { createHome, type Home, json, QUIET, turnbuckle } from './turnbuckle.js';

interface Logged {
  readonly server: string;
  readonly tool: string;
  readonly kind: string;
  readonly caller: string | null;
  readonly outcome: string;
  readonly code: string | null;
}

let home: Home;
beforeEach(async () => {
  home = await createHome({ echo: fixture('echo') });
});
const calls = (): Promise<Logged[]> => json<Logged[]>(['calls'], { home });
const ECHO = ['call', 'echo', 'echo', 'text=hi'];

// requirement D5
describe('a command without a daemon', () => {
  it('logs its calls, reads and prompts, with the host as their caller', async () => {
    expect(await turnbuckle(ECHO, { home })).toMatchObject({ code: 0, stderr: QUIET });
    await turnbuckle(['read', 'echo', 'fixture://greeting'], { home });
    await turnbuckle(['prompt', 'echo', 'greet', 'who=Ada'], { home });
    await turnbuckle(['call', 'echo', 'nothing'], { home });
    await turnbuckle(['call', 'echo', 'fail'], { home });
    const none = { server: 'echo', caller: null };
    expect(await calls()).toMatchObject([
      { ...none, kind: 'tool', tool: 'echo', outcome: 'ok' },
      { ...none, kind: 'resource', tool: 'fixture://greeting', outcome: 'ok' },
      { ...none, kind: 'prompt', tool: 'greet', outcome: 'ok' },
      { ...none, kind: 'tool', tool: 'fail', outcome: 'tool-error' },
    ]);
    const { stdout } = await turnbuckle(['calls'], { home });
    expect(stdout.split('\n')[0]).toMatch(/ host /);
  });

  it('logs the caller of --as, and what a rule denied it', async () => {
    await home.write('.config/turnbuckle/mcp.json', {
      servers: { echo: fixture('echo') },
      rules: [{ action: 'deny', caller: 'ada', tool: 'echo' }],
    });
    expect((await turnbuckle([...ECHO, '--as', 'ada'], { home })).code).not.toBe(0);
    const denied = { caller: 'ada', tool: 'echo', outcome: 'failed', code: 'TOOL_UNKNOWN', decision: 'deny' };
    expect(await calls()).toMatchObject([denied]);
  });

  it('logs no command that makes no call', async () => {
    for (const words of [['tools'], ['list'], ['resources', 'echo'], ['ping', 'echo']])
      await turnbuckle(words, { home });
    expect(existsSync(home.file('state/log'))).toBe(false);
    expect(await calls()).toEqual([]);
  });

  it('logs nothing if the log is switched off', async () => {
    const off = { servers: { echo: fixture('echo') }, daemon: { log: { enabled: false } } };
    await home.write('.config/turnbuckle/mcp.json', off);
    expect((await turnbuckle(ECHO, { home })).code).toBe(0);
    expect(existsSync(home.file('state/log'))).toBe(false);
  });

  it('logs without secrets, and opens no database', async () => {
    const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
    await turnbuckle(['call', 'echo', 'echo', `text=${secret}`], { home });
    const journal = home.file('state/log/journal');
    expect(readdirSync(home.file('state/log'))).toEqual(['journal']);
    const written = readdirSync(journal).map((file) => readFileSync(`${journal}/${file}`, 'utf8'));
    expect(written.join('')).toContain('[redacted]');
    expect(written.join('')).not.toContain(secret);
  });

  it('logs no secret of any server, connected or not, in whatever is written', async () => {
    const secrets = ['zebraquartzlampshade77', 'yellowharbourmitten88', 'xenonpicklefortress99'];
    const [first = '', second = '', third = ''] = secrets;
    await turnbuckle(['secrets', 'set', 'third'], {
      home,
      stdin: third,
      env: { TURNBUCKLE_KEYCHAIN: 'off' },
    });
    await home.write('.config/turnbuckle/mcp.json', {
      servers: {
        echo: fixture('echo'),
        other: { ...fixture('echo'), env: { KEY: '${secret:first}', X: '${secret:third}' } },
        own: { ...fixture('echo'), credentials: { bob: { env: { KEY: second } } } },
      },
    });
    const env = { TURNBUCKLE_SECRET_FIRST: first, TURNBUCKLE_KEYCHAIN: 'off' };
    for (const secret of secrets)
      await turnbuckle(['call', 'echo', 'echo', `text=${secret}`, '--as', `me ${secret}`], { home, env });
    const journal = home.file('state/log/journal');
    const written = readdirSync(journal).map((file) => readFileSync(`${journal}/${file}`, 'utf8'));
    expect(written.join('').match(/me \[redacted\]/g)).toHaveLength(3);
    for (const secret of secrets) expect(written.join('')).not.toContain(secret);
  });

  it('makes the call, with a warning, if the log cannot be written', async () => {
    await turnbuckle(['list'], { home });
    await home.write('state/x', '');
    writeFileSync(home.file('state/log'), 'in the way');
    const { code, stdout, stderr } = await turnbuckle(ECHO, { home });
    expect([code, stdout]).toEqual([0, 'hi\n']);
    expect(stderr).toContain('The call was not logged');
  });

  it('shares the log with a daemon and with other commands at the same time', async () => {
    await daemonForTest([], { home });
    const alone = Array.from({ length: 4 }, () => turnbuckle([...ECHO, '--no-daemon'], { home }));
    const shared = Array.from({ length: 4 }, () => turnbuckle(ECHO, { home }));
    for (const { code } of await Promise.all([...alone, ...shared])) expect(code).toBe(0);
    expect(await calls()).toHaveLength(8);
  });
});
