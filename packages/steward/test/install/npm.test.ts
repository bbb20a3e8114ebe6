import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { descendants, isAlive, timeBound, waitUntil } from '@turnbuckle/testing';
import { createConfiguredRuntime } from 'turnbuckle';
import { checkSandbox } from 'turnbuckle/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Installed } from '../../src/install/install.js';
import { uninstall, verifyInstalled } from '../../src/install/install-directory.js';
import type { InstallableRecord } from '../../src/install/installable-record.js';
import { readNpmConfig } from '../../src/install/npm/npm-config.js';
import { createStage, npmRecord, tinyPackage } from './stage.js';

const dependency = {
  name: 'tiny-dependency',
  version: '2.0.1',
  files: { 'index.js': 'module.exports = "with dependency";' },
};
const withDependency = tinyPackage({ manifest: { dependencies: { 'tiny-dependency': '^2.0.0' } } });
const record = npmRecord('@acme/server-tiny', '1.2.3');

/** Starts the server from a config file, and calls its tool. */
async function callFacts({ entry }: Installed, stateDir: string, environment = {}): Promise<unknown> {
  mkdirSync(stateDir);
  const file = join(stateDir, '..', 'turnbuckle.json');
  writeFileSync(file, JSON.stringify({ servers: { tiny: entry } }));
  const { runtime } = await createConfiguredRuntime({
    stateDir,
    cwd: stateDir,
    files: [file],
    environment: { PATH: process.env.PATH, HOME: stateDir, XDG_CONFIG_HOME: stateDir, ...environment },
  });
  onTestFinished(() => runtime.close());
  const { content } = await runtime.callTool('tiny', 'facts', {});
  const [first] = content;
  return JSON.parse(first?.type === 'text' ? first.text : '');
}

const sandbox = await checkSandbox();

// requirement E3
describe('a good package', () => {
  it('is installed with its dependency and starts as a server', async () => {
    const { home, registry, root, plan, carryOut } = await createStage([dependency, withDependency]);
    const planned = await plan(record);
    expect(planned.integrity).toBe(registry.integrityOf('@acme/server-tiny', '1.2.3'));
    const installed = await carryOut(planned);
    const file = join(planned.directory ?? '', 'node_modules/@acme/server-tiny/bin/server.js');
    expect(planned.shown.command).toEqual([process.execPath, file]);
    expect(installed.entry).toMatchObject({ command: process.execPath, args: [file] });
    expect(await callFacts(installed, home.file('state'))).toMatchObject({
      word: 'with dependency',
      execPath: process.execPath,
    });
    expect(readdirSync(root)).toEqual([planned.directory?.split('/').at(-1)]);
    expect(readFileSync(join(planned.directory ?? '', 'package-lock.json'), 'utf8')).toContain(registry.url);
  });

  it('gets its arguments as they are, and secrets only by their placeholder', async () => {
    const { home, plan, carryOut } = await createStage([tinyPackage()]);
    const hostile = ['${secret:other.TOKEN}', '$(touch x)', '; rm -rf ~', '--require=/tmp/x.js', '$$${HOME}'];
    const planned = await plan(
      npmRecord('@acme/server-tiny', '1.2.3', {
        packageArguments: [
          ...hostile.map((value) => ({ type: 'positional' as const, value })),
          { type: 'positional', valueHint: 'directory', isRequired: true },
          { type: 'named', name: '--level', valueHint: 'level', choices: ['low', 'high'] },
        ],
        environmentVariables: [{ name: 'API_KEY', isSecret: true, isRequired: true }],
      }),
    );
    const installed = await carryOut(planned, { values: { directory: '${env:HOME}/x' } });
    expect(installed.entry.env).toEqual({ API_KEY: '${secret:tiny.API_KEY}' });
    expect(
      await callFacts(installed, home.file('state'), { TURNBUCKLE_SECRET_TINY_API_KEY: 'k-1' }),
    ).toMatchObject({
      argv: [...hostile, '${env:HOME}/x'],
      secret: 'k-1',
    });
    await expect(carryOut(planned)).rejects.toMatchObject({ code: 'ARGUMENTS_INVALID' });
    await expect(carryOut(planned, { values: { directory: 'x', level: 'none' } })).rejects.toMatchObject({
      code: 'ARGUMENTS_INVALID',
    });
  });

  it.skipIf(!sandbox.available)('starts in a sandbox that shows it its own files', async () => {
    const { home, plan, carryOut } = await createStage([dependency, withDependency]);
    const installed = await carryOut(await plan(record, { sandbox: true }));
    expect(installed.entry.sandbox).toEqual({ preset: 'standard', read: [installed.directory] });
    expect(await callFacts(installed, home.file('state'))).toMatchObject({ word: 'with dependency' });
  });

  it('is downloaded with the credentials of the npm configuration, which npm does not get', async () => {
    const stage = await createStage([tinyPackage()], 'Bearer npm-token-of-the-user');
    const { environment, registry, home } = stage;
    mkdirSync(environment.HOME);
    const { host } = new URL(registry.url);
    writeFileSync(
      home.file('home/.npmrc'),
      `@acme:registry=${registry.url}\n//${host}/:_authToken=\${NPM_TOKEN}\nignore-scripts=false\n`,
    );
    const npm = await readNpmConfig({ environment: { ...environment, NPM_TOKEN: 'npm-token-of-the-user' } });
    const installed = await stage.carryOut(await stage.plan(record, { npm }), { npm });
    expect(existsSync(installed.directory ?? '')).toBe(true);
    const without = await readNpmConfig({
      environment: { ...environment, npm_config_registry: registry.url },
    });
    await expect(stage.plan(record, { npm: without })).rejects.toMatchObject({ code: 'CONNECT_FAILED' });
  });

  it('is kept if it is unchanged, installed again if not, and removed on demand', async () => {
    const { plan, carryOut, registry } = await createStage([dependency, withDependency]);
    const planned = await plan(record);
    const { directory = '', packageHash } = await carryOut(planned);
    expect(await verifyInstalled(directory, packageHash)).toMatchObject({ unchanged: true });
    const requests = registry.requests.length;
    expect((await carryOut(planned)).packageHash).toBe(packageHash);
    expect(registry.requests).toHaveLength(requests);
    appendFileSync(join(directory, 'node_modules/tiny-dependency/index.js'), ' // changed');
    expect(await verifyInstalled(directory)).toMatchObject({ unchanged: false });
    expect((await carryOut(planned)).packageHash).toBe(packageHash);
    expect(await verifyInstalled(directory, packageHash)).toMatchObject({ unchanged: true });
    writeFileSync(join(directory, 'added.js'), '');
    expect(await verifyInstalled(directory)).toMatchObject({ unchanged: false });
    await uninstall(directory);
    expect(existsSync(directory)).toBe(false);
    await uninstall(directory);
    await expect(uninstall(join(directory, '..'))).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

/** By its command or its directory, since npm gives its process another name. */
function worksIn(pid: number, directory: string): boolean {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return command.includes(directory) || readlinkSync(`/proc/${pid}/cwd`).startsWith(directory);
  } catch {
    // It has ended meanwhile.
    return false;
  }
}

// requirement E4
describe('an installation that does not end', () => {
  it('leaves nothing when it is aborted, and is gone within a second', async () => {
    const { root, registry, abort, plan, carryOut } = await createStage([dependency, withDependency]);
    const planned = await plan(record);
    registry.hold('/-/server-tiny');
    const running = carryOut(planned);
    const outcome = expect(running).rejects.toThrow('stopped by the user');
    await waitUntil(() => registry.requests.some((path) => path.endsWith('.tgz')));
    // Other tests of this process have children, too.
    const started = descendants(process.pid).filter((pid) => worksIn(pid, root));
    expect(started).not.toEqual([]);
    const at = performance.now();
    abort.abort(new Error('stopped by the user'));
    await outcome;
    expect(performance.now() - at).toBeLessThan(timeBound(1_000));
    expect(started.filter(isAlive)).toEqual([]);
    expect(readdirSync(root)).toEqual([]);
  });

  it('is cleaned up by the next one after kill -9', async () => {
    const { home, root, registry, plan, carryOut, environment } = await createStage([
      dependency,
      withDependency,
    ]);
    const planned = await plan(record);
    writeFileSync(home.file('plan.json'), JSON.stringify(planned));
    registry.hold('/-/server-tiny');
    const script = fileURLToPath(new URL('install-until-killed.mjs', import.meta.url));
    const child = spawn(process.execPath, [script, home.file('plan.json'), registry.url], {
      env: environment,
      stdio: 'inherit',
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await waitUntil(() => registry.requests.some((path) => path.endsWith('.tgz')));
    const npm = descendants(child.pid ?? 0);
    onTestFinished(() => npm.filter(isAlive).forEach((pid) => void process.kill(pid, 'SIGKILL')));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(readdirSync(root).some((name) => name.endsWith('.partial'))).toBe(true);
    // npm lost its registry.
    await waitUntil(() => !npm.some(isAlive));
    registry.release();
    const { directory } = await carryOut(planned);
    expect(readdirSync(root)).toEqual([directory?.split('/').at(-1)]);
  });
});

describe('supply chain', () => {
  it('S51: exactly the approved version and integrity are installed, and young versions are refused', async () => {
    const young = new Date(Date.now() - 3 * 3_600_000).toISOString();
    const stage = await createStage([
      tinyPackage(),
      tinyPackage({ version: '1.2.4', publishedAt: young, manifest: { description: 'an update' } }),
    ]);
    const approved = await stage.plan(record);
    expect(approved.shown.warnings.join()).not.toContain('published');
    const next = npmRecord('@acme/server-tiny', '1.2.4');
    expect(await stage.whyRefused(next)).toBe(
      '@acme/server-tiny 1.2.4 was published 3 hours ago. Versions younger than 7 days are not installed.',
    );
    const update = await stage.plan(next, { settings: { ...stage.settings, minAgeDays: 0 } });
    expect(update.integrity).not.toBe(approved.integrity);
    expect(update.directory).not.toBe(approved.directory);
    const changed = { ...approved, integrity: update.integrity ?? '' };
    await expect(stage.carryOut(changed)).rejects.toThrow('does not match the approved integrity hash');
    const { directory = '' } = await stage.carryOut(approved);
    const text = readFileSync(join(directory, 'node_modules/@acme/server-tiny/package.json'), 'utf8');
    expect(JSON.parse(text).version).toBe('1.2.3');
  });

  it('S51: young versions of dependencies are not installed either', async () => {
    const young = new Date(Date.now() - 3 * 3_600_000).toISOString();
    const stage = await createStage([
      dependency,
      { ...dependency, version: '2.0.9', publishedAt: young },
      tinyPackage({ manifest: { dependencies: { 'tiny-dependency': '^2.0.0' } } }),
      tinyPackage({ name: 'by-tag', manifest: { dependencies: { 'tiny-dependency': 'latest' } } }),
    ]);
    const versionOf = async (wanted: InstallableRecord, minAgeDays: number): Promise<string> => {
      const planned = await stage.plan(wanted);
      const settings = { ...stage.settings, minAgeDays };
      const { directory = '' } = await stage.carryOut(planned, { settings });
      const file = join(directory, 'node_modules/tiny-dependency/package.json');
      const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
      await uninstall(directory);
      return version;
    };
    for (const wanted of [record, npmRecord('by-tag', '1.2.3')]) {
      expect(await versionOf(wanted, 7)).toBe(dependency.version);
      expect(await versionOf(wanted, 0)).toBe('2.0.9');
    }
  });

  it('S52: no install script runs, of the package or of a dependency', async () => {
    const stage = await createStage([]);
    const canary = stage.home.file('canary');
    const write = `node -e "require('fs').writeFileSync('${canary}','x')"`;
    const scripts = { preinstall: write, install: write, postinstall: write, prepare: write };
    const second = await createStage([
      { ...dependency, manifest: { scripts } },
      tinyPackage({ manifest: { scripts, dependencies: { 'tiny-dependency': '2.0.1' } } }),
    ]);
    const planned = await second.plan(record);
    expect(planned.shown.warnings.join()).toContain('install scripts, which are not run');
    await second.carryOut(planned);
    expect(existsSync(canary)).toBe(false);
  });

  it('S54: programs are run by absolute paths, and no links to programs are made', async () => {
    const bin = { node: 'evil.js', npm: 'evil.js', git: 'evil.js' };
    const stage = await createStage([
      { ...dependency, files: { 'index.js': '', 'evil.js': '' }, manifest: { bin } },
      withDependency,
      tinyPackage({ name: 'hijack', manifest: { bin: { hijack: 'bin/server.js', ...bin } } }),
    ]);
    const { entry, directory = '' } = await stage.carryOut(await stage.plan(record));
    expect(entry.command).toBe(process.execPath);
    expect(existsSync(join(directory, 'node_modules/.bin'))).toBe(false);
    expect(await stage.whyRefused(npmRecord('hijack', '1.2.3'))).toContain('a program named "node"');
  });
});
