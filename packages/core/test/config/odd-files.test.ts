/** What is no ordinary file, and what never answers: told at once, and what follows the files goes on. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fixture, temporaryDirectory, timeBound, waitUntil } from '@turnbuckle/testing';
import { createRuntime, editServers, readFileText, whyUnreadable } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { codeOf, inTime, openFile } from '../../src/config/read-file.js';
import { listFiles, readText } from '../docs/repository.js';
import { follow } from './followed.js';
import { createSetting } from './setting.js';

const makePipe = (path: string): void => void execFileSync('mkfifo', [path]);
const NO_FILE = 'it is not a file, but a pipe, a socket or a device';

async function makeSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
}

/** A file by what it says of itself, and one that is read for ever. */
const isEndlessReadable = (): boolean => {
  try {
    accessSync('/proc/kmsg', constants.R_OK);
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
};

const ODD: ReadonlyArray<readonly [what: string, make: (path: string) => unknown, why: string]> = [
  ['a pipe', makePipe, NO_FILE],
  [
    'a link to a pipe',
    async (path) => {
      makePipe(`${path}.pipe`);
      await symlink(`${path}.pipe`, path);
    },
    NO_FILE,
  ],
  ['a socket', makeSocket, NO_FILE],
  ['a device', (path) => symlink('/dev/zero', path), NO_FILE],
  ['a terminal', (path) => symlink('/dev/tty', path), NO_FILE],
  ['a directory', (path) => mkdir(path), 'it is a directory'],
  [
    'too much',
    async (path) => {
      await writeFile(path, '');
      await truncate(path, 20_000_000);
    },
    'it is too large',
  ],
  ...(isEndlessReadable()
    ? [['what is read for ever', (path: string) => symlink('/proc/kmsg', path), ''] as const]
    : []),
];

describe.skipIf(process.platform === 'win32').each(ODD)('%s in the place of a file', (_what, make, why) => {
  const place = async (): Promise<string> => {
    const home = await temporaryDirectory();
    onTestFinished(home.remove);
    const file = home.file('file');
    await make(file);
    return file;
  };

  it('is not read', async () => {
    const file = await place();
    const began = performance.now();
    const error = await readFileText(file, { maxBytes: 1_000_000 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    if (why !== '') expect(whyUnreadable(error)).toBe(why);
    expect(performance.now() - began).toBeLessThan(timeBound(1_000));
  });

  it('is a problem of a configuration, of which the rest is used', async () => {
    const file = await place();
    const { load, write, userFile } = await createSetting();
    await write(userFile, { servers: { other: { command: 'y' } } });
    const config = await load({ files: [file] });
    expect(config.problems).toMatchObject([{ code: 'CONFIG_INVALID', data: { file, line: 1 } }]);
    expect(config.parsed.servers.has('other')).toBe(true);
  });

  it('is not edited', async () => {
    const file = await place();
    const edit = editServers(file, [{ action: 'set', name: 'a', config: { command: 'x' } }]);
    await expect(edit).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('is no token of a server', async () => {
    const file = await place();
    const runtime = await createRuntime({
      servers: {
        web: { url: 'http://127.0.0.1:9/mcp', auth: { type: 'token-file', tokenPath: file } },
      },
    });
    onTestFinished(() => runtime.close());
    await expect(runtime.connect('web')).rejects.toMatchObject({
      code: 'AUTH_REQUIRED',
      message: expect.stringContaining('The token file of server "web" cannot be used'),
    });
  });

  it('is no script that a project can be agreed to with, and no manifest', async () => {
    const { load, write, projectFile, project } = await createSetting();
    await make(join(project, 'run.js'));
    await make(join(project, 'package.json'));
    await write(projectFile, { servers: { one: { command: 'node', args: ['run.js', '.'] } } });
    const config = await load();
    expect(config.servers.get('one')?.problem?.code).toBe('TRUST_REQUIRED');
  });
});

it.skipIf(process.platform === 'win32')(
  'a file that becomes a pipe keeps what it said, and is followed on',
  async () => {
    const setting = await createSetting();
    const echo = fixture('echo');
    const file = await setting.write(setting.projectFile, { servers: { one: echo } });
    const { runtime, config } = await follow(setting, { trustProject: true });
    const { pid } = runtime.serverStatus('one');
    await rm(file);
    makePipe(file);
    await waitUntil(() => config().problems[0]?.message.includes(NO_FILE) === true, 20_000);
    expect(runtime.serverStatus('one')).toMatchObject({ status: 'connected', pid });
    await rm(file);
    await setting.write(file, { servers: { one: echo, two: { ...echo, start: 'lazy' } } });
    await waitUntil(() => config().servers.has('two') && config().problems.length === 0, 20_000);
    expect(runtime.serverStatus('one').pid).toBe(pid);
  },
);

describe('what does not end', () => {
  it('is left alone after its time, and not begun again before it has ended', async () => {
    let begun = 0;
    let end = (): void => {};
    const work = (): Promise<string> => {
      begun += 1;
      return new Promise((resolve) => {
        end = () => resolve('late');
      });
    };
    const error = await inTime('/a/drive/that/is/away', work, 20).catch((thrown: unknown) => thrown);
    expect(codeOf(error)).toBe('ETIMEDOUT');
    expect(whyUnreadable(error)).toContain('may be away');
    await expect(inTime('/a/drive/that/is/away', work, 20)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(begun).toBe(1);
    // Another file is not kept waiting.
    expect(await inTime('/another', async () => 'read', 1_000)).toBe('read');
    end();
    await waitUntil(
      async () => (await inTime('/a/drive/that/is/away', async () => 'again').catch(() => '')) !== '',
    );
  });

  it('leaves no file open', async () => {
    const home = await temporaryDirectory();
    onTestFinished(home.remove);
    await writeFile(home.file('a'), 'text');
    const handle = await openFile(home.file('a'));
    expect(String(await readFile(handle))).toBe('text');
    await handle.close();
  });
});

/** Who reads files by other means, and why that is in order. */
const OTHERS: Readonly<Record<string, string>> = {
  'packages/core/src/config/read-file.ts': 'the one place',
  'packages/core/src/config/edit/atomic-file.ts': 'opens what it has just made itself',
  'packages/core/src/config/edit/lock-record.ts': 'its own locks',
  'packages/core/src/config/edit/process-identity.ts': '/proc',
  'packages/core/src/config/trust.ts': 'state directory',
  'packages/core/src/connection/era-verdicts.ts': 'state directory',
  'packages/core/src/connection/proc.ts': '/proc',
  'packages/core/src/connection/descriptors.ts': '/proc',
  'packages/core/src/connection/processes.ts': '/dev/null',
  'packages/core/src/connection/sandbox/support.ts': '/proc',
  'packages/gateway/src/instance/private-file.ts': 'state directory',
  'packages/gateway/src/instance/process-identity.ts': '/proc',
  'packages/gateway/src/instance/process-lock.ts': 'state directory',
  'packages/store/src/database.ts': 'state directory',
  'packages/store/src/ingest.ts': 'state directory',
  'packages/store/src/journal.ts': 'state directory',
  'packages/store/src/segment.ts': '/proc',
  'packages/cli/src/arguments-file.ts': 'what its user names for one call: `<(command)` of a shell is a pipe',
  'packages/cli/src/commands/setup.ts': 'opens to write, after it was read',
  'packages/cli/src/daemon/background.ts': 'opens its own log to write',
  'packages/cli/src/daemon/find-daemon.ts': 'state directory',
  'packages/cli/src/daemon/leads-here.ts': 'state directory, and what this program is installed as',
  'packages/cli/src/daemon/started-with.ts': 'state directory',
  'packages/cli/src/how-called.ts': 'what this program is started as',
  'packages/cli/src/imports/read-discovered.ts': 'bounded, and never waits for a pipe',
};

it('every reader of files is known', () => {
  const reading =
    /\b(?:readFile|readFileSync|createReadStream|open|openSync)\b[^;]*from 'node:fs(?:\/promises)?'/;
  const found = listFiles('packages', /\.ts$/)
    .filter((path) => /^packages\/[^/]+\/src\//.test(path))
    .filter((path) => reading.test(readText(path)));
  expect(found.sort()).toEqual(Object.keys(OTHERS).sort());
});
