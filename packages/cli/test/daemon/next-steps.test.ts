/** An error that a user sees names the command, option or variable that helps. */
import { fixture } from '@turnbuckle/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createHome, type Home, turnbuckle } from '../commands/turnbuckle.js';
import { daemonForTest } from './running-daemon.js';

let home: Home;
beforeAll(async () => {
  home = await createHome({ echo: fixture('echo'), gone: { url: 'http://127.0.0.1:9/mcp?key=hidden' } });
});

describe('an error names what to do', () => {
  it('about an unreachable server: its address, and the command that shows its configuration', async () => {
    for (const words of [
      ['ping', 'gone'],
      ['doctor', 'gone'],
    ]) {
      const { stdout, stderr } = await turnbuckle(words, { home });
      expect(stdout + stderr).toContain('(http://127.0.0.1:9)');
      expect(stdout + stderr).toContain('turnbuckle config gone');
      expect(stdout + stderr).not.toContain('hidden');
    }
  });

  it('about an address that this machine does not have', async () => {
    const { code, stderr } = await turnbuckle(['serve', '--host', '192.0.2.1', '--port', '0'], { home });
    expect(code).toBe(29);
    expect(stderr).toContain('this machine has no such address');
    expect(stderr).toContain('--host 127.0.0.1');
  });

  it('about a daemon that is already running, a port in use, an unknown token, and a token with too little access', async () => {
    const daemon = await daemonForTest([], { home });
    const second = await turnbuckle(['serve', '--port', '0'], { home });
    expect(second.stderr).toContain('turnbuckle serve stop');
    expect(second.stderr).toContain('TURNBUCKLE_STATE_DIR');
    const other = { TURNBUCKLE_STATE_DIR: home.file('other') };
    const taken = await turnbuckle(['serve', '--port', new URL(daemon.url).port], { home, env: other });
    expect(taken.stderr).toContain('the port is already in use');
    expect(taken.stderr).toContain('--port <n>');
    const from = (token: string) =>
      turnbuckle(['call', 'echo', 'echo', 'text=hi'], {
        home,
        env: { MCP_BRIDGE_URL: daemon.url, TURNBUCKLE_TOKEN: token },
      });
    const wrong = await from('tbk_wrong');
    expect(wrong.stderr).toContain('This token is unknown, expired or revoked.');
    expect(wrong.stderr).toContain('TURNBUCKLE_TOKEN');
    const { stdout } = await turnbuckle(['token', 'create', 'watcher', '--access', 'read'], { home });
    expect((await from(stdout.trim())).stderr).toContain('turnbuckle token create <name> --access call');
  });
});
