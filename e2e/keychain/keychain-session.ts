/** A separate desktop session: a message bus with GNOME's keyring, in a temporary home. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../packages/cli/dist/bin.js', import.meta.url));
const PASSWORD = 'password of the keyring';

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;
const BUS = 'dbus-run-session';
const missing = [BUS, 'gnome-keyring-daemon'].filter((program) => !has(program));

/** Why the suite cannot run here; empty when it can. */
export const SKIPPED = missing.length === 0 ? '' : ` (skipped: not installed here: ${missing.join(', ')})`;

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KeychainSession {
  readonly home: string;
  /** Runs the built command in this session. */
  turnbuckle(
    words: readonly string[],
    more?: { stdin?: string; env?: Record<string, string> },
  ): Promise<Finished>;
  close(): Promise<void>;
}

/** `unlocked`: as after a login; otherwise the keyring exists but is locked. */
export async function openKeychainSession(
  home: string,
  { unlocked }: { readonly unlocked: boolean },
): Promise<KeychainSession> {
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    XDG_RUNTIME_DIR: home,
    XDG_DATA_HOME: join(home, '.local', 'share'),
    TURNBUCKLE_STATE_DIR: join(home, 'state'),
    LANG: 'C.UTF-8',
  };
  const unlock = unlocked
    ? `printf %s "$0" | gnome-keyring-daemon --unlock --components=secrets >/dev/null; `
    : '';
  const script = `${unlock}echo "bus $DBUS_SESSION_BUS_ADDRESS"; cat`;
  const session = spawn(BUS, ['--', 'sh', '-c', script, PASSWORD], {
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const bus = await readBus(session);
  return {
    home,
    turnbuckle: (words, { stdin = '', env: more } = {}) =>
      runCommand(words, { env: { ...env, DBUS_SESSION_BUS_ADDRESS: bus, ...more }, stdin }),
    close: async () => {
      session.stdin?.end();
      await once(session, 'close');
      await endKeyrings(home);
    },
  };
}

/** The keyring does not always end with its bus: this ends the keyrings of this home, and no others. */
async function endKeyrings(home: string): Promise<void> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const read = (name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
    if (!(await read('comm')).startsWith('gnome-keyring')) continue;
    if (!(await read('environ')).split('\0').includes(`HOME=${home}`)) continue;
    try {
      process.kill(Number(pid), 'SIGTERM');
    } catch {
      // It has already ended.
    }
  }
}

export async function temporaryHome(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'turnbuckle-keychain-'));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

async function readBus({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('the session has no output');
  for await (const line of createInterface({ input: stdout })) {
    const [, address] = /^bus (.+)$/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('the session did not start');
}

function runCommand(
  words: readonly string[],
  { env, stdin }: { env: Record<string, string>; stdin: string },
): Promise<Finished> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [BIN, ...words],
      { env, cwd: env.HOME },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, stdout, stderr });
      },
    );
    child.stdin?.end(stdin);
  });
}
