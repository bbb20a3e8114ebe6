/** Printed next steps start with a command that works, also in a clone of the repository. */
import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { commandPrefix } from '../../src/terminal/command-prefix.js';
import { BIN, createHome, environmentOf, finished, start, turnbuckle } from '../commands/turnbuckle.js';
import { root } from '../docs/repository.js';

const BARE_PATH = [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);

it.each([
  ['in the clone', '/srv/clone', '/srv/clone/packages/cli/dist/bin.js', 'node packages/cli/dist/bin.js'],
  [
    'in a directory of the clone',
    '/srv/clone/docs',
    '/srv/clone/packages/cli/dist/bin.js',
    'node /srv/clone/packages/cli/dist/bin.js',
  ],
  ['outside the clone', '/srv', '/opt/my tools/cli/dist/bin.js', "node '/opt/my tools/cli/dist/bin.js'"],
  ['installed in a project', '/srv', '/srv/node_modules/@turnbuckle/cli/dist/bin.js', 'npx turnbuckle'],
  [
    'run with npx',
    '/srv',
    '/root/.npm/_npx/1a2b/node_modules/@turnbuckle/cli/dist/bin.js',
    'npx @turnbuckle/cli',
  ],
])('%s', (_where, cwd, file, expected) => {
  expect(commandPrefix({ path: '/nowhere', cwd, file })).toBe(expected);
});

it('uses the command name when PATH leads to this program', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const at = { cwd: '/nowhere', file: BIN };
  for (const name of ['linked', 'script', 'other', 'node_modules']) await mkdir(directory.file(name));
  await symlink(BIN, directory.file('linked/turnbuckle'));
  await symlink(BIN, directory.file('node_modules/turnbuckle'));
  await writeFile(directory.file('script/turnbuckle'), `#!/bin/sh\nexec node ${BIN} "$@"\n`);
  await writeFile(directory.file('other/turnbuckle'), '#!/bin/sh\necho another program\n');
  const called = ['linked', 'script', 'other', 'node_modules'].map((name) =>
    commandPrefix({ ...at, path: `/nowhere${delimiter}${directory.file(name)}` }),
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
  const [, next = ''] = /Connect an agent: (.+)/.exec(listed.stderr) ?? [];
  const { stderr: done } = await inShell(`${next} --yes`, env);
  const [, back = ''] = /Undo: (.+)/.exec(done) ?? [];
  await expect(inShell(back, env)).resolves.toBeDefined();
});

it('the daemon of npm start prints next steps that work', async () => {
  const home = await createHome({});
  const env = { ...environmentOf(home), PATH: BARE_PATH };
  const child = start(['serve', '--demo', '--port', '0'], { home, cwd: root, env });
  const ended = finished(child);
  await new Promise<void>((resolve) => {
    child.stderr?.on('data', (part: Buffer) => {
      if (part.toString().includes('Press Ctrl-C to stop')) resolve();
    });
  });
  child.kill('SIGTERM');
  const { stderr } = await ended;
  expect(stderr).toContain('Next, connect an agent (node packages/cli/dist/bin.js setup)');
  expect(stderr).not.toMatch(/(^|\s)turnbuckle [a-z]/m);
});

it('does not rewrite text of servers or paths', async () => {
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

it('writes next steps that run in a clone to the log of the daemon', async () => {
  const home = await createHome({ wrong: { command: 7 } });
  const env = { ...environmentOf(home), PATH: BARE_PATH };
  const child = start(['serve', '--port', '0', '--json'], { home, cwd: root, env });
  let text = '';
  child.stderr?.on('data', (part: Buffer) => {
    text += part.toString();
  });
  const ended = finished(child);
  await waitUntil(() => text.includes('entry-invalid') && text.endsWith('\n'), 15_000);
  child.kill('SIGTERM');
  await ended;
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string; next?: string });
  const next = lines.find(({ kind }) => kind === 'entry-invalid')?.next;
  expect(next).toContain('node packages/cli/dist/bin.js doctor wrong');
});
