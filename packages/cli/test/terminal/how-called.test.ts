/** Next steps work as they are printed, in a clone too. */
import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { howCalled } from '../../src/how-called.js';
import { BIN, createHome, environmentOf, finished, start, turnbuckle } from '../commands/turnbuckle.js';
import { root } from '../docs/repository.js';

const BARE_PATH = [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);

it.each([
  ['in its clone', '/srv/clone', '/srv/clone/packages/cli/dist/bin.js', 'node packages/cli/dist/bin.js'],
  [
    'in a part of it',
    '/srv/clone/docs',
    '/srv/clone/packages/cli/dist/bin.js',
    'node /srv/clone/packages/cli/dist/bin.js',
  ],
  ['beside it', '/srv', '/opt/my tools/cli/dist/bin.js', "node '/opt/my tools/cli/dist/bin.js'"],
  ['of a project', '/srv', '/srv/node_modules/@turnbuckle/cli/dist/bin.js', 'npx turnbuckle'],
  ['by npx', '/srv', '/root/.npm/_npx/1a2b/node_modules/@turnbuckle/cli/dist/bin.js', 'npx @turnbuckle/cli'],
])('%s', (_where, cwd, file, expected) => {
  expect(howCalled({ path: '/nowhere', cwd, file })).toBe(expected);
});

it('is called by its name where that leads to this very program', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const at = { cwd: '/nowhere', file: BIN };
  for (const name of ['linked', 'script', 'other', 'node_modules']) await mkdir(directory.file(name));
  await symlink(BIN, directory.file('linked/turnbuckle'));
  await symlink(BIN, directory.file('node_modules/turnbuckle'));
  await writeFile(directory.file('script/turnbuckle'), `#!/bin/sh\nexec node ${BIN} "$@"\n`);
  await writeFile(directory.file('other/turnbuckle'), '#!/bin/sh\necho another program\n');
  const called = ['linked', 'script', 'other', 'node_modules'].map((name) =>
    howCalled({ ...at, path: `/nowhere${delimiter}${directory.file(name)}` }),
  );
  expect(called).toEqual(['turnbuckle', 'turnbuckle', `node ${BIN}`, `node ${BIN}`]);
});

const inShell = (line: string, env: Record<string, string>) =>
  promisify(execFile)('sh', ['-c', line], { cwd: root, env });

it('prints next steps that run in a clone', async () => {
  const home = await createHome({});
  await mkdir(join(home.path, '.cursor'));
  const env = { ...environmentOf(home), PATH: BARE_PATH };
  const { stderr } = await turnbuckle(['lst'], { home, cwd: root, env });
  const [, meant = ''] = /Did you mean "(.+)"\?/.exec(stderr) ?? [];
  expect(meant).toBe('node packages/cli/dist/bin.js list');
  await expect(inShell(meant, env)).resolves.toBeDefined();
  const listed = await turnbuckle(['setup'], { home, cwd: root, env });
  const [, next = ''] = /Connect one: (.+)/.exec(listed.stderr) ?? [];
  const { stderr: done } = await inShell(`${next} --yes`, env);
  const [, back = ''] = /Take it back: (.+)/.exec(done) ?? [];
  await expect(inShell(back, env)).resolves.toBeDefined();
});

it('the daemon of npm start names what works', async () => {
  const home = await createHome({});
  const env = { ...environmentOf(home), PATH: BARE_PATH };
  const child = start(['serve', '--demo', '--port', '0'], { home, cwd: root, env });
  const ended = finished(child);
  await new Promise<void>((resolve) => {
    child.stderr?.on('data', (part: Buffer) => {
      if (part.toString().includes('Ctrl-C ends it')) resolve();
    });
  });
  child.kill('SIGTERM');
  const { stderr } = await ended;
  expect(stderr).toContain('Next: node packages/cli/dist/bin.js setup connects an agent');
  expect(stderr).not.toMatch(/(^|\s)turnbuckle [a-z]/m);
});

it('leaves what a server says, and paths, as they are', async () => {
  const home = await createHome({});
  const env = { PATH: BARE_PATH };
  const words = [
    'call',
    'demo',
    'echo',
    'text=run turnbuckle setup now',
    '--mcp-server',
    `demo=${process.execPath} ${BIN} demo-server`,
  ];
  const { stdout } = await turnbuckle(words, { home, env });
  expect(stdout).toBe('run turnbuckle setup now\n');
  const missing = await turnbuckle(['import', '--from', '/srv/turnbuckle import'], { home, env });
  expect(missing.stderr).toContain('/srv/turnbuckle import cannot be used');
});
