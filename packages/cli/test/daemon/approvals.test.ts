import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formatTimestamp } from '../../src/terminal/time-format.js';
import { createHome, finished, type Home, json, start, turnbuckle } from '../commands/turnbuckle.js';
import { HAS_TERMINAL, NEEDS_TERMINAL, openTerminal } from '../terminal/terminal.js';
import { daemonForTest, post, type RunningDaemon, startDaemon } from './running-daemon.js';

interface Asked {
  readonly id: string;
  readonly callerId?: string;
  readonly tool: string;
  readonly expiresAt: string;
}

/** A home whose owner is asked too. */
async function askingHome(): Promise<Home> {
  const made = await createHome();
  await made.write('.config/turnbuckle/mcp.json', {
    servers: { echo: fixture('echo') },
    rules: [{ action: 'ask', caller: 'host', tool: 'echo' }],
  });
  return made;
}

let home: Home;
let agent: { readonly url: string; readonly token: string };

/** An agent that calls, and the daemon that it calls. */
async function begin(open: typeof startDaemon): Promise<RunningDaemon> {
  home = await askingHome();
  const made = await turnbuckle(['token', 'create', 'claude'], { home });
  const daemon = await open([], { home });
  agent = { url: daemon.url, token: made.stdout.trim() };
  return daemon;
}

const call = () =>
  post(agent, '/mcp/call', { server: 'echo', tool_name: 'echo', arguments: { text: 'hello' } });
const waiting = () => json<Asked[]>(['approvals'], { home });
const oneWaiting = async (): Promise<Asked> => {
  let found: Asked | undefined;
  await waitUntil(async () => {
    [found] = await waiting();
    return found !== undefined;
  }, 15_000);
  if (found === undefined) throw new Error('no approval is pending');
  return found;
};

describe('approvals', () => {
  // One for all: each test answers what it asks for, and what changes the settings has a daemon of its own.
  let daemon: RunningDaemon;
  beforeAll(async () => {
    daemon = await begin(startDaemon);
  });
  afterAll(() => daemon.stop('SIGKILL'));

  it('are listed and answered', async () => {
    expect((await turnbuckle(['approvals'], { home })).stderr).toContain('No pending approvals');
    const called = call();
    const asked = await oneWaiting();
    expect(asked).toMatchObject({ callerId: 'claude', tool: 'echo' });
    const { stdout } = await turnbuckle(['approvals', 'list'], { home });
    expect(stdout).toContain('claude wants to call echo');
    expect(stdout).toContain('text: "hello"');
    expect(stdout).toContain(`  until        ${formatTimestamp(Date.parse(asked.expiresAt))}`);
    const wrong = await turnbuckle(['approvals', 'answer', asked.id, 'yes'], { home });
    expect(wrong.code).toBe(13);
    expect(await turnbuckle(['approvals', 'answer', asked.id, 'once'], { home })).toMatchObject({
      code: 0,
      stdout: 'Allowed once.\n',
    });
    expect(await called).toMatchObject({ status: 200, body: { success: true } });
    const late = await turnbuckle(['approvals', 'answer', asked.id, 'once'], { home });
    expect(late.code).toBe(13);
    expect(late.stderr).toContain('No pending approval');
  });

  it('are shown in full with --full, however long they are', async () => {
    const text = `${'long '.repeat(10_000)}the end of it`;
    const called = post(agent, '/mcp/call', { server: 'echo', tool_name: 'echo', arguments: { text } });
    const { id } = await oneWaiting();
    const short = await turnbuckle(['approvals', 'show', id], { home });
    expect(short.stdout).toContain('not shown');
    expect(short.stdout.replaceAll('\n  │ ', '')).not.toContain('the end of it');
    expect(short.stderr).toContain(`turnbuckle approvals show ${id} --full`);
    const full = await turnbuckle(['approvals', 'show', id, '--full'], { home });
    expect(full.code).toBe(0);
    expect(full.stdout.replaceAll('\n  │ ', '')).toContain('the end of it');
    expect(full.stdout).not.toContain('not shown');
    expect(await json(['approvals', 'show', id, '--full'], { home })).toMatchObject({
      id,
      arguments: { text },
    });
    await turnbuckle(['approvals', 'answer', id, 'deny'], { home });
    await called;
    for (const more of [[], ['--full']]) {
      const late = await turnbuckle(['approvals', 'show', id, ...more], { home });
      expect(late.code).toBe(13);
      expect(late.stderr).toContain('No pending approval');
    }
  });

  it('are answered and shown by a unique prefix of their id', async () => {
    const called = call();
    const { id } = await oneWaiting();
    const wrong = id.startsWith('0000') ? 'ffff' : '0000';
    const unknown = await turnbuckle(['approvals', 'answer', wrong, 'once'], { home });
    expect([unknown.code, unknown.stderr]).toEqual([13, expect.stringContaining('No pending approval')]);
    const shown = await turnbuckle(['approvals', 'show', id.slice(0, 6)], { home });
    expect(shown.stdout).toContain(`${id}  claude wants to call echo`);
    const short = await turnbuckle(['approvals', 'answer', id.slice(0, 3), 'once'], { home });
    expect([short.code, short.stderr]).toEqual([13, expect.stringContaining('at least 4')]);
    const answered = await turnbuckle(['approvals', 'answer', id.slice(0, 5), 'once', '--json'], { home });
    expect(JSON.parse(answered.stdout)).toEqual({ id, answer: 'once' });
    expect((await called).status).toBe(200);
  });

  it('are refused with deny', async () => {
    const called = call();
    await turnbuckle(['approvals', 'answer', (await oneWaiting()).id, 'deny'], { home });
    expect(await called).toMatchObject({ status: 403, body: { code: 'CALL_DENIED' } });
  });

  it('are printed as they arrive without a terminal', async () => {
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

  it('that `turnbuckle call` waits for are printed, and can be answered elsewhere', async () => {
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

  it('are waited for until --timeout, and the same call resumes waiting', async () => {
    const words = ['call', 'echo', 'echo', 'text=hi', '--timeout', '2'];
    const first = await turnbuckle(words, { home });
    expect(first.code).toBe(15);
    expect(first.stderr).toContain('APPROVAL_PENDING');
    const id = /error[\s\S]*approvals answer (\S+) once/.exec(first.stderr)?.[1] ?? '';
    expect((await waiting()).map((one) => one.id)).toEqual([id]);
    expect((await turnbuckle(['approvals', 'answer', id, 'once'], { home })).code).toBe(0);
    expect(await turnbuckle(words, { home })).toMatchObject({ code: 0, stdout: 'hi\n' });
  });

  it('name file and line of an invalid rule that requires approval, with and without a daemon', async () => {
    const own = await askingHome();
    await daemonForTest([], { home: own });
    await own.write('.config/turnbuckle/mcp.json', {
      servers: { echo: fixture('echo') },
      rules: [{ action: 'deny', sever: 'other' }],
    });
    const line = (await own.read('.config/turnbuckle/mcp.json')).split('\n').indexOf('  "rules": [') + 2;
    const place = `${own.config}:${line}`;
    const words = ['call', 'echo', 'echo', 'text=hi', '--timeout', '3'];
    const alone = await turnbuckle([...words, '--no-daemon'], { home: own });
    expect(alone.code).toBe(15);
    expect(alone.stderr).toContain(`The rule that requires approval is at ${place}`);
    await waitUntil(async () => {
      const { stderr } = await turnbuckle(words, { home: own });
      return stderr.includes(`"this rule is invalid" (${place})`);
    }, 30_000);
  });

  it('show how to answer, and whose call is waiting', async () => {
    const calling = start(['call', 'echo', 'echo', 'text=hi'], { home });
    const ended = finished(calling);
    const asked = await oneWaiting();
    const { stdout, stderr } = await turnbuckle(['approvals'], { home });
    expect(stdout).toContain(`${asked.id}  The owner wants to call echo`);
    expect(stderr).toContain('turnbuckle approvals answer <id> once');
    await turnbuckle(['approvals', 'answer', asked.id, 'deny'], { home });
    expect((await ended).code).toBe(15);
  });

  it('show what changed since the tool was approved', async () => {
    await home.write('.config/turnbuckle/mcp.json', { servers: { shifty: fixture('schema-changing') } });
    await turnbuckle(['rules', 'pin', 'shifty', 'shifty', '--no-daemon', '--yes'], { home });
    const pins = (await home.read('state/pins.json'))
      .replace('Adds a note', 'Added a note')
      .replace(/"hash": "../, '"hash": "ff');
    const other = await createHome({ shifty: fixture('schema-changing') });
    await other.write('state/pins.json', pins);
    await daemonForTest([], { home: other });
    const ended = turnbuckle(['call', 'shifty', 'shifty', 'note=x'], { home: other });
    let shown = '';
    await waitUntil(async () => {
      shown = (await turnbuckle(['approvals'], { home: other })).stdout;
      return shown.includes('wants to call shifty');
    }, 15_000);
    expect(shown).toContain('  │ - description: "Added a note"');
    expect(shown).toContain('  │ + description: "Adds a note"');
    const [asked] = await json<Asked[]>(['approvals'], { home: other });
    await turnbuckle(['approvals', 'answer', asked?.id ?? '', 'deny'], { home: other });
    expect((await ended).code).toBe(15);
  });

  it('need a daemon', async () => {
    const { code, stderr } = await turnbuckle(['approvals'], { home: await createHome() });
    expect(code).toBe(17);
    expect(stderr).toContain('No daemon is running');
    const named = await turnbuckle(['approvals'], { home, env: { MCP_BRIDGE_URL: 'http://127.0.0.1:9' } });
    expect(named.code).toBe(17);
    expect(named.stderr).toContain('No response from http://127.0.0.1:9');
  });

  it('are those of the daemon, also with --no-daemon and --config', async () => {
    for (const words of [['--no-daemon'], ['--config', home.config]]) {
      const { code, stderr } = await turnbuckle(['approvals', ...words], { home });
      expect({ code, stderr }).toEqual({ code: 0, stderr: 'No pending approvals.\n' });
    }
  });

  it.each([[['watchs']], [['list', 'x']], [['watch', 'x']], [['frobnicate']]])(
    '%j is refused',
    async (words) => {
      const { code, stderr } = await turnbuckle(['approvals', ...words], { home });
      expect(code).toBe(13);
      expect(stderr).toContain(words[0] === 'watchs' ? 'Did you mean' : 'usage: turnbuckle approvals');
    },
  );
});

describe.skipIf(!HAS_TERMINAL)(`on a terminal${NEEDS_TERMINAL}`, () => {
  beforeEach(async () => {
    await begin(daemonForTest);
  });

  it('a call through the daemon asks for approval and uses the answer', async () => {
    const terminal = openTerminal(['call', 'echo', 'echo', 'text=hi'], { home });
    await terminal.see('This command wants to call echo');
    await terminal.see('Allow it?');
    terminal.press('s');
    await terminal.see('Allowed until the daemon ends.');
    await terminal.see('hi');
    expect(await terminal.ended).toBe(0);
    expect((await turnbuckle(['call', 'echo', 'echo', 'text=hi'], { home })).stdout).toBe('hi\n');
  });

  it.each(['once', 'deny'])(
    'a call through the daemon accepts an answer from elsewhere: %s',
    async (answer) => {
      const terminal = openTerminal(['call', 'echo', 'echo', 'text=hi'], { home });
      await terminal.see('Allow it?');
      await turnbuckle(['approvals', 'answer', (await oneWaiting()).id, answer], { home });
      await terminal.see('The request was answered elsewhere, or the call was cancelled.');
      expect(await terminal.ended).toBe(answer === 'once' ? 0 : 15);
      expect(terminal.text()).not.toContain('timed out');
    },
  );

  it('a call through the daemon stops asking once it runs', async () => {
    const slow = await createHome({ echo: fixture('echo') });
    await slow.write('.config/turnbuckle/mcp.json', {
      servers: { echo: fixture('echo') },
      rules: [{ action: 'ask', caller: 'host' }],
    });
    await daemonForTest([], { home: slow });
    const terminal = openTerminal(['call', 'echo', 'sleep', 'ms=60000', 'everyMs=200'], { home: slow });
    await terminal.see('Allow it?');
    const [asked] = await json<Asked[]>(['approvals'], { home: slow });
    await turnbuckle(['approvals', 'answer', asked?.id ?? '', 'once'], { home: slow });
    await terminal.see('The request was answered elsewhere, or the call was cancelled.');
    await terminal.see(' %');
    terminal.press('\u0003');
    expect(await terminal.ended).toBe(130);
  });

  it('a call through the daemon shows its progress, and Ctrl-C stops it', async () => {
    const terminal = openTerminal(['call', 'echo', 'sleep', 'ms=60000', 'everyMs=200'], { home });
    await terminal.see('Calling echo:sleep');
    await terminal.see(' %');
    terminal.press('\u0003');
    expect(await terminal.ended).toBe(130);
    const cancelled = (): Promise<string> =>
      turnbuckle(['call', 'echo', 'cancelled'], { home }).then(({ stdout }) => stdout);
    await waitUntil(async () => (await cancelled()).includes('1'), 15_000);
  });

  it('watch asks for approval and uses the answer', async () => {
    const terminal = openTerminal(['approvals', 'watch'], { home });
    await terminal.see('Waiting for approval requests');
    const called = call();
    await terminal.see('claude wants to call echo');
    await terminal.see('Allow it?');
    terminal.press('y');
    await terminal.see('Allowed once.');
    expect((await called).status).toBe(200);
    terminal.press('\u0003');
    expect(await terminal.ended).toBe(130);
  });

  it('watch ends with Ctrl-C also before keys count as an answer', async () => {
    const terminal = openTerminal(['approvals', 'watch'], { home });
    await terminal.see('Waiting for approval requests');
    const called = call();
    await terminal.see('claude wants to call echo');
    terminal.press('\u0003');
    expect(await terminal.ended).toBe(130);
    await turnbuckle(['approvals', 'answer', (await oneWaiting()).id, 'deny'], { home });
    expect((await called).status).toBe(403);
  });

  it('watch closes the prompt when a call is answered elsewhere', async () => {
    const terminal = openTerminal(['approvals', 'watch'], { home });
    await terminal.see('Waiting for approval requests');
    const called = call();
    await terminal.see('Allow it?');
    await turnbuckle(['approvals', 'answer', (await oneWaiting()).id, 'once'], { home });
    await terminal.see('The request was answered elsewhere, or the call was cancelled.');
    expect((await called).status).toBe(200);
    terminal.press('\u0003');
    expect(await terminal.ended).toBe(130);
  });

  it('watch stops asking when the daemon is gone', async () => {
    const own = await createHome({ echo: fixture('echo') });
    const made = await turnbuckle(['token', 'create', 'claude'], { home: own });
    const daemon = await daemonForTest([], { home: own });
    const terminal = openTerminal(['approvals', 'watch'], { home: own });
    await terminal.see('Waiting for approval requests');
    const body = { server: 'echo', tool_name: 'echo', arguments: { text: 'hello' } };
    const called = post({ url: daemon.url, token: made.stdout.trim() }, '/mcp/call', body).catch(
      () => 'gone',
    );
    await terminal.see('Allow it?');
    await daemon.stop('SIGKILL');
    await terminal.see('The daemon stopped responding.');
    expect(await terminal.ended).toBe(17);
    expect(await called).toBe('gone');
  });
});
