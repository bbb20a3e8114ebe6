/** Paths that are not regular files, or that never respond: reported immediately, and watching continues. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdir, readdir, readFile, readlink, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fixture, temporaryDirectory, timeBound, waitUntil } from '@turnbuckle/testing';
import { createRuntime } from 'turnbuckle';
import { editServers, readFileText, whyUnreadable } from 'turnbuckle/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { errorCode } from '../../src/errors.js';
import { openFile, withTimeout } from '../../src/files/read-file.js';
import { listFiles, readText } from '../docs/repository.js';
import { follow } from './followed.js';
import { createSetting } from './setting.js';

const makePipe = (path: string): void => void execFileSync('mkfifo', [path]);
const NO_FILE = 'it is a pipe, a socket or a device, not a regular file';

async function makeSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
}

/** Whether /proc/kmsg is readable: it looks like a regular file, but reading it never ends. */
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
    'a file that is too large',
    async (path) => {
      await writeFile(path, '');
      await truncate(path, 20_000_000);
    },
    'it is too large',
  ],
  ...(isEndlessReadable()
    ? [['a file that never ends', (path: string) => symlink('/proc/kmsg', path), ''] as const]
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

  it('is a problem of the configuration, and the rest is used', async () => {
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

  it('is not accepted as a token file', async () => {
    const file = await place();
    const runtime = await createRuntime({
      servers: {
        web: { url: 'http://127.0.0.1:9/mcp', auth: { type: 'token-file', tokenPath: file } },
      },
    });
    onTestFinished(() => runtime.close());
    await expect(runtime.connect('web')).rejects.toMatchObject({
      code: 'AUTH_REQUIRED',
      message: expect.stringContaining('Cannot use the token file for server "web"'),
    });
  });

  it('is not accepted as a script or a package.json of a trusted project', async () => {
    const { load, write, projectFile, project } = await createSetting();
    await make(join(project, 'run.js'));
    await make(join(project, 'package.json'));
    await write(projectFile, { servers: { one: { command: 'node', args: ['run.js', '.'] } } });
    const config = await load();
    expect(config.servers.get('one')?.problem?.code).toBe('TRUST_REQUIRED');
  });
});

it.skipIf(process.platform === 'win32')(
  'a file that becomes a pipe keeps its previous content, and is still watched',
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

describe('work that does not end', () => {
  it('is abandoned after its timeout, and not started again before it has ended', async () => {
    let begun = 0;
    let end = (): void => {};
    const work = (): Promise<string> => {
      begun += 1;
      return new Promise((resolve) => {
        end = () => resolve('late');
      });
    };
    const error = await withTimeout('/a/drive/that/is/away', work, 20).catch((thrown: unknown) => thrown);
    expect(errorCode(error)).toBe('ETIMEDOUT');
    expect(whyUnreadable(error)).toContain('may not be available');
    await expect(withTimeout('/a/drive/that/is/away', work, 20)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(begun).toBe(1);
    // Another file is not delayed.
    expect(await withTimeout('/another', async () => 'read', 1_000)).toBe('read');
    end();
    await waitUntil(
      async () => (await withTimeout('/a/drive/that/is/away', async () => 'again').catch(() => '')) !== '',
    );
  });

  it.skipIf(process.platform !== 'linux')('leaves no file open', async () => {
    const home = await temporaryDirectory();
    onTestFinished(home.remove);
    const file = home.file('a');
    await writeFile(file, 'text');
    const timesOpen = async (): Promise<number> => {
      const descriptors = await readdir('/proc/self/fd');
      const targets = descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''));
      return (await Promise.all(targets)).filter((target) => target === file).length;
    };
    const handle = await openFile(file);
    expect([String(await readFile(handle)), await timesOpen()]).toEqual(['text', 1]);
    await handle.close();
    expect(await timesOpen()).toBe(0);

    expect(await readFileText(file, { maxBytes: 100 })).toBe('text');
    await expect(readFileText(file, { maxBytes: 1 })).rejects.toMatchObject({ code: 'EFBIG' });
    expect(await timesOpen()).toBe(0);

    // Of work that was abandoned, too, as soon as it ends.
    let end = (): void => {};
    const mayStart = new Promise<void>((resolve) => {
      end = resolve;
    });
    const work = mayStart.then(() => readFileText(file, { maxBytes: 100 }));
    await expect(withTimeout(`${file}.slow`, () => work, 20)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    end();
    expect(await work).toBe('text');
    expect(await timesOpen()).toBe(0);
  });
});

/** Files that read files by other means, and why they may. */
const OTHERS: Readonly<Record<string, string>> = {
  'packages/core/src/files/read-file.ts': 'the one place',
  'packages/core/src/files/atomic-file.ts': 'opens what it has just made itself',
  'packages/core/src/files/lock-record.ts': 'its own locks',
  'packages/core/src/files/private-file.ts': 'only ordinary files, in the state directory',
  'packages/core/src/files/process-identity.ts': '/proc',
  'packages/core/src/config/trust/trust.ts': 'state directory',
  'packages/core/src/connection/handshake/era-verdicts.ts': 'state directory',
  'packages/core/src/connection/processes/proc.ts': '/proc',
  'packages/core/src/connection/processes/inherited-descriptors.ts': '/proc',
  'packages/core/src/connection/processes/process-table.ts': '/dev/null',
  'packages/core/src/connection/sandbox/sandbox-support.ts': '/proc',
  'packages/steward/src/install/install-directory.ts': 'the directory of packages, while it is checked',
  'packages/steward/src/install/npm/install-npm.ts': 'what npm has just written into its own directory',
  'packages/steward/src/quarantine/process-tree.ts': '/proc',
  'packages/store/src/database.ts': 'state directory',
  'packages/store/src/ingest.ts': 'state directory',
  'packages/store/src/journal.ts': 'state directory',
  'packages/cli/src/calls/arguments-file.ts':
    'what its user names for one call: `<(command)` of a shell is a pipe',
  'packages/cli/src/commands/setup.ts': 'opens to write, after it was read',
  'packages/cli/src/launch/code-cache.ts': 'state directory, and only files that it wrote',
  'packages/cli/src/launch/compiled-chunks.ts': 'the files of this program',
  'packages/cli/src/serve/daemon-process.ts': 'opens its own log to write',
  'packages/cli/src/daemon/find-daemon.ts': 'state directory',
  'packages/cli/src/setup/self-reference.ts': 'state directory, and what this program is installed as',
  'packages/cli/src/daemon/start-options.ts': 'state directory',
  'packages/cli/src/terminal/command-prefix.ts': 'what this program is started as',
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
