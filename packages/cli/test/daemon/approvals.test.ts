import { fixture, waitUntil } from '@turnbuckle/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { createHome, finished, type Home, json, start, turnbuckle } from '../commands/turnbuckle.js';
import { HAS_TERMINAL, NEEDS_TERMINAL, openTerminal } from '../terminal/terminal.js';
import { daemonForTest, post } from './running-daemon.js';

interface Asked {
  readonly id: string;
  readonly callerId?: string;
  readonly tool: string;
}

let home: Home;
let agent: { readonly url: string; readonly token: string };
beforeEach(async () => {
  home = await createHome({ echo: fixture('echo') });
  await home.write('.config/turnbuckle/mcp.json', {
    servers: { echo: fixture('echo') },
    rules: [{ action: 'ask', caller: 'host', tool: 'echo' }],
  });
  const made = await turnbuckle(['token', 'create', 'claude'], { home });
  const { url } = await daemonForTest([], { home });
  agent = { url, token: made.stdout.trim() };
});

const call = () =>
  post(agent, '/mcp/call', { server: 'echo', tool_name: 'echo', arguments: { text: 'hello' } });
const waiting = () => json<Asked[]>(['approvals'], { home });
const oneWaiting = async (): Promise<Asked> => {
  let found: Asked | undefined;
  await waitUntil(async () => {
    [found] = await waiting();
    return found !== undefined;
  }, 15_000);
  if (found === undefined) throw new Error('nothing waits');
  return found;
};

describe('approvals', () => {
  it('are listed and answered', async () => {
    expect((await turnbuckle(['approvals'], { home })).stderr).toContain('Nothing waits');
    const called = call();
    const asked = await oneWaiting();
    expect(asked).toMatchObject({ callerId: 'claude', tool: 'echo' });
    const { stdout } = await turnbuckle(['approvals', 'list'], { home });
    expect(stdout).toContain('claude wants to call echo');
    expect(stdout).toContain('text: "hello"');
    const wrong = await turnbuckle(['approvals', 'answer', asked.id, 'yes'], { home });
    expect(wrong.code).toBe(13);
    expect((await turnbuckle(['approvals', 'answer', asked.id, 'once'], { home })).code).toBe(0);
    expect(await called).toMatchObject({ status: 200, body: { success: true } });
    const late = await turnbuckle(['approvals', 'answer', asked.id, 'once'], { home });
    expect(late.code).not.toBe(0);
    expect(late.stderr).toContain('Nothing waits for an answer');
  });

  it('are refused with deny', async () => {
    const called = call();
    await turnbuckle(['approvals', 'answer', (await oneWaiting()).id, 'deny'], { home });
    expect(await called).toMatchObject({ status: 403, body: { code: 'CALL_DENIED' } });
  });

  it('are printed as they come where nobody can be asked', async () => {
    const watching = start(['approvals', 'watch', '--json'], { home });
    let text = '';
    watching.stdout?.on('data', (part: Buffer) => {
      text += part.toString();
    });
    const called = call();
    await waitUntil(() => text.endsWith('}\n'), 15_000);
    const asked: Asked = JSON.parse(text);
    watching.kill('SIGINT');
    await turnbuckle(['approvals', 'answer', asked.id, 'once'], { home });
    expect((await called).status).toBe(200);
  });

  it('that a call of the command waits for are told, and can be given elsewhere', async () => {
    const calling = start(['call', 'echo', 'echo', 'text=hi'], { home });
    let said = '';
    calling.stderr?.on('data', (part: Buffer) => {
      said += part.toString();
    });
    const ended = finished(calling);
    await waitUntil(() => said.includes('turnbuckle approvals answer'), 15_000);
    const id = /approvals answer (\S+) once/.exec(said)?.[1] ?? '';
    expect((await turnbuckle(['approvals', 'answer', id, 'once'], { home })).code).toBe(0);
    expect(await ended).toMatchObject({ code: 0, stdout: 'hi\n' });
  });

  it('need a daemon', async () => {
    const { code, stderr } = await turnbuckle(['approvals'], { home: await createHome() });
    expect(code).toBe(17);
    expect(stderr).toContain('No daemon runs');
  });
});

describe.skipIf(!HAS_TERMINAL)(`on a terminal${NEEDS_TERMINAL}`, () => {
  it('a call through the daemon asks, and the answer counts', async () => {
    const terminal = openTerminal(['call', 'echo', 'echo', 'text=hi'], { home });
    await terminal.see('This command wants to call echo');
    await terminal.see('Allow it?');
    terminal.press('s');
    await terminal.see('Allowed until the daemon ends.');
    await terminal.see('hi');
    expect(await terminal.ended).toBe(0);
    expect((await turnbuckle(['call', 'echo', 'echo', 'text=hi'], { home })).stdout).toBe('hi\n');
  });

  it('a call through the daemon shows its progress, and Ctrl-C ends it', async () => {
    const terminal = openTerminal(['call', 'echo', 'sleep', 'ms=60000', 'everyMs=200'], { home });
    await terminal.see('Calling echo:sleep');
    await terminal.see(' %');
    terminal.press('\u0003');
    expect(await terminal.ended).toBe(130);
    const cancelled = (): Promise<string> =>
      turnbuckle(['call', 'echo', 'cancelled'], { home }).then(({ stdout }) => stdout);
    await waitUntil(async () => (await cancelled()).includes('1'), 15_000);
  });

  it('watch asks, and the answer counts', async () => {
    const terminal = openTerminal(['approvals', 'watch'], { home });
    await terminal.see('Waiting for calls');
    const called = call();
    await terminal.see('claude wants to call echo');
    await terminal.see('Allow it?');
    terminal.press('y');
    await terminal.see('Allowed, this time.');
    expect((await called).status).toBe(200);
    terminal.press('\u0003');
    expect(await terminal.ended).toBe(130);
  });

  it('watch does not ask any more what somebody else answered', async () => {
    const terminal = openTerminal(['approvals', 'watch'], { home });
    await terminal.see('Waiting for calls');
    const called = call();
    await terminal.see('Allow it?');
    await turnbuckle(['approvals', 'answer', (await oneWaiting()).id, 'once'], { home });
    await terminal.see('Nobody answered in time.');
    expect((await called).status).toBe(200);
    terminal.press('\u0003');
    expect(await terminal.ended).toBe(130);
  });
});
