import { chmod, mkdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fixture, timeBound, waitUntil } from '@turnbuckle/testing';
import type { ConfiguredServer, LoadedConfig } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';
import { TrustStore, trustHash } from '../../src/config/trust/trust.js';
import { startsIn } from './marking-server.js';
import { createSetting, type Setting } from './setting.js';

function serverIn(config: LoadedConfig, name: string): ConfiguredServer {
  const server = config.servers.get(name);
  if (server === undefined) throw new Error(`there is no ${name}`);
  return server;
}

/** How an entry can name a file, the path of the file in the project, and the file that the test changes. */
const NAMED: ReadonlyArray<
  [what: string, entry: (project: string) => object, named: string, changed?: string]
> = [
  ['the command', () => ({ command: './run.sh' }), 'run.sh'],
  ['the command, from the project', (project) => ({ command: join(project, 'run.sh') }), 'run.sh'],
  ['an argument', () => ({ command: 'node', args: ['server.mjs'] }), 'server.mjs'],
  ['an argument of a runner', () => ({ command: 'npx', args: ['tsx', './x.ts', '--fast'] }), 'x.ts'],
  ['the value of an option', () => ({ command: 'node', args: ['--import', './x.mjs', 'y'] }), 'x.mjs'],
  ['the value after an equals sign', () => ({ command: 'node', args: ['--import=./x.mjs'] }), 'x.mjs'],
  ['an option and its value in one argument', () => ({ command: 'node', args: ['-r./x.cjs'] }), 'x.cjs'],
  ['a shell command line', () => ({ command: 'sh', args: ['-c', './run.sh --quick'] }), 'run.sh'],
  [
    'a longer shell command line',
    () => ({ command: 'sh', args: ['-c', 'cd . && A=1 exec "lib/run.sh"'] }),
    'lib/run.sh',
  ],
  [
    'a file URL',
    (project) => ({ command: 'node', args: ['--import', pathToFileURL(join(project, 'x.mjs')).href] }),
    'x.mjs',
  ],
  ['a placeholder', () => ({ command: '${workspaceFolder}/bin/run' }), 'bin/run'],
  ['the default of a placeholder', () => ({ command: '${NOT_SET_HERE:-./run.sh}' }), 'run.sh'],
  ['a variable', () => ({ command: '${PROJECT_PLACE}/run.sh' }), 'run.sh'],
  ['a path from its directory', () => ({ command: 'python', args: ['s.py'], cwd: 'sub' }), 'sub/s.py'],
  ['the scripts of a package', () => ({ command: 'npm', args: ['run', 'serve'] }), 'package.json'],
  ['a name without its ending', () => ({ command: 'node', args: ['server'] }), 'server.js'],
  ['the same after options', () => ({ command: 'node', args: ['-r', './a', '--x', 'server'] }), 'server.cjs'],
  ['a directory with an index', () => ({ command: 'node', args: ['./srv'] }), 'srv/index.js'],
  ['the directory itself', () => ({ command: 'node', args: ['.'] }), 'index.js'],
  ['a program called like data', () => ({ command: 'node', args: ['start.db'] }), 'start.db'],
  ['the same for a shell', () => ({ command: 'sh', args: ['-e', 'run.log'] }), 'run.log'],
  ['a module', () => ({ command: 'python3', args: ['-m', 'mod'] }), 'mod.py'],
  ['a module in a package', () => ({ command: 'python', args: ['-u', '-ma.b'] }), 'a/b.py'],
  ['a package', () => ({ command: 'python', args: ['-m', 'a.b'] }), 'a/b/__main__.py'],
  ['a name in a shell command line', () => ({ command: 'sh', args: ['-c', 'node server'] }), 'server.js'],
  ['a file after a cd', () => ({ command: 'sh', args: ['-c', 'cd sub && node server'] }), 'sub/server.js'],
  ['a script of Node', () => ({ command: 'node', args: ['--run', 'serve'] }), 'package.json'],
  ['a script by its name alone', () => ({ command: 'yarn', args: ['serve'] }), 'package.json'],
  ['scripts elsewhere', () => ({ command: 'npm', args: ['--prefix', 'sub', 'start'] }), 'sub/package.json'],
  ['scripts elsewhere, in one', () => ({ command: 'yarn', args: ['--cwd=sub', 'x'] }), 'sub/package.json'],
  ['scripts of a line', () => ({ command: 'sh', args: ['-c', 'pnpm -C sub x'] }), 'sub/package.json'],
  ['a link', () => ({ command: './link' }), 'link', 'target.sh'],
  ['a link to the outside', () => ({ command: './outside-link' }), 'outside-link', '../outside.sh'],
];

async function stageFor(named: string, changed = named): Promise<{ setting: Setting; touched: string }> {
  const setting = await createSetting();
  const touched = await setting.write(join(setting.project, changed), '#!/bin/sh\necho one\n');
  if (changed !== named) await symlink(touched, join(setting.project, named));
  return { setting, touched };
}

describe("the content of a project's file is agreed to when it is named as", () => {
  it.each(NAMED)('%s', async (_what, entry, named, changed) => {
    const { setting, touched } = await stageFor(named, changed);
    const { project, stateDir } = setting;
    const environment = { ...setting.environment, PROJECT_PLACE: project };
    const trust = new TrustStore(stateDir, Date.now, environment);
    const subject = { name: 'one', directory: project, entry: { ...entry(project) } };
    expect(await trust.changedFiles(subject)).toBeUndefined();
    await trust.agree([subject]);
    expect(Object.keys(await trust.namedFiles(subject))).toEqual([named]);
    expect(await trust.isTrusted(subject)).toBe(true);
    await setting.write(touched, '#!/bin/sh\necho two\n');
    expect(await trust.changedFiles(subject)).toEqual([named]);
    expect(await trust.isTrusted(subject)).toBe(false);
    await rm(touched);
    expect(await trust.changedFiles(subject)).toEqual([named]);
    await setting.write(touched, '#!/bin/sh\necho one\n');
    expect(await trust.isTrusted(subject)).toBe(true);
  });

  it('the main file of a package, together with its package.json', async () => {
    const { write, project, stateDir } = await createSetting();
    await write(join(project, 'srv/package.json'), '{"main":"lib/go"}');
    await write(join(project, 'srv/lib/go.js'), '');
    const subject = { name: 'one', directory: project, entry: { command: 'node', args: ['srv'] } };
    const names = Object.keys(await new TrustStore(stateDir).namedFiles(subject));
    expect(names.sort()).toEqual(['srv/lib/go.js', 'srv/package.json']);
  });

  it('a link that is led elsewhere, to the same text', async () => {
    const { setting } = await stageFor('link', 'a/run.sh');
    const { project, stateDir } = setting;
    const other = await setting.write(join(project, 'b/run.sh'), '#!/bin/sh\necho one\n');
    const trust = new TrustStore(stateDir);
    const subject = { name: 'one', directory: project, entry: { command: './link' } };
    await trust.agree([subject]);
    await rm(join(project, 'link'));
    await symlink(other, join(project, 'link'));
    expect(await trust.changedFiles(subject)).toEqual(['link']);
  });

  it('a file that did not exist', async () => {
    const { write, project, stateDir } = await createSetting();
    const trust = new TrustStore(stateDir);
    const subject = { name: 'one', directory: project, entry: { command: 'node', args: ['later.mjs'] } };
    await trust.agree([subject]);
    await write(join(project, 'later.mjs'), '');
    expect(await trust.changedFiles(subject)).toEqual(['later.mjs']);
  });
});

it('an agreement does not cover data, directories and files outside the project', async () => {
  const { write, project, home, stateDir } = await createSetting();
  const trust = new TrustStore(stateDir);
  const files = [join(project, 'notes.sqlite3'), join(project, 'data', 'x'), join(home, 'mine.sh')];
  for (const file of files) await write(file, 'one');
  const args = ['--db=./notes.sqlite3', './data', files[2], '/etc/hostname', '.', '', 'x\0y', '${secret:a}'];
  const subject = { name: 'one', directory: project, entry: { command: process.execPath, args } };
  await trust.agree([subject]);
  for (const file of files) await write(file, 'two');
  expect(await trust.namedFiles(subject)).toEqual({});
  expect(await trust.isTrusted(subject)).toBe(true);
});

it('an agreement without file hashes is void if the entry names files', async () => {
  const { write, project, stateDir } = await createSetting();
  const trust = new TrustStore(stateDir);
  await write(join(project, 'run.sh'), '');
  const subjects = ['./run.sh', 'uvx'].map((command) => ({
    name: command,
    directory: project,
    entry: { command },
  }));
  await trust.agree(subjects);
  const all = JSON.parse(await readFile(trust.file, 'utf8'));
  for (const one of Object.values(all)) delete (one as { files?: unknown }).files;
  await write(trust.file, all);
  expect(await Promise.all(subjects.map((subject) => trust.isTrusted(subject)))).toEqual([false, true]);
});

it('very large files are compared by size and time', async () => {
  const { project, stateDir } = await createSetting();
  const file = join(project, 'huge.bin');
  await writeFile(file, '');
  await truncate(file, 200 * 1_024 * 1_024);
  const trust = new TrustStore(stateDir);
  const subject = { name: 'one', directory: project, entry: { command: './huge.bin' } };
  await trust.agree([subject]);
  expect(await trust.isTrusted(subject)).toBe(true);
  await truncate(file, 201 * 1_024 * 1_024);
  expect(await trust.isTrusted(subject)).toBe(false);
});

describe('a script that changed', () => {
  /** A project whose server is its own script, which appends a line to a file when it runs. */
  async function openScripted(settings: object = {}) {
    const setting = await createSetting();
    const { project, home, projectFile, userFile, write } = setting;
    const marks = { first: join(home, 'first'), second: join(home, 'second') };
    const { command, args } = fixture('echo');
    const script = (marker: string): string =>
      `#!/bin/sh\necho started >> '${marker}'\nexec '${command}' ${args.map((word) => `'${word}'`).join(' ')}\n`;
    const put = async (marker: string): Promise<void> => {
      await chmod(await write(join(project, 'run.sh'), script(marker)), 0o755);
    };
    await put(marks.first);
    await write(projectFile, { servers: { own: { command: './run.sh' } } });
    if (Object.keys(settings).length > 0) await write(userFile, settings);
    const configured = await setting.open();
    await configured.trust.agree([serverIn(configured.config(), 'own')]);
    await configured.reload();
    expect(startsIn(marks.first)).toBe(1);
    return { setting, configured, marks, put };
  }

  it('is not started before the user agrees: by a reconnect, a call, a reload, another program', async () => {
    const { setting, configured, marks, put } = await openScripted();
    const { runtime, trust, config, reload } = configured;
    await put(marks.second);
    const refused = {
      code: 'TRUST_REQUIRED',
      message: expect.stringContaining('"run.sh" changed'),
      hint: expect.stringContaining('turnbuckle trust own'),
    };
    await expect(runtime.reconnect('own')).rejects.toMatchObject(refused);
    await expect(runtime.callTool('own', 'echo', { text: 'x' })).rejects.toMatchObject({
      code: 'TRUST_REQUIRED',
    });
    expect(serverIn(await setting.load(), 'own').problem).toMatchObject(refused);
    await trust.agree([serverIn(config(), 'own')]);
    await waitUntil(async () => (await runtime.execute('mcp__own__echo', { text: 'x' })).success, 20_000);
    expect([startsIn(marks.first), startsIn(marks.second)]).toEqual([1, 1]);
    await put(marks.first);
    expect((await reload()).errors.own).toContain('changed since you trusted the server');
    await expect(runtime.callTool('own', 'echo', { text: 'x' })).rejects.toMatchObject(refused);
    expect([startsIn(marks.first), startsIn(marks.second)]).toEqual([1, 1]);
  });

  it('is not started by the automatic reconnect after a crash', async () => {
    const { configured, marks, put } = await openScripted();
    const { runtime } = configured;
    await put(marks.second);
    const [part] = (await runtime.callTool('own', 'pid')).content;
    process.kill(Number(part?.type === 'text' ? part.text : 0), 'SIGKILL');
    await waitUntil(() => runtime.serverStatus('own').error?.code === 'TRUST_REQUIRED', 20_000);
    expect([startsIn(marks.first), startsIn(marks.second)]).toEqual([1, 0]);
  });

  it('is started with a warning if the user chose that', async () => {
    const { setting, configured, marks, put } = await openScripted({ changedScripts: 'warn' });
    const { runtime } = configured;
    await put(marks.second);
    await runtime.reconnect('own');
    expect([startsIn(marks.first), startsIn(marks.second)]).toEqual([1, 1]);
    const { problems, servers } = await setting.load();
    expect(servers.get('own')?.problem).toBeUndefined();
    expect(problems).toMatchObject([{ server: 'own', message: expect.stringContaining('"run.sh" changed') }]);
  });

  it('cannot be excluded by the project itself', async () => {
    const { setting, marks, put } = await openScripted();
    const { projectFile, write, load } = setting;
    await write(projectFile, { changedScripts: 'warn', servers: { own: { command: './run.sh' } } });
    await put(marks.second);
    const { problems, servers, settings } = await load();
    expect(settings.changedScripts).toBeUndefined();
    expect(problems.length).toBe(1);
    expect(servers.get('own')?.problem).toMatchObject({ code: 'TRUST_REQUIRED' });
  });

  it('does not matter if the whole checkout is trusted', async () => {
    const { setting, marks, put } = await openScripted();
    await put(marks.second);
    const { runtime } = await setting.open({ trustProject: true });
    await runtime.connect('own');
    expect(startsIn(marks.second)).toBe(1);
  });
});

it('an unreadable directory does not break the check', async () => {
  const { project, stateDir } = await createSetting();
  await mkdir(join(project, 'closed'), { mode: 0o000 });
  const trust = new TrustStore(stateDir);
  const subject = { name: 'one', directory: project, entry: { command: './closed/run.sh', args: [7, null] } };
  await trust.agree([subject]);
  expect(await trust.isTrusted(subject)).toBe(true);
  await chmod(join(project, 'closed'), 0o700);
});

describe('a command that could mean very many files', () => {
  const many = (unit: (index: number) => string, characters: number): string => {
    let line = '';
    for (let index = 0; line.length < characters; index += 1) line += `${unit(index)} `;
    return line;
  };
  const base36 = (index: number): string => index.toString(36);
  /** Used as one argument, and with each word as an argument. */
  const LINES: Readonly<Record<string, string>> = {
    'programs in many directories': `${many((index) => `cd d${index}`, 40)}${many((index) => `sh ${base36(index)}`, 32_000)}`,
    'modules in modules': many((index) => `-m ${base36(index)}${'.a'.repeat(250)}`, 100_000),
    'options with values that are programs': many(() => '-m sh', 100_000),
    words: many(base36, 120_000),
    'one long word': 'x/'.repeat(60_000),
    signs: '=-a'.repeat(40_000),
    placeholders: '${A:-x}'.repeat(18_000),
  };

  it.each(Object.entries(LINES))(
    'is checked, or rejected, in time: %s',
    async (_what, line) => {
      const { project, stateDir } = await createSetting();
      const trust = new TrustStore(stateDir);
      for (const args of [['-c', line], line.split(' ')]) {
        const subject = { name: 'one', directory: project, entry: { command: 'sh', args } };
        const began = process.cpuUsage();
        const files = await trust.namedFiles(subject).catch((error: unknown) => error);
        const { user, system } = process.cpuUsage(began);
        expect((user + system) / 1_000).toBeLessThan(timeBound(2_500));
        if (files instanceof Error) expect(files).toMatchObject({ code: 'CONFIG_INVALID', server: 'one' });
        else expect(files).toEqual({});
      }
    },
    120_000,
  );

  it('has no option that hides a script from the check', async () => {
    const { write, project, stateDir } = await createSetting();
    await write(join(project, 'run.sh'), '');
    const args = [...Array.from({ length: 5_000 }, (_, index) => `-${index}`), './run.sh'];
    const subject = { name: 'one', directory: project, entry: { command: 'sh', args } };
    expect(Object.keys(await new TrustStore(stateDir).namedFiles(subject))).toEqual(['run.sh']);
  });

  it.each(['ask', 'warn'])('is not started on an earlier agreement (%s)', async (changedScripts) => {
    const { write, load, project, projectFile, userFile, stateDir } = await createSetting();
    const entry = { command: 'sh', args: ['-c', LINES['programs in many directories']] };
    await write(projectFile, { servers: { one: entry } });
    if (changedScripts === 'warn') await write(userFile, { changedScripts });
    const trust = new TrustStore(stateDir);
    const subject = serverIn(await load(), 'one');
    expect(subject.problem).toMatchObject({ code: 'TRUST_REQUIRED' });
    await expect(trust.agree([subject])).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('too many files to check'),
    });
    const agreement = { hash: trustHash(subject), agreedAt: '2026-01-01T00:00:00.000Z' };
    await write(trust.file, { [JSON.stringify([subject.directory, 'one'])]: agreement });
    expect(serverIn(await load(), 'one').problem).toMatchObject({ code: 'CONFIG_INVALID', server: 'one' });
    expect(project).toBe(subject.directory);
  });
});
