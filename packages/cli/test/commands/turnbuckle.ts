/** Runs the built command as a shell does, in a temporary home that hides the configuration of this machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type TemporaryDirectory, temporaryDirectory } from '@turnbuckle/testing';
import { expect } from 'vitest';

export const BIN = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));

export interface RunOptions {
  readonly home: Home;
  /** Default: an empty directory in the home. */
  readonly cwd?: string;
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A home directory with a project in it. */
export interface Home extends TemporaryDirectory {
  readonly project: string;
  /** The user's configuration file. */
  readonly config: string;
  /** Writes a file below the home, with the directories above it. */
  write(name: string, content: unknown): Promise<string>;
  read(name: string): Promise<string>;
}

export async function createHome(servers?: Readonly<Record<string, unknown>>): Promise<Home> {
  const directory = await temporaryDirectory();
  const write = async (name: string, content: unknown): Promise<string> => {
    const file = directory.file(name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
    return file;
  };
  const project = directory.file('project');
  await mkdir(project);
  // The command is on PATH, as after an installation: printed next steps then name it.
  await mkdir(programsOf(directory));
  const script = `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`;
  await writeFile(join(programsOf(directory), 'turnbuckle'), script, { mode: 0o755 });
  if (servers !== undefined) await write('.config/turnbuckle/mcp.json', { servers });
  return {
    ...directory,
    project,
    config: directory.file('.config/turnbuckle/mcp.json'),
    write,
    read: (name) => readFile(directory.file(name), 'utf8'),
  };
}

/** The directory on PATH that holds the command. */
export const programsOf = ({ path }: { readonly path: string }): string => join(path, '.programs');

export const environmentOf = ({ path }: Home): Record<string, string> => ({
  PATH: [programsOf({ path }), process.env.PATH ?? ''].join(delimiter),
  HOME: path,
  XDG_CONFIG_HOME: join(path, '.config'),
  XDG_STATE_HOME: join(path, '.local', 'state'),
  XDG_DATA_HOME: join(path, '.local', 'share'),
  XDG_CACHE_HOME: join(path, '.cache'),
  TURNBUCKLE_STATE_DIR: join(path, 'state'),
  LANG: 'C.UTF-8',
});

/** Nothing on stderr, except the progress of slow work, which depends on the machine. */
export const QUIET: string = expect.stringMatching(/^(\p{Lu}.* …\n)*$/u);

/** The running command; for tests that interrupt it. */
export function start(words: readonly string[], { home, cwd, stdin, env }: RunOptions): ChildProcess {
  const child = spawn(process.execPath, [BIN, ...words], {
    cwd: cwd ?? home.project,
    env: { ...environmentOf(home), ...env },
    stdio: 'pipe',
  });
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  return child;
}

export async function turnbuckle(words: readonly string[], options: RunOptions): Promise<Finished> {
  return finished(start(words, options));
}

export async function finished(child: ChildProcess): Promise<Finished> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the child has no pipes');
  const [[code], out, err] = await Promise.all([once(child, 'close'), text(stdout), text(stderr)]);
  return { code: typeof code === 'number' ? code : null, stdout: out, stderr: err };
}

/** The output of a command with --json: one JSON text and nothing else. */
export async function json<T = unknown>(words: readonly string[], options: RunOptions): Promise<T> {
  const { stdout } = await turnbuckle([...words, '--json'], options);
  return JSON.parse(stdout) as T;
}
