/** Conversations of the command `chat`: begun, continued, listed, ended; and what it says when that fails. */
import { ERRORS } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';
import { createHome, json } from '../commands/turnbuckle.js';
import { daemonForTest } from '../daemon/running-daemon.js';
import { chat, createChatHome, listed } from './chat-home.js';

// requirement E7
describe('one message', () => {
  it('ends its conversation, so that any number of them can be sent', async () => {
    const home = await createChatHome({ maxConversations: 1 });
    await daemonForTest([], { home });
    for (const word of ['one', 'two', 'three'])
      expect(await chat([word], { home })).toMatchObject({ code: 0, stdout: `you said ${word}\n` });
    expect(await listed({ home })).toEqual([]);
  });

  it('leaves the conversation open with --keep, and says how to go on with it', async () => {
    const home = await createChatHome({ maxConversations: 1 });
    await daemonForTest([], { home });
    const { stderr } = await chat(['one', '--keep'], { home });
    const [{ id, title, state } = { id: '', title: '', state: '' }] = await listed({ home });
    expect({ title, state }).toEqual({ title: 'one', state: 'open' });
    expect(stderr).toContain(`turnbuckle chat --conversation ${id}`);
    expect(await chat(['more', '--conversation', id.slice(0, 8)], { home })).toMatchObject({
      code: 0,
      stdout: 'you said more\n',
    });
    expect(await listed({ home })).toMatchObject([{ id }]);
  });

  it('names its conversation to a program, which can open it again', async () => {
    const home = await createChatHome();
    await daemonForTest([], { home });
    const said = await json<{ conversation: string }>(['chat', 'hello'], { home });
    expect(said).toMatchObject({ kind: 'reply', text: 'you said hello' });
    const again = await json(['chat', 'again', '--conversation', said.conversation], { home });
    expect(again).toEqual({ kind: 'reply', text: 'you said again', conversation: said.conversation });
    expect(await listed({ home })).toMatchObject([{ id: said.conversation }]);
  });
});

// requirement E7
describe('conversations that have not ended', () => {
  it('are listed and ended, also where their number is at its limit', async () => {
    const home = await createChatHome({ maxConversations: 2 });
    await daemonForTest([], { home });
    for (const word of ['first', 'second']) await chat([word, '--keep'], { home });
    const refused = await chat(['third'], { home });
    expect(refused).toMatchObject({ code: ERRORS.OVERLOADED.exit, stdout: '' });
    expect(refused.stderr).toContain('turnbuckle chat --list');
    expect(refused.stderr).toContain('turnbuckle chat --end <id>');

    const shown = await chat(['--list'], { home });
    expect(shown.stdout).toMatch(/second.*first/s);
    const [second, first] = await listed({ home });
    const ended = await chat(['--end', first?.id.slice(0, 8) ?? '', '--end', second?.id ?? ''], { home });
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toContain('Ended');
    expect(await listed({ home })).toEqual([]);
    expect(await chat(['third'], { home })).toMatchObject({ code: 0, stdout: 'you said third\n' });
  });
});

// requirement E7
describe('a conversation that cannot be held', () => {
  it('with an unknown id is reported as such, not as a missing agent', async () => {
    const home = await createChatHome();
    await daemonForTest([], { home });
    for (const words of [
      ['hello', '--conversation', 'nowhere'],
      ['--end', 'nowhere'],
    ]) {
      const { code, stderr } = await chat(words, { home });
      expect(code).toBe(ERRORS.PATH_UNKNOWN.exit);
      expect(stderr).toContain('There is no conversation "nowhere".');
      expect(stderr).toContain('turnbuckle chat --list');
    }
  });

  it('because the daemon has no agent says so', async () => {
    const home = await createHome({});
    await daemonForTest([], { home });
    for (const words of [['hello'], ['hello', '--conversation', 'nowhere'], ['--list'], ['--end', 'nowhere']])
      expect(await chat(words, { home })).toMatchObject({
        code: ERRORS.CONFIG_INVALID.exit,
        stderr: expect.stringContaining('The daemon has no agent.'),
      });
  });

  it('without the daemon names the option that leaves it out', async () => {
    const home = await createChatHome();
    await daemonForTest([], { home });
    const { code, stderr } = await chat(['hello', '--no-daemon'], { home });
    expect(code).toBe(ERRORS.ARGUMENTS_INVALID.exit);
    expect(stderr).toContain('Omit --no-daemon');
  });

  it('because the model fails has the exit code and the code of the failure', async () => {
    const home = await createChatHome();
    await daemonForTest([], { home });
    const failed = await chat(['fail'], { home });
    expect(failed).toMatchObject({ code: ERRORS.AUTH_FAILED.exit, stdout: '' });
    expect(failed.stderr).toContain('error AUTH_FAILED');
    const { code, stdout } = await chat(['fail', '--json'], { home });
    expect(code).toBe(ERRORS.AUTH_FAILED.exit);
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'failure', code: 'AUTH_FAILED' });
    expect(await chat([], { home, stdin: 'hello\nfail\n' })).toMatchObject({
      code: ERRORS.AUTH_FAILED.exit,
      stdout: 'you said hello\n',
    });
  });
});
