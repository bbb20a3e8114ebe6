import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findRunningDaemon } from '../../src/instance/daemon-record.js';
import { claimInstance, type Instance } from '../../src/instance/instance.js';
import { everything, firstLine, kill, start } from './child.js';

async function stateDirectory() {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  return directory;
}

function claim(stateDir: string): Instance {
  const instance = claimInstance({ stateDir, version: '9' });
  onTestFinished(() => instance.release());
  return instance;
}

const URL = 'http://127.0.0.1:4711';

describe('one daemon for a state directory', () => {
  it('rejects a second one, and reports the first', async () => {
    const { path } = await stateDirectory();
    const holder = start('hold-instance.mjs', path, URL, 'release');
    const { pid } = await firstLine(holder);
    const second = await firstLine(start('hold-instance.mjs', path, '', ''));
    expect(second).toMatchObject({ code: 'DAEMON_RUNNING', data: { stateDir: path, pid, url: URL } });
    expect(second.message).toMatch(
      new RegExp(`process ${pid}, at ${URL}, running since \\d{4}-\\d\\d-\\d\\dT`),
    );
    expect(findRunningDaemon(path)).toEqual({ pid, url: URL, started: expect.any(String), version: '1.2.3' });
    await kill(holder);
  });

  it('reports one that is not ready yet', async () => {
    const { path } = await stateDirectory();
    const holder = start('hold-instance.mjs', path, '', '');
    await firstLine(holder);
    expect(findRunningDaemon(path)).toBeUndefined();
    expect(() => claimInstance({ stateDir: path, version: '9' })).toThrow('not ready yet');
    await kill(holder);
  });

  it.each(['release', 'exit'])('leaves no files behind when it stops (%s)', async (end) => {
    const { path } = await stateDirectory();
    const holder = start('hold-instance.mjs', path, URL, end);
    await firstLine(holder);
    holder.stdin?.end();
    await once(holder, 'exit');
    expect(readdirSync(path)).toEqual([]);
  });

  it('takes over from one that was killed', async () => {
    const { path } = await stateDirectory();
    const holder = start('hold-instance.mjs', path, URL, '');
    await firstLine(holder);
    await kill(holder);
    expect(existsSync(`${path}/daemon.json`)).toBe(true);
    expect(findRunningDaemon(path)).toBeUndefined();
    claim(path).announce('http://127.0.0.1:1');
    expect(findRunningDaemon(path)).toMatchObject({
      pid: process.pid,
      url: 'http://127.0.0.1:1',
      version: '9',
    });
    expect(readdirSync(path).sort()).toEqual(['daemon.json', 'daemon.lock']);
  });

  it('takes over from a process whose pid is reused', async () => {
    const { path, file } = await stateDirectory();
    claim(path).announce(URL);
    const lock = JSON.parse(readFileSync(file('daemon.lock'), 'utf8'));
    writeFileSync(file('daemon.lock'), JSON.stringify({ ...lock, start: '1', token: '0123456789abcdef' }));
    const record = JSON.parse(readFileSync(file('daemon.json'), 'utf8'));
    writeFileSync(
      file('daemon.json'),
      JSON.stringify({ ...record, process: { ...record.process, start: '1' } }),
    );
    expect(findRunningDaemon(path)).toBeUndefined();
    claim(path);
  });

  it('takes over from one in another container only when it has been silent', async () => {
    const { path, file } = await stateDirectory();
    claim(path);
    const lock = JSON.parse(readFileSync(file('daemon.lock'), 'utf8'));
    writeFileSync(
      file('daemon.lock'),
      JSON.stringify({ ...lock, space: 'elsewhere', token: '0123456789abcdef' }),
    );
    expect(() => claimInstance({ stateDir: path, version: '9' })).toThrow('already');
    const before = Date.now() / 1_000 - 30;
    utimesSync(file('daemon.lock'), before, before);
    claim(path);
  });

  it.each(['', 'junk', '{}', '{"pid":-1}', 'null'])(
    'takes over a lock file that contains %j',
    async (text) => {
      const { path, file } = await stateDirectory();
      writeFileSync(file('daemon.lock'), text);
      claim(path);
      expect(() => claimInstance({ stateDir: path, version: '9' })).toThrow('already');
    },
  );

  it('does not remove files that belong to another daemon by then', async () => {
    const { path, file } = await stateDirectory();
    const lost = claim(path);
    lost.announce(URL);
    const lock = JSON.parse(readFileSync(file('daemon.lock'), 'utf8'));
    writeFileSync(file('daemon.lock'), JSON.stringify({ ...lock, token: '0123456789abcdef' }));
    lost.release();
    expect([existsSync(file('daemon.lock')), existsSync(file('daemon.json'))]).toEqual([true, true]);
  });

  it.skipIf(process.platform === 'win32')('is readable by its owner only', async () => {
    const directory = await stateDirectory();
    const path = directory.file('state');
    claim(path).announce(URL);
    const modes = [path, `${path}/daemon.json`, `${path}/daemon.lock`].map(
      (one) => statSync(one).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o600, 0o600]);
  });

  it.each(['', 'junk', '{}', '{"pid":1,"url":"http://x"}'])(
    'is not found by a record that contains %j',
    async (text) => {
      const { path, file } = await stateDirectory();
      writeFileSync(file('daemon.json'), text);
      expect(findRunningDaemon(path)).toBeUndefined();
    },
  );

  it('reports why a directory cannot be used', async () => {
    const { file } = await stateDirectory();
    writeFileSync(file('no-directory'), '');
    expect(() => claimInstance({ stateDir: file('no-directory'), version: '9' })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        data: expect.objectContaining({ reason: 'EEXIST' }),
      }),
    );
  });
});

describe('a lock whose holders are killed', () => {
  it('has one holder at a time', async () => {
    const { file, path } = await stateDirectory();
    const children = Array.from({ length: 8 }, () => start('die-holding.mjs', file('some.lock')));
    expect(await Promise.all(children.map(everything))).toEqual(children.map(() => 'alone'));
    claim(path);
  });
});
