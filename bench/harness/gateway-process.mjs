import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverDirectory } from './bare-server.mjs';

const termMs = 5_000;

/**
 * A gateway that has been started; it may not be ready. `hasEnded` says why a client cannot succeed any more.
 * @typedef {object} Running
 * @property {string} url
 * @property {string} [token]
 * @property {'http' | 'sse'} transport
 * @property {() => number} memory resident bytes, without those of the servers behind it
 * @property {() => string | undefined} hasEnded
 * @property {() => Promise<unknown>} stop
 */

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it has ended, or belongs to another user
  }
}

/**
 * The processes with this HOME. A gateway and everything it starts have a HOME of their own, so this also finds
 * processes that it detached.
 * @param {string} home
 */
const processesWith = (home) =>
  (existsSync('/proc') ? readdirSync('/proc') : [])
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => read(`/proc/${pid}/environ`).split('\0').includes(`HOME=${home}`))
    .map(Number);

/** Resident memory in bytes; NaN if it is not known. @param {number} pid */
export const memoryOf = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? Number.NaN) * 1_024;

/** @param {string} home */
const memoryWith = (home) =>
  processesWith(home)
    .filter((pid) => !read(`/proc/${pid}/cmdline`).includes(serverDirectory))
    .reduce((sum, pid) => sum + memoryOf(pid), 0);

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}

/**
 * Starts another gateway, with its own HOME and XDG directories.
 * @param {{ home: string, transport: 'http' | 'sse', toArgs: (port: number) => string[] }} options
 * @returns {Promise<Running>}
 */
export async function startPeerGateway({ home, transport, toArgs }) {
  const port = await freePort();
  const within = (name) => {
    const directory = join(home, name);
    mkdirSync(directory, { recursive: true });
    return directory;
  };
  const env = {
    ...process.env,
    HOME: home,
    XDG_CONFIG_HOME: within('config'),
    XDG_STATE_HOME: within('state'),
    XDG_DATA_HOME: within('data'),
    XDG_CACHE_HOME: within('cache'),
    XDG_RUNTIME_DIR: within('run'),
  };
  // A file and not a pipe: reading what it prints would cost the measuring process time.
  const outputFile = join(home, 'output.txt');
  const output = openSync(outputFile, 'w');
  const child = spawn(process.execPath, toArgs(port), { cwd: home, env, stdio: ['ignore', output, output] });
  closeSync(output);
  let reason;
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) =>
      resolve(
        `it ended with ${code ?? signal}: ${read(outputFile).trim().split('\n').at(-1)?.slice(0, 200)}`,
      ),
    );
  }).then((text) => {
    reason = text;
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await Promise.race([ended, sleep(termMs, undefined, { ref: false })]);
    for (let left = processesWith(home); left.length > 0; left = processesWith(home)) {
      for (const pid of left) kill(pid);
      await sleep(20);
    }
  };
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    transport,
    memory: () => memoryWith(home),
    hasEnded: () => reason,
    stop,
  };
}

/** @param {number} pid */
function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
