/** The program of a server in a sandbox: where it is, and what else has to be visible so that it can start. */
import { access, constants, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { openFile } from '../../files/read-file.js';
import { isSystemPath } from './system-mounts.js';

/** What execvp searches without a PATH. */
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';
/** A script's interpreter may be a script itself; this bounds the chain. */
const MAX_INTERPRETER_DEPTH = 3;

export interface ProgramSearch {
  /** The PATH to search. */
  readonly path: string | undefined;
  /** The base of relative paths; undefined: relative directories are not searched. */
  readonly directory: string | undefined;
}

/** The absolute path of an executable file, by the rules of execvp; undefined if there is none. */
export async function findProgram(
  name: string,
  { path, directory }: ProgramSearch,
): Promise<string | undefined> {
  const places = name.includes('/') ? [''] : (path ?? DEFAULT_PATH).split(':');
  for (const place of places) {
    const candidate = join(place, name);
    if (!isAbsolute(candidate) && directory === undefined) continue;
    const file = isAbsolute(candidate) ? candidate : resolve(directory ?? '/', candidate);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/**
 * Files and directories, outside those of the system, that the program needs: itself, its Node.js installation or
 * Python environment, and the same for the interpreter of a script.
 */
export async function programPaths(file: string, place: ProgramSearch): Promise<string[]> {
  const paths: string[] = [];
  let current: string | undefined = file;
  for (let count = 0; current !== undefined && count < MAX_INTERPRETER_DEPTH; count += 1) {
    const real = await realpath(current);
    paths.push(current, real, ...(await installationOf(current)), ...(await installationOf(real)));
    current = await interpreterOf(real, place);
  }
  return [...new Set(paths)].filter((path) => !isSystemPath(path));
}

/** Never the whole prefix of a program: that of `~/.local/bin/x` contains the user's keys. */
async function installationOf(file: string): Promise<string[]> {
  const prefix = dirname(dirname(file));
  if (basename(dirname(file)) !== 'bin') return [];
  if (await exists(join(prefix, 'pyvenv.cfg'))) return [prefix];
  const modules = join(prefix, 'lib', 'node_modules');
  const isNode = (await exists(join(prefix, 'bin', 'node'))) && (await exists(modules));
  return isNode ? [join(prefix, 'bin'), modules] : [];
}

async function interpreterOf(file: string, place: ProgramSearch): Promise<string | undefined> {
  const line = await firstLine(file);
  const [program = '', argument = ''] = /^#!\s*(\S+)(?:\s+(.*\S))?/.exec(line)?.slice(1) ?? [];
  if (basename(program) !== 'env') return program === '' ? undefined : findProgram(program, place);
  const name = argument.split(/\s+/).find((word) => !word.startsWith('-') && !word.includes('='));
  return name === undefined ? undefined : findProgram(name, place);
}

async function firstLine(file: string): Promise<string> {
  const handle = await openFile(file).catch(() => undefined);
  try {
    const { buffer, bytesRead } = (await handle?.read(Buffer.alloc(256), 0, 256, 0)) ?? {
      buffer: Buffer.alloc(0),
      bytesRead: 0,
    };
    const [line = ''] = buffer.toString('latin1', 0, bytesRead).split('\n');
    return line;
  } finally {
    await handle?.close();
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
