import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { waitUntil } from '@turnbuckle/testing';

const run = promisify(execFile);

/** Debian keeps the programs of each version in a directory of its own. */
const DEBIAN = '/usr/lib/postgresql';
const NOBODY = 65_534;

const [programs] = (existsSync(DEBIAN) ? readdirSync(DEBIAN) : [])
  .sort((one, other) => Number(other) - Number(one))
  .map((version) => path.join(DEBIAN, version, 'bin'))
  .filter((directory) =>
    ['initdb', 'postgres', 'psql'].every((name) => existsSync(path.join(directory, name))),
  );

/** Empty, or why there can be no database here: the end of a test's title. */
export const SKIPPED =
  programs === undefined ? ` (skipped: not installed here: ${DEBIAN}/*/bin/postgres)` : '';

export const USER = 'reader';

export interface PostgresDatabase {
  /** The directory of its Unix socket, its only way in. */
  readonly socketDirectory: string;
  start(): Promise<void>;
  /** Ends every connection to it, and then itself. */
  stop(): Promise<void>;
  execute(sql: string): Promise<void>;
  remove(): Promise<void>;
}

/** A database that is not started yet, in a temporary directory. */
export async function createDatabase(): Promise<PostgresDatabase> {
  const bin = programs ?? '';
  const directory = await mkdtemp(path.join(os.tmpdir(), 'turnbuckle-postgres-'));
  const data = path.join(directory, 'data');
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if ('uid' in user) await chown(directory, NOBODY, NOBODY);
  const options = { ...user, cwd: directory, env: { PATH: process.env.PATH, LC_ALL: 'C' } };
  let child: ChildProcess | undefined;
  await run(
    path.join(bin, 'initdb'),
    ['--pgdata', data, '--username', USER, '--auth', 'trust', '--encoding', 'UTF8', '--no-sync'],
    options,
  );

  const execute = async (sql: string): Promise<void> => {
    const args = ['--no-psqlrc', '--quiet', '--host', directory, '--username', USER, '--dbname', 'postgres'];
    await run(path.join(bin, 'psql'), [...args, '--set', 'ON_ERROR_STOP=1', '--command', sql], options);
  };
  const stop = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    await ended;
  };
  return {
    socketDirectory: directory,
    async start() {
      const args = ['-D', data, '-k', directory, '-c', 'listen_addresses=', '-c', 'fsync=off'];
      const started = spawn(path.join(bin, 'postgres'), args, { ...options, stdio: 'ignore' });
      child = started;
      await waitUntil(async () => {
        if (started.exitCode !== null)
          throw new Error(`PostgreSQL ended with exit code ${started.exitCode}.`);
        return execute('SELECT 1').then(
          () => true,
          () => false,
        );
      });
    },
    stop,
    execute,
    async remove() {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
