/** A daemon in the foreground asks for approvals in its own terminal, and explains at the start how calls are decided. */
import { fixture } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { createHome, turnbuckle } from '../commands/turnbuckle.js';
import { post } from '../daemon/running-daemon.js';
import { HAS_TERMINAL, KEYS, NEEDS_TERMINAL, openTerminal } from './terminal.js';

const BODY = { server: 'demo', tool_name: 'echo', arguments: { text: 'hello' } };

it.skipIf(!HAS_TERMINAL)(
  `the daemon asks in its terminal, and uses the answer${NEEDS_TERMINAL}`,
  async () => {
    const home = await createHome({ demo: fixture('echo') });
    const token = (await turnbuckle(['token', 'create', 'claude'], { home })).stdout.trim();
    const terminal = openTerminal(['serve', '--port', '0'], { home });
    await terminal.see('Turnbuckle is running at ');
    await terminal.see('Agent calls require your approval unless a rule allows them');
    const url = /Turnbuckle is running at (\S+)/.exec(terminal.text())?.[1] ?? '';
    const called = post({ url, token }, '/mcp/call', BODY);
    await terminal.see('claude wants to call echo');
    await terminal.see('Allow it?');
    terminal.press('y');
    await terminal.see('Allowed once.');
    expect(await called).toMatchObject({ status: 200, body: { success: true } });
    // An approval that is answered elsewhere closes the prompt.
    const again = post({ url, token }, '/mcp/call', BODY);
    await terminal.see('Allow it?');
    const { stdout } = await turnbuckle(['approvals', '--json'], { home });
    await turnbuckle(['approvals', 'answer', JSON.parse(stdout)[0].id, 'deny'], { home });
    await terminal.see('Answered elsewhere.');
    expect(await again).toMatchObject({ status: 403 });
    terminal.press(KEYS.ctrlC);
    expect(await terminal.ended).toBe(0);
  },
);
