// Installs the peers into .cache/bench-peers/<id>, each with its own package.json. A peer that is already installed
// at the right version is skipped; one that cannot be installed is reported with the reason.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { peers } from './peers.mjs';

const cacheDirectory = fileURLToPath(new URL('../.cache/bench-peers/', import.meta.url));
const installTimeoutMs = 240_000;

/**
 * The directory of a peer's node_modules; it may not exist yet.
 * @param {string} id
 */
export const peerDirectory = (id) => join(cacheDirectory, id);

/** @param {import('./peers.mjs').Peer} peer */
const toManifest = ({ id, dependencies }) =>
  `${JSON.stringify({ name: `bench-peer-${id}`, private: true, type: 'module', dependencies }, null, 2)}\n`;

/** @param {import('./peers.mjs').Peer} peer */
function isInstalled(peer) {
  const directory = peerDirectory(peer.id);
  const manifest = join(directory, 'package.json');
  // npm writes this lockfile last, so an interrupted install does not count.
  const finished = existsSync(join(directory, 'node_modules', '.package-lock.json'));
  return finished && existsSync(manifest) && readFileSync(manifest, 'utf8') === toManifest(peer);
}

/**
 * @param {string} directory
 * @returns {Promise<string | undefined>} the reason of a failure, or nothing
 */
function runInstall(directory) {
  const command = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--fetch-retries=1'];
  return new Promise((settle) => {
    const child = spawn(command, ['install', '--loglevel=error', ...flags], {
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: installTimeoutMs,
      shell: process.platform === 'win32',
    });
    let stderrTail = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      stderrTail = (stderrTail + chunk).slice(-2000);
    });
    child.once('error', (error) => settle(error.message));
    child.once('close', (code, signal) => {
      const lines = stderrTail.trim().split('\n').slice(0, 2).join(', ');
      settle(code === 0 ? undefined : `npm ended with ${code ?? signal}: ${lines}`);
    });
  });
}

/**
 * Installs every peer, one at a time. Never rejects: returns which are ready and why the others are missing.
 * @param {(line: string) => void} [report]
 */
export async function installPeers(report = () => {}) {
  /** @type {string[]} */
  const ready = [];
  /** @type {Record<string, string>} */
  const missing = {};
  for (const peer of peers) {
    if (!isInstalled(peer)) {
      report(`installing ${peer.label}`);
      const directory = peerDirectory(peer.id);
      rmSync(directory, { recursive: true, force: true });
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, 'package.json'), toManifest(peer));
      const reason = await runInstall(directory);
      if (reason !== undefined) {
        missing[peer.id] = reason;
        report(`missing ${peer.label}: ${reason}`);
        continue;
      }
    }
    ready.push(peer.id);
  }
  return { ready, missing };
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { ready, missing } = await installPeers((line) => console.log(line));
  console.log(`ready: ${ready.join(', ') || 'none'}`);
  process.exitCode = Object.keys(missing).length > 0 ? 1 : 0;
}
