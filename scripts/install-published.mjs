import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Installs published packages, each exact `name@version` into a directory of its own under `directory`,
 * two at a time and without running install scripts. What is already there is left alone. Resolves with
 * the package directories in the order asked; rejects with one sentence when an install fails or takes
 * longer than `timeoutMs`.
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
  // On a failure the other worker stops taking packages, and what it has begun is still waited for.
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
 * Where `installPublished` puts the package `spec`, installed or not.
 * @param {string} directory
 * @param {string} spec
 */
export function packageDirectory(directory, spec) {
  return path.join(directory, slug(spec), 'node_modules', splitSpec(spec).name);
}

/**
 * The script behind an installed package's command, for starting it with a Node of one's choice.
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
 * Installs beside the final place and renames, so that an interrupted install is never taken for a
 * whole one and two processes may install the same package at once.
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
  let complaint = '';
  child.stderr.on('data', (chunk) => {
    complaint = (complaint + chunk).slice(-2000);
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
  if (code !== 0) throw new Error(`npm could not install ${spec} (exit ${code}).\n${complaint.trim()}`);
}

/** Inside an npm script the same npm is used again; otherwise the one on the PATH. */
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
