import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { peerDirectory } from '../install-peers.mjs';

const workerPath = fileURLToPath(new URL('./worker.mjs', import.meta.url));
const commandTimeoutMs = 60_000;
const closeTimeoutMs = 5_000;

/** A subject in a child process. A command rejects if the child fails, exits or does not respond. */
export class ClientProcess {
  #child;
  #label;
  #waiting = new Map();
  #nextId = 1;
  #stderrTail = '';

  /** @param {import('../subjects.mjs').Subject} subject */
  constructor(subject) {
    this.#label = subject.label;
    const input = {
      client: subject.client,
      peerRoot: subject.peer === undefined ? '' : peerDirectory(subject.peer),
      settings: subject.settings,
    };
    this.#child = fork(workerPath, [JSON.stringify(input)], {
      execArgv: [
        '--expose-gc',
        '--experimental-import-meta-resolve',
        '--disable-warning=ExperimentalWarning',
      ],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk) => {
      this.#stderrTail = (this.#stderrTail + chunk).slice(-400);
    });
    this.#child.on('message', (message) => this.#settle(message));
    this.#child.once('exit', (code, signal) =>
      this.#fail(`ended with ${code ?? signal} ${this.#stderrTail.trim()}`),
    );
    this.#child.once('error', (error) => this.#fail(error.message));
  }

  #settle({ id, value, error }) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(`${this.#label}: ${error}`));
  }

  #fail(reason) {
    for (const { reject } of this.#waiting.values()) reject(new Error(`${this.#label}: ${reason}`));
    this.#waiting.clear();
  }

  /** Runs a command of the worker and returns its value. */
  async run(command, input = {}, timeoutMs = commandTimeoutMs) {
    const id = this.#nextId++;
    let timer;
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        timer = setTimeout(() => reject(new Error(`${this.#label}: no answer to ${command}`)), timeoutMs);
        if (this.#child.exitCode !== null) this.#fail('is gone');
        else this.#child.send({ id, command, input });
      });
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** Closes the client, then kills the process whatever the result. */
  async stop() {
    if (this.#child.exitCode !== null) return;
    await this.run('close', {}, closeTimeoutMs).catch(() => {});
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await gone;
  }
}

/**
 * Starts a client process, loads the client and connects its servers. Stops the process if that fails.
 * @param {import('../subjects.mjs').Subject} subject
 * @param {readonly import('../subjects.mjs').ServerSpec[]} servers
 */
export async function openClient(subject, servers) {
  const client = new ClientProcess(subject);
  try {
    await client.run('load');
    const { elapsedMs, toolCount } = await client.run('open', { servers });
    return { client, elapsedMs, toolCount };
  } catch (error) {
    await client.stop();
    throw error;
  }
}
