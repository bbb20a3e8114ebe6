/**
 * Turns the configuration of a sandbox into mounts that grant exactly that. Everything is decided on real paths, and
 * what cannot be granted as requested is an error, never less protection.
 */
import { realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { SandboxPolicy } from '../../config/schema/sandbox-schema.js';
import type { StdioServer } from '../../config/schema/schema.js';
import { homeDirectory } from '../../files/home-directory.js';
import { statOrUndefined } from '../../files/read-file.js';
import { packageRootOf } from '../../files/state-directory.js';
import { commandNotFound } from '../processes/command-not-found.js';
import { ancestorMounts } from './ancestor-mounts.js';
import { homeMount, removeBlockingLinks } from './home.js';
import { type ListedPath, listedPaths } from './listed-paths.js';
import { isVisible, type Mount, sortMounts } from './mount.js';
import { hideOwnDirectories, ownDirectories } from './own-directories.js';
import { contains } from './paths.js';
import { findProgram, programPaths } from './program.js';
import { programDirectories, programDirectoryMounts } from './program-directories.js';
import { protectedFileMounts, UnprotectableLink } from './protected-files.js';
import { sandboxError } from './sandbox-error.js';
import { systemMounts } from './system-mounts.js';

/** In memory, so not much. */
const TEMPORARY_DIRECTORY_MB = 256;

export interface PlanOptions {
  readonly server: string;
  readonly agent?: string | undefined;
  readonly config: StdioServer;
  readonly policy: SandboxPolicy;
  /** The environment of the server. */
  readonly env: Readonly<Record<string, string>>;
  /** The environment of the host. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
  /** Programs that run inside in addition to the server. */
  readonly tools: readonly string[];
}

export interface SandboxPlan {
  /** The program of the server. */
  readonly program: string;
  /** The working directory: in the sandbox too, though it may be empty. */
  readonly directory: string;
  readonly mounts: readonly Mount[];
  readonly listed: readonly ListedPath[];
}

/** Rejects with CONFIG_INVALID or COMMAND_NOT_FOUND. Creates own directories and protected entries, starts nothing. */
export async function planSandbox(options: PlanOptions): Promise<SandboxPlan> {
  const { server, config, policy, env, environment } = options;
  const base = resolve(config.cwd ?? process.cwd());
  if (!(await isDirectory(base)))
    throw sandboxError(
      server,
      `the working directory ${base} does not exist`,
      'Create the directory, or change "cwd".',
    );
  const home = homeDirectory(environment);
  const own = await ownDirectories({ ...options, home });
  const programs = programDirectories(environment.PATH);
  const packages = packageRootOf(resolve(options.stateDir));
  const listed = await listedPaths(policy, {
    server,
    base,
    home,
    realHome: await realPathOrSame(home),
    own,
    programs: await Promise.all(programs.map(realPathOrSame)),
    packages: await realPathOrSame(packages),
  });
  const program = await requireProgram(options, base);
  const privateHome = await homeMount(options);
  const inside = [
    ...(await protectionMounts(server, listed, [...programs, packages])),
    ...listed.map(({ kind, source, target }): Mount => ({ kind, source, target })),
    ...hideOwnDirectories(listed, own),
  ];
  const mounts = sortMounts([
    ...(await systemMounts()),
    ...(await programMounts([program, ...options.tools], { ...options, base, listed })),
    ...temporaryMounts(env, listed),
    ...(privateHome === undefined ? [] : [privateHome]),
    ...ancestorMounts(listed, inside),
    ...inside,
  ]);
  await requireArguments(options, { base, mounts });
  await removeBlockingLinks(privateHome, mounts);
  return { program, listed, mounts, directory: base };
}

async function requireProgram({ server, config, env }: PlanOptions, directory: string): Promise<string> {
  const { command } = config;
  const program = await findProgram(command, { path: env.PATH, directory });
  if (program !== undefined) return program;
  throw await commandNotFound({ server, command, directory, what: 'was not found' });
}

async function programMounts(
  programs: readonly string[],
  { env, base, listed }: PlanOptions & { base: string; listed: readonly ListedPath[] },
): Promise<Mount[]> {
  const place = { path: env.PATH, directory: base };
  const paths = (await Promise.all(programs.map((program) => programPaths(program, place)))).flat();
  // When mounted again inside a mount that exposes it, a link would be in the way.
  const isShown = (path: string): boolean =>
    paths.some((other) => other !== path && contains(other, path)) ||
    listed.some(({ target }) => contains(target, path));
  return [...new Set(paths)]
    .filter((path) => !isShown(path))
    .map((path) => ({ kind: 'read', source: path, target: path }));
}

function temporaryMounts(env: PlanOptions['env'], listed: readonly ListedPath[]): Mount[] {
  const { TMPDIR } = env;
  const other =
    TMPDIR !== undefined && isAbsolute(TMPDIR) && resolve(TMPDIR) !== '/' ? [resolve(TMPDIR)] : [];
  return ['/tmp', ...other]
    .filter((place) => !listed.some(({ target }) => contains(target, place)))
    .map((target) => ({ kind: 'private', target, megabytes: TEMPORARY_DIRECTORY_MB, mode: '1777' }));
}

async function protectionMounts(
  server: string,
  listed: readonly ListedPath[],
  programs: readonly string[],
): Promise<Mount[]> {
  const mounts: Mount[] = [];
  for (const one of listed) {
    if (one.kind === 'read' || !one.isDirectory) continue;
    for (const found of [await protectedFileMounts(one), await programDirectoryMounts(one, programs)]) {
      if (found instanceof UnprotectableLink)
        throw sandboxError(
          server,
          `the server could replace the symbolic link at or above ${found.path}, which must stay protected`,
          `List directories below ${one.target} in "write" instead.`,
        );
      mounts.push(...found);
    }
  }
  return mounts;
}

/** A path argument that the server would not find: better reported now than by the server. */
async function requireArguments(
  { server, config, policy }: PlanOptions,
  { base, mounts }: { base: string; mounts: readonly Mount[] },
): Promise<void> {
  const paths = config.args.filter((arg) => arg.includes('/')).map((arg) => resolve(base, arg));
  const unseen = paths.filter((path) => !isVisible(path, mounts));
  const facts = await Promise.all(unseen.map(statOrUndefined));
  const hidden = unseen.find((_, index) => facts[index] !== undefined);
  if (hidden === undefined) return;
  throw sandboxError(
    server,
    `the argument ${hidden} is not visible in the sandbox`,
    `Add ${hidden} or one of its parent directories, such as ${dirname(hidden)}, to "read" or "write"` +
      ` (the sandbox uses the preset "${policy.preset}").`,
  );
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );

const realPathOrSame = (path: string): Promise<string> => realpath(path).catch(() => path);
