import { existsSync } from 'node:fs';
import type { RequestStatus } from '@turnbuckle/steward';
import { waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { scriptedPackage, scriptedRecord } from '../../../steward/test/daemon/hostile-servers.js';
import { finished, json, start, turnbuckle } from '../commands/turnbuckle.js';
import { openStewardHome, type StewardHome } from './steward-home.js';

const WORKED_ON = 'No daemon is running, so requests are not processed. Start it: turnbuckle serve start';

const statusOf = ({ home }: StewardHome, id: string): Promise<RequestStatus> =>
  json<RequestStatus>(['steward', 'status', id], { home });

describe('requests without a daemon', () => {
  it('are queued, listed, shown and cancelled in the database', async () => {
    const stage = await openStewardHome();
    const { home } = stage;
    const asked = await turnbuckle(['steward', 'request', 'test', 'files', '--priority', 'low'], { home });
    expect(asked).toMatchObject({ code: 0, stderr: expect.stringContaining(WORKED_ON) });
    const id = asked.stdout.trim();
    expect(await statusOf(stage, id.slice(0, 8))).toMatchObject({
      requestId: id,
      type: 'test_server',
      state: 'queued',
      priority: 'low',
    });
    const listed = await turnbuckle(['steward', 'list'], { home });
    expect(listed.stdout).toContain(`${id.slice(0, 8)}  test  queued  low`);
    expect(listed.stderr).toContain(WORKED_ON);
    const cancelled = await turnbuckle(['steward', 'cancel', id, 'not', 'needed'], { home });
    expect(cancelled.stdout).toBe(`Cancelled ${id.slice(0, 8)}\n`);
    expect(await statusOf(stage, id)).toMatchObject({ state: 'cancelled', message: 'Cancelled: not needed' });
    const again = await turnbuckle(['steward', 'cancel', id], { home });
    expect(again.stdout).toBe(`${id.slice(0, 8)} was already cancelled. Cancelled: not needed\n`);
  });

  it('are not queued if the change would make an entry invalid', async () => {
    const servers = { files: { command: 'node' } };
    const { home } = await openStewardHome({ config: { servers } });
    const words = ['steward', 'request', 'modify', 'files', 'changes.callTimeoutMs=soon'];
    const asked = await turnbuckle(words, { home });
    expect(asked).toMatchObject({ code: 13, stderr: expect.stringContaining('servers.files.callTimeoutMs') });
    expect((await turnbuckle(['steward', 'list'], { home })).stdout).not.toContain('modify');
  });

  it.each([
    [
      ['modify', 'later', 'changes.start=never'],
      'params.changes.start: expected "eager" or "lazy", found "never"',
    ],
    [
      ['add', 'package.type=nmp', 'package.identifier=files', 'package.version=1.0.0'],
      'at "params.package.type": expected "npm", "pypi", "oci", "mcpb" or "remote", found "nmp"',
    ],
  ])('are not queued with a value that is not one of those allowed: %j', async (words, text) => {
    const { home } = await openStewardHome();
    const asked = await turnbuckle(['steward', 'request', ...words], { home });
    expect(asked).toMatchObject({ code: 13, stderr: expect.stringContaining(text) });
    expect((await turnbuckle(['steward', 'list'], { home })).stdout).not.toContain(words[0]);
  });

  it('are worked on when the daemon starts', async () => {
    const stage = await openStewardHome();
    const { home } = stage;
    const { requestId } = await json<{ requestId: string }>(
      ['steward', 'request', 'search', 'count words', 'limit=3'],
      { home },
    );
    await stage.daemon();
    await waitUntil(async () => (await statusOf(stage, requestId)).state === 'completed', 20_000);
    const shown = await turnbuckle(['steward', 'status', requestId], { home });
    expect(shown.stdout).toContain('io.github.acme/files  1.2.3    npm   yes');
    expect(shown.stderr).not.toContain(WORKED_ON);
  });

  it('that a list leaves out are mentioned', async () => {
    const { home } = await openStewardHome();
    for (const name of ['a', 'b', 'c']) await turnbuckle(['steward', 'request', 'test', name], { home });
    const cut = await turnbuckle(['steward', 'list', '--limit', '2'], { home });
    expect(cut.stdout.trim().split('\n')).toHaveLength(3);
    expect(cut.stderr).toContain('Older requests are not shown.');
    const whole = await turnbuckle(['steward', 'list', '--limit', '3'], { home });
    expect(whole.stderr).not.toContain('Older requests');
    expect(await json(['steward', 'list', '--limit', '2'], { home })).toMatchObject({
      requests: [{}, {}],
    });
  }, 20_000);

  it('leave no file behind if there is nothing to look at', async () => {
    const { home } = await openStewardHome();
    expect(await turnbuckle(['steward'], { home })).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('No requests.'),
    });
    expect(await turnbuckle(['steward', 'status', 'nope'], { home })).toMatchObject({ code: 28 });
    expect(await turnbuckle(['steward', 'cancel', 'nope'], { home })).toMatchObject({ code: 28 });
    expect(existsSync(home.file('state/work.db'))).toBe(false);
  });

  it.each([
    [['pause']],
    [['resume']],
    [['start']],
    [['stop']],
    [['approvals']],
    [['approve', '6f1c']],
    [['refuse', '6f1c']],
    [['request', 'test', 'files', '--wait']],
  ])('%j says how to start the daemon', async (words) => {
    const { home } = await openStewardHome();
    const { code, stderr } = await turnbuckle(['steward', ...words], { home });
    expect(code).toBe(17);
    expect(stderr).toContain('Start the daemon: turnbuckle serve start');
    expect(existsSync(home.file('state/work.db'))).toBe(false);
  });

  it('are refused while the steward is disabled', async () => {
    const { home } = await openStewardHome({ config: { subAgentEnabled: false } });
    const { code, stderr } = await turnbuckle(['steward', 'request', 'test', 'files'], { home });
    expect(code).toBe(10);
    expect(stderr).toContain('remove "subAgentEnabled": false');
  });
});

describe('bad input', () => {
  it.each([
    [['lst'], 'Did you mean "turnbuckle steward list"?'],
    [['foo'], 'Use one of: request, status, list, cancel, pause'],
    [['approve', '6f1c2a9e', '--wait'], '--wait cannot be used with "steward approve".'],
    [['list', '--priority', 'low'], '--priority cannot be used with "steward list".'],
    [['pause', '--no-daemon'], 'Omit --no-daemon.'],
    [['request'], 'Missing argument: kind of request.'],
    [['request', 'tset', 'files'], 'Did you mean "test"?'],
    [['request', 'juggle'], 'Use one of: add, remove, test, search, modify'],
    [['request', 'remove'], 'params.serverName'],
    [['request', 'remove', 'files', 'server=x'], 'params'],
    [['request', 'search', 'files', 'limit=many'], 'The value of "limit" is not JSON'],
    [['request', 'modify', 'files', 'changes:={'], 'The value of "changes" is not JSON'],
    [['request', 'test', 'files', '--priority', 'urgent'], 'Use low, medium or high.'],
    [['status'], 'Missing argument: request id.'],
    [['status', 'a', 'b'], 'Unexpected argument "b".'],
    [['pause', 'now'], 'Unexpected argument "now".'],
  ])('%j is refused, and nothing is queued', async (words, text) => {
    const { home } = await openStewardHome();
    const { code, stderr } = await turnbuckle(['steward', ...words], { home });
    expect({ code, stderr }).toEqual({ code: 13, stderr: expect.stringContaining(text) });
    expect(existsSync(home.file('state/work.db'))).toBe(false);
  });
});

describe('requests to a daemon', () => {
  it('--wait shows the result, and its exit code is that of the outcome', async () => {
    const stage = await openStewardHome();
    const { home } = stage;
    await stage.daemon();
    const found = await turnbuckle(['steward', 'request', 'search', 'words', '--wait'], { home });
    expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining('io.github.acme/files') });
    const failed = await turnbuckle(['steward', 'request', 'test', 'nope', '--wait'], { home });
    expect(failed).toMatchObject({ code: 11, stderr: expect.stringContaining('SERVER_UNKNOWN') });
    const asJson = await turnbuckle(['steward', 'request', 'test', 'nope', '--wait', '--json'], { home });
    expect(asJson.code).toBe(11);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ state: 'failed', error: { code: 'SERVER_UNKNOWN' } });
  });

  it('Ctrl-C ends the waiting, not the request', async () => {
    const stage = await openStewardHome();
    const { home } = stage;
    await stage.daemon();
    expect(await turnbuckle(['steward', 'pause'], { home })).toMatchObject({ code: 0 });
    const child = start(['steward', 'request', 'test', 'nope', '--wait'], { home });
    const ended = finished(child);
    await waitUntil(async () => (await listed(stage)).length === 1, 20_000);
    child.kill('SIGINT');
    expect(await ended).toMatchObject({
      stderr: expect.stringContaining('The request continues in the background.'),
    });
    expect(await listed(stage)).toMatchObject([{ state: 'queued' }]);
    const { stderr } = await turnbuckle(['steward', 'list'], { home });
    expect(stderr).toContain('The steward is paused. Resume it: turnbuckle steward resume');
    await turnbuckle(['steward', 'resume'], { home });
    await waitUntil(async () => (await listed(stage))[0]?.state === 'failed', 20_000);
  });

  it('pause, resume, stop and start switch it', async () => {
    const stage = await openStewardHome();
    await stage.daemon();
    const switched: unknown[] = [];
    for (const word of ['pause', 'resume', 'stop', 'start'])
      switched.push(await json(['steward', word], { home: stage.home }));
    expect(switched).toEqual([
      { paused: true, stopped: false },
      { paused: false, stopped: false },
      { paused: false, stopped: true },
      { paused: false, stopped: false },
    ]);
  });
});

// requirement E1
describe('what a switched steward says', () => {
  it('about resume while it is stopped: that it stays stopped, and how to start it', async () => {
    const stage = await openStewardHome();
    await stage.daemon();
    const { home } = stage;
    await turnbuckle(['steward', 'stop'], { home });
    const resumed = await turnbuckle(['steward', 'resume'], { home });
    expect(resumed.stdout).not.toContain('has resumed');
    expect(resumed.stderr).toContain('The steward is stopped. Start it: turnbuckle steward start');
    await turnbuckle(['steward', 'pause'], { home });
    const started = await turnbuckle(['steward', 'start'], { home });
    expect(started.stdout + started.stderr).toContain('Resume it: turnbuckle steward resume');
    expect((await turnbuckle(['steward', 'resume'], { home })).stdout).toBe('The steward has resumed.\n');
  });
});

// requirement E1
describe('a request that asks twice', () => {
  it('with --wait announces each approval with its command', async () => {
    const stage = await openStewardHome({
      packages: [scriptedPackage('plain', { isAnnotated: false })],
      records: [scriptedRecord('plain')],
    });
    const { home } = stage;
    await stage.daemon();
    const child = start(['steward', 'request', 'add', 'io.github.acme/plain', '--wait'], { home });
    const ended = finished(child);
    let told = '';
    child.stderr?.on('data', (part: Buffer) => (told += part.toString()));
    const ids: string[] = [];
    await waitUntil(async () => {
      const pending = await json<{ id: string }[]>(['steward', 'approvals'], { home });
      for (const { id } of pending) {
        ids.push(id);
        // It looks for approvals now and then.
        await waitUntil(() => told.includes(`turnbuckle steward approve ${id.slice(0, 8)}`));
        await turnbuckle(['steward', 'approve', id], { home });
      }
      return (await listed(stage))[0]?.state === 'completed';
    }, 60_000);
    expect((await ended).code).toBe(0);
    expect(ids).toHaveLength(2);
  });
});

const listed = async ({ home }: StewardHome): Promise<readonly RequestStatus[]> =>
  (await json<{ requests: readonly RequestStatus[] }>(['steward', 'list'], { home })).requests;
