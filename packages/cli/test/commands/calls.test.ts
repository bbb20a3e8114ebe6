import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { CallLog, Journal } from '@turnbuckle/store';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { call, createLoggedHome, logOf } from './logged-home.js';
import { createHome, finished, json, start, turnbuckle } from './turnbuckle.js';

const HOUR_MS = 3_600_000;

describe('calls', () => {
  it('shows the latest calls, the newest last', async () => {
    const home = await createLoggedHome([
      call('first', { startedAt: Date.now() - 2 * HOUR_MS }),
      call('second', { outcome: 'failed', code: 'CALL_TIMEOUT', error: 'It did not answer.' }),
      call('third', { server: 'files', tool: 'read', caller: 'codex' }),
    ]);
    const { stdout, code } = await turnbuckle(['calls'], { home });
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => /first|second|third/.exec(line)?.[0])).toEqual(['first', 'second', 'third']);
    expect(lines[1]).toContain('CALL_TIMEOUT It did not answer.');
    const ids = async (...flags: string[]): Promise<string[]> =>
      (await json<{ id: string }[]>(['calls', ...flags], { home })).map(({ id }) => id);
    expect(await ids('--limit', '1')).toEqual(['third']);
    expect(await ids('--failed')).toEqual(['second']);
    expect(await ids('--server', 'files')).toEqual(['third']);
    expect(await ids('--tool', 'echo')).toEqual(['first', 'second']);
    expect(await ids('--caller', 'codex')).toEqual(['third']);
    expect(await ids('--since', '1h')).toEqual(['second', 'third']);
    expect(await ids('--search', 'answer')).toEqual(['second']);
    expect(await ids('--search', 'NEAR("')).toEqual([]);
  });

  it('finds the calls of the host by both of its names, host and owner', async () => {
    const home = await createLoggedHome([call('mine', { caller: undefined }), call('theirs')]);
    const { stdout } = await turnbuckle(['calls'], { home });
    expect(stdout.split('\n')[0]).toMatch(/ host +mine /);
    for (const name of ['host', 'owner'])
      expect(await json(['calls', '--caller', name], { home })).toMatchObject([{ id: 'mine', caller: null }]);
  });

  it('shows that a rule denied a call, not only the error that the caller got', async () => {
    const told = { outcome: 'failed', code: 'TOOL_UNKNOWN', error: 'There is no tool "echo".' } as const;
    const denied = { ...told, decision: 'deny', reason: 'rule 0: no echo' } as const;
    const home = await createLoggedHome([
      call('denied', denied),
      call('unknown', { ...told, decision: undefined }),
    ]);
    const lines = (await turnbuckle(['calls'], { home })).stdout.split('\n');
    expect(lines[0]).toContain('TOOL_UNKNOWN denied: rule 0: no echo');
    expect(lines[1]).toContain('TOOL_UNKNOWN There is no tool "echo".');
  });

  it('prints local times in the list and in one call; --json prints UTC', async () => {
    const startedAt = Date.now() - 60_000;
    const home = await createLoggedHome([call('one', { startedAt })]);
    const env = { TZ: 'Asia/Kolkata' };
    const there = new Date(startedAt + 5.5 * HOUR_MS).toISOString().slice(0, 19).replace('T', ' ');
    for (const words of [['calls'], ['calls', 'show', 'one']])
      expect((await turnbuckle(words, { home, env })).stdout).toContain(there);
    const { stdout } = await turnbuckle(['calls', '--json'], { home, env });
    expect(stdout).toContain(new Date(startedAt).toISOString());
  });

  it('prints nothing when nothing was logged, and creates no state directory', async () => {
    const home = await createHome();
    expect(await turnbuckle(['calls'], { home })).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('The call history is empty'),
    });
    expect(await json(['calls'], { home })).toEqual([]);
    expect(readdirSync(home.path)).not.toContain('state');
  });

  it('includes what a killed daemon left in its journal', async () => {
    const home = await createHome();
    const journal = new Journal({ directory: join(logOf(home), 'journal'), durability: 'process' });
    journal.append(JSON.stringify(call('left')));
    journal.rotate();
    expect(await json(['calls'], { home })).toMatchObject([{ id: 'left' }]);
  });

  it('--follow prints calls that another process logs', async () => {
    const home = await createLoggedHome([call('before')]);
    const child = start(['calls', '--follow', '--json'], { home });
    onTestFinished(() => void child.kill('SIGKILL'));
    let seen = '';
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      seen += part;
    });
    await waitUntil(() => seen.includes('before'), 15_000);
    const log = new CallLog({ directory: logOf(home) });
    onTestFinished(() => log.close());
    for (const id of ['one', 'two']) log.append(call(id));
    await waitUntil(() => seen.includes('two'), 15_000);
    const ended = finished(child);
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    const ids = seen
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids).toEqual(['before', 'one', 'two']);
  });

  it('keeps its columns aligned with --follow', async () => {
    const home = await createLoggedHome([
      call('one', { server: 'a-longer-name', tool: 'read', arguments: '{"n":1}' }),
      call('two', { arguments: '{"n":2}' }),
    ]);
    const child = start(['calls', '--follow'], { home });
    onTestFinished(() => void child.kill('SIGKILL'));
    let seen = '';
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      seen += part;
    });
    await waitUntil(() => seen.includes('two'), 15_000);
    const log = new CallLog({ directory: logOf(home) });
    onTestFinished(() => log.close());
    log.append(call('six', { arguments: '{"n":3}' }));
    await waitUntil(() => seen.includes('{"n":3}'), 15_000);
    const ended = finished(child);
    child.kill('SIGINT');
    expect((await ended).stderr).toContain('Press Ctrl-C to stop');
    expect(
      new Set(
        seen
          .trimEnd()
          .split('\n')
          .map((line) => line.indexOf('{"n"')),
      ).size,
    ).toBe(1);
  });

  it('prints and parses local times', async () => {
    const hour = Math.floor(Date.now() / HOUR_MS - 2) * HOUR_MS;
    const home = await createLoggedHome([
      call('early', { startedAt: hour - 1_000 }),
      call('late', { startedAt: hour }),
    ]);
    const env = { TZ: 'America/New_York' };
    const there = new Intl.DateTimeFormat('sv-SE', {
      timeZone: env.TZ,
      dateStyle: 'short',
      timeStyle: 'medium',
    }).format(hour);
    expect((await turnbuckle(['calls'], { home, env })).stdout).toContain(`${there}  ✓`);
    const since = await turnbuckle(['calls', '--since', there], { home, env });
    expect(since.stdout).toContain('late');
    expect(since.stdout).not.toContain('early');
  });

  it('has a line for a call without a server', async () => {
    const home = await createLoggedHome([
      call('lost', { server: '', tool: 'ad', outcome: 'failed', code: 'TOOL_UNKNOWN', error: 'No tool.' }),
    ]);
    expect((await turnbuckle(['calls'], { home })).stdout).toContain('✕  ad  ');
    expect((await turnbuckle(['calls', 'show', 'lost'], { home })).stdout).toMatch(/^tool +ad$/m);
    const again = await turnbuckle(['calls', 'replay', 'lost'], { home });
    expect(again.stderr).toContain('cannot be replayed because its server is unknown');
    expect(again.code).toBe(13);
  });

  it('prints no control characters from the text of a server', async () => {
    const evil = '\u001b[2J\u001b]0;gone\u0007\u202e';
    const home = await createLoggedHome([
      call('a', { tool: `x${evil}`, caller: `c${evil}`, arguments: JSON.stringify({ text: evil }) }),
      call('b', { outcome: 'failed', error: `line\n${evil}`, result: `{"broken ${evil}` }),
    ]);
    for (const words of [
      ['calls'],
      ['calls', 'show', 'a'],
      ['calls', 'show', 'b'],
      ['stats'],
      ['calls', '--json'],
    ]) {
      const { stdout, stderr } = await turnbuckle(words, { home });
      for (const character of ['\u001b', '\u0007', '\u202e'])
        expect(stdout + stderr).not.toContain(character);
    }
    expect((await turnbuckle(['calls'], { home })).stdout.trimEnd().split('\n')).toHaveLength(2);
  });

  it.each([
    [['calls', 'find'], 'Unknown subcommand "find"'],
    [['calls', 'show'], 'Missing argument: call id.'],
    [['calls', 'show', 'nobody'], 'No call "nobody"'],
    [['calls', 'show', 'a', 'b'], 'Unexpected argument "b"'],
    [['calls', '--since', 'yesterday-ish'], 'is not a time'],
    [['calls', '--limit', '0'], 'expected a number from 1 to 1000'],
    [['calls', '--since', '5'], 'is not a time'],
    [['calls', '--since', '2999-01-01'], 'is in the future'],
    [['calls', '--search', ' '], '--search is empty'],
  ])('refuses %j', async (words, message) => {
    const home = await createHome();
    const { code, stderr } = await turnbuckle(words, { home });
    expect(stderr).toContain(message);
    expect(code).toBe(13);
  });
});

describe('calls show', () => {
  it('prints everything that is recorded about a call', async () => {
    const home = await createLoggedHome([
      call('one', { approval: 'once by approver', decision: 'ask', reason: 'rule 3', run: 'c-9' }),
      call('large', { result: '{"content":[{"type":"text","text":"xxx…', resultBytes: 5_000_000 }),
    ]);
    const { stdout } = await turnbuckle(['calls', 'show', 'one'], { home });
    expect(stdout).toMatch(/^decision +ask: rule 3$/m);
    expect(stdout).toMatch(/^approval +once by approver$/m);
    expect(stdout).toMatch(/^run +c-9$/m);
    expect(stdout).toContain('{\n  "text": "hi"\n}');
    expect(await json(['calls', 'show', 'one'], { home })).toMatchObject({
      id: 'one',
      toolName: 'mcp__demo__echo',
      argumentsBytes: 13,
    });
    const large = await turnbuckle(['calls', 'show', 'large'], { home });
    expect(large.stdout).toContain('result (only the beginning, about 5000000 characters in total)');
  });
});

describe('calls replay', () => {
  it('makes the call again, like turnbuckle call', async () => {
    const odd = { text: 'a=b "c" :=d\n$HOME' };
    const home = await createLoggedHome([call('again', { arguments: JSON.stringify(odd) })], {
      configured: { demo: fixture('echo') },
    });
    const { stdout, stderr, code } = await turnbuckle(['calls', 'replay', 'again'], { home });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${odd.text}\n` });
    expect(stderr).toContain('Replaying: demo echo');
  });

  it('is subject to the rules, like any call', async () => {
    const home = await createLoggedHome([call('again')]);
    await home.write('.config/turnbuckle/mcp.json', {
      servers: { demo: fixture('echo') },
      rules: [{ action: 'ask', tool: 'echo', caller: 'claude', reason: 'ask me first' }],
    });
    const { stderr, code } = await turnbuckle(['calls', 'replay', 'again', '--as', 'claude'], { home });
    expect(stderr).toContain('ask me first');
    expect(code).toBe(15);
  });

  it.each([
    ['contained a secret', { arguments: '{"text":"[redacted]"}' }],
    ['its arguments were recorded only in part', { arguments: '{"text":"xxx…' }],
    ['were not recorded', { arguments: undefined }],
    ['was a resource', { kind: 'resource' as const }],
    ['cannot be written as key=value', { arguments: '{"a=b":1}' }],
  ])('is refused when it would not be the same call: %s', async (why, more) => {
    const home = await createLoggedHome([call('other', more)], { configured: { demo: fixture('echo') } });
    const { stderr, code } = await turnbuckle(['calls', 'replay', 'other'], { home });
    expect(stderr).toContain(why);
    expect(code).toBe(13);
  });
});

describe('the worker thread of the log', () => {
  it('is built next to the bundle', async () => {
    const home = await createHome();
    const file = fileURLToPath(new URL('../../dist/log-worker.js', import.meta.url));
    const directory = logOf(home);
    const journal = new Journal({ directory: join(directory, 'journal'), durability: 'process' });
    journal.append(JSON.stringify(call('bundled')));
    journal.rotate();
    const workerData = {
      file: join(directory, 'log.db'),
      journal: join(directory, 'journal'),
      durability: 'process',
      retention: { maxAgeMs: HOUR_MS, maxBytes: 1e9 },
      wake: new SharedArrayBuffer(4),
    };
    const worker = new Worker(file, { workerData });
    const ask = (question: Record<string, unknown>): Promise<unknown> =>
      new Promise((resolve, reject) => {
        worker.once('message', resolve).once('error', reject);
        worker.postMessage(question);
      });
    expect(await ask({ number: 1, ask: 'flush' })).toEqual({ number: 1, value: 0 });
    expect(await ask({ number: 2, ask: 'get', id: 'bundled' })).toMatchObject({ value: { tool: 'echo' } });
    await ask({ number: 3, ask: 'close' });
  });
});
