import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Installs published packages, each exact `name@version` into its own directory under `directory`, two at a time
 * and without running install scripts. Skips packages that are already installed. Resolves with the package
 * directories in the given order; rejects with one sentence if an install fails or takes longer than `timeoutMs`.
 * @param {{ directory: string, packages: string[], timeoutMs?: number, onProgress?: (line: string) => void }} options
 * @returns {Promise<string[]>}
 */
export async function installPublished({ directory, packages, timeoutMs = 300_000, onProgress = () => {} }) {
  await mkdir(directory, { recursive: true });
  const missing = packages.filter((spec) => !existsSync(packageDirectory(directory, spec)));
  if (missing.length > 0) await removeAbandoned(directory);
  const total = missing.length;
  let done = 0;
  const worker = async () => {
    for (let spec = missing.shift(); spec !== undefined; spec = missing.shift()) {
      const startedAt = Date.now();
      onProgress(`installing ${spec}`);
      await installOne({ directory, spec, timeoutMs });
      done += 1;
      onProgress(`installed ${spec} in ${((Date.now() - startedAt) / 1000).toFixed(1)} s (${done}/${total})`);
    }
  };
  // After a failure the other worker finishes its current package and starts no new one.
  const stopped = () =>
    worker().catch((error) => {
      missing.length = 0;
      throw error;
    });
  const outcomes = await Promise.allSettled([stopped(), stopped()]);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return packages.map((spec) => packageDirectory(directory, spec));
}

/**
 * The directory of the package `spec`, whether or not it is installed.
 * @param {string} directory
 * @param {string} spec
 */
export function packageDirectory(directory, spec) {
  return path.join(directory, slug(spec), 'node_modules', splitSpec(spec).name);
}

/**
 * The script of an installed package's command, so that any Node can run it.
 * @param {string} packageRoot
 * @returns {Promise<string>}
 */
export async function commandScript(packageRoot) {
  const manifest = JSON.parse(await readFile(path.join(packageRoot, 'package.json'), 'utf8'));
  const script = typeof manifest.bin === 'string' ? manifest.bin : Object.values(manifest.bin ?? {})[0];
  if (typeof script !== 'string') throw new Error(`${manifest.name} offers no command.`);
  return path.join(packageRoot, script);
}

/** @param {string} spec */
function splitSpec(spec) {
  const at = spec.lastIndexOf('@');
  return { name: spec.slice(0, at), version: spec.slice(at + 1) };
}

/** @param {string} spec */
function slug(spec) {
  return spec.replace(/^@/, '').replaceAll('/', '-');
}

const PARTIAL = /^\.partial-(\d+)-/;

/**
 * Installs into a partial directory and renames it, so that an interrupted install never looks complete and two
 * processes may install the same package at once.
 * @param {{ directory: string, spec: string, timeoutMs: number }} options
 */
async function installOne({ directory, spec, timeoutMs }) {
  const partial = path.join(directory, `.partial-${process.pid}-${slug(spec)}`);
  const final = path.join(directory, slug(spec));
  await mkdir(partial, { recursive: true });
  try {
    const { name, version } = splitSpec(spec);
    await writeFile(
      path.join(partial, 'package.json'),
      JSON.stringify({ private: true, dependencies: { [name]: version } }),
    );
    await npmInstall({ directory: partial, spec, timeoutMs });
    await rename(partial, final);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    if (!existsSync(packageDirectory(directory, spec))) throw error;
  }
}

/** @param {{ directory: string, spec: string, timeoutMs: number }} options */
async function npmInstall({ directory, spec, timeoutMs }) {
  const args = [
    'install',
    '--prefix',
    directory,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
  ];
  const npm = npmCommand();
  const child = spawn(npm.command, [...npm.args, ...args, '--omit=dev', '--loglevel=error'], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: npm.shell,
  });
  let stderrTail = '';
  child.stderr.on('data', (chunk) => {
    stderrTail = (stderrTail + chunk).slice(-2000);
  });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
  }, timeoutMs);
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).finally(() => clearTimeout(timer));
  if (timedOut) throw new Error(`Installing ${spec} did not finish within ${timeoutMs / 1000} s.`);
  if (code !== 0) throw new Error(`npm could not install ${spec} (exit ${code}).\n${stderrTail.trim()}`);
}

/** Inside an npm script, the same npm; otherwise the one on the PATH. */
function npmCommand() {
  const script = process.env.npm_execpath;
  if (script !== undefined && /npm-cli\.c?js$/.test(script))
    return { command: process.execPath, args: [script], shell: false };
  return { command: 'npm', args: [], shell: process.platform === 'win32' };
}

/** @param {string} directory */
async function removeAbandoned(directory) {
  for (const entry of await readdir(directory)) {
    const pid = PARTIAL.exec(entry)?.[1];
    if (pid !== undefined && !isRunning(Number(pid)))
      await rm(path.join(directory, entry), { recursive: true, force: true });
  }
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
