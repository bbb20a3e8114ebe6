/** A conversation on the terminal while something else goes on: a pending approval, a restart of the daemon, Ctrl-C. */
import { ERRORS } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';
import { daemonForTest, post, type RunningDaemon } from '../daemon/running-daemon.js';
import { HAS_TERMINAL, KEYS, NEEDS_TERMINAL, openTerminal } from '../terminal/terminal.js';
import { chat, createChatHome, listed } from './chat-home.js';

const CTRL_D = '\u0004';

async function allowCalls(daemon: RunningDaemon): Promise<void> {
  const headers = { authorization: `Bearer ${daemon.token}` };
  const response = await fetch(`${daemon.url}/api/approvals`, { headers });
  const { approvals } = (await response.json()) as { approvals: ReadonlyArray<{ id: string }> };
  for (const { id } of approvals) await post(daemon, `/api/approvals/${id}`, { answer: 'once' });
}

// requirement E7, P2
describe.skipIf(!HAS_TERMINAL)(`a chat on the terminal${NEEDS_TERMINAL}`, () => {
  it('sends lines while a call waits for approval, and shows its result when it is there', async () => {
    const home = await createChatHome();
    const daemon = await daemonForTest([], { home });
    const terminal = openTerminal(['chat'], { home });
    await terminal.see('Ctrl-D');
    terminal.press('call\r');
    await terminal.see('A call is waiting for approval: turnbuckle approvals');
    terminal.press('still there?\r');
    await terminal.see('you said still there?');
    await allowCalls(daemon);
    await terminal.see('result: ');
    terminal.press(CTRL_D);
    await terminal.see('Continue this conversation: turnbuckle chat --conversation');
    expect(await terminal.ended).toBe(0);
  });

  it('loses no line by Ctrl-C, and says how to go on', async () => {
    const home = await createChatHome();
    await daemonForTest([], { home });
    const terminal = openTerminal(['chat'], { home });
    await terminal.see('Ctrl-D');
    terminal.press('call\r');
    await terminal.see('A call is waiting');
    terminal.press('and this\r');
    await terminal.see('you said and this');
    terminal.press(KEYS.ctrlC);
    await terminal.see('Continue this conversation: turnbuckle chat --conversation');
    expect(await terminal.ended).toBe(130);
    expect(await listed({ home })).toMatchObject([{ state: 'waiting' }]);
  });

  it('goes on when the daemon was restarted, also at another port', async () => {
    const home = await createChatHome();
    const daemon = await daemonForTest([], { home });
    const terminal = openTerminal(['chat'], { home });
    await terminal.see('Ctrl-D');
    terminal.press('before\r');
    await terminal.see('you said before');
    await daemon.stop();
    terminal.press('between\r');
    await terminal.see('The daemon is not responding. Waiting for it to restart.');
    await daemonForTest([], { home });
    await terminal.see('you said between');
    terminal.press('after\r');
    await terminal.see('you said after');
    terminal.press(CTRL_D);
    expect(await terminal.ended).toBe(0);
    expect(await listed({ home })).toMatchObject([{ title: 'before' }]);
  });
});

// requirement E7
describe('a chat with a daemon that is not there', () => {
  it('ends with the code for it', async () => {
    const home = await createChatHome();
    const { code, stderr } = await chat(['hello'], { home, env: { MCP_BRIDGE_URL: 'http://127.0.0.1:9' } });
    expect(code).toBe(ERRORS.CONNECT_FAILED.exit);
    expect(stderr).toContain('error CONNECT_FAILED No response from the daemon at http://127.0.0.1:9');
    expect(stderr).toContain('Check MCP_BRIDGE_URL');
  });
});
