/** Runs a program of the host itself, such as a package manager, in a bubblewrap sandbox. */
import { realpath } from 'node:fs/promises';
import { type Mount, sortMounts, toBwrapArguments } from './mount.js';
import { programPaths } from './program.js';
import { findSandboxSupport, isolationArguments } from './sandbox-support.js';
import { isSystemPath, systemMounts } from './system-mounts.js';

export interface ConfinedProgram {
  /** Absolute. */
  readonly program: string;
  readonly args: readonly string[];
  /** Everything that it may write to; absolute directories. */
  readonly write: readonly string[];
  /** What it may read besides the system. */
  readonly read: readonly string[];
  readonly network: boolean;
  readonly directory: string;
  /** The environment of the host: its PATH is searched for bubblewrap. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const TEMPORARY_MB = 256;

/** The command that runs it in a sandbox; undefined if this machine supports none. Its environment is passed on. */
export async function confineProgram(
  options: ConfinedProgram,
): Promise<{ readonly command: string; readonly args: readonly string[] } | undefined> {
  const { program, args, write, read, network, directory, environment } = options;
  const support = await findSandboxSupport({ environment, network });
  if (!support.available) return undefined;
  const needed = await programPaths(program, { path: undefined, directory: undefined });
  const mountAll = (kind: 'read' | 'write', paths: readonly string[]): Promise<Mount[]> =>
    Promise.all(paths.map(async (target) => ({ kind, source: await realpath(target), target })));
  const mounts = sortMounts([
    ...(await systemMounts()),
    { kind: 'private', target: '/tmp', megabytes: TEMPORARY_MB, mode: '1777' },
    ...(await mountAll(
      'read',
      [...needed, ...read].filter((path) => !isSystemPath(path)),
    )),
    ...(await mountAll('write', write)),
  ]);
  return {
    command: support.bwrap,
    args: [
      ...isolationArguments(network),
      ...['--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev', '--remount-ro', '/dev'],
      ...mounts.flatMap(toBwrapArguments),
      ...['--chdir', directory, '--remount-ro', '/', '--', program],
      ...args,
    ],
  };
}
