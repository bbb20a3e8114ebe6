/**
 * From what a server's configuration allows to the mounts that give it exactly that. Everything is decided on real
 * paths, and what cannot be given as asked for is an error, never less protection.
 */
import { realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { homeDirectory } from '../../config/home-directory.js';
import { factsOf } from '../../config/read-file.js';
import type { SandboxPolicy } from '../../config/sandbox-schema.js';
import type { StdioServer } from '../../config/schema.js';
import { commandNotFound } from '../command-not-found.js';
import { sandboxFault } from './fault.js';
import { guardMounts, UnguardableLink } from './guards.js';
import { clearWay, homeMount } from './home.js';
import { type Listed, listedPaths } from './listed.js';
import { inOrder, isVisible, type Mount } from './mount.js';
import { hideOwnPlaces, ownPlaces } from './own-places.js';
import { pathGuards, programDirectories } from './path-guards.js';
import { contains } from './paths.js';
import { pinMounts } from './pins.js';
import { findProgram, programPaths } from './program.js';
import { systemMounts } from './system.js';

/** In memory, so not for much. */
const TEMPORARY_MB = 256;

export interface PlanOptions {
  readonly server: string;
  readonly config: StdioServer;
  readonly policy: SandboxPolicy;
  /** The environment of the server. */
  readonly env: Readonly<Record<string, string>>;
  /** The environment of the host. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
  /** Programs that are run inside beside the server. */
  readonly tools: readonly string[];
}

export interface SandboxPlan {
  /** The program of the server. */
  readonly program: string;
  /** The working directory: in the sandbox too, though there may be nothing in it. */
  readonly directory: string;
  readonly mounts: readonly Mount[];
  readonly listed: readonly Listed[];
}

/** Rejects with CONFIG_INVALID or COMMAND_NOT_FOUND. Makes directories of our own and guarded entries, starts nothing. */
export async function planSandbox(options: PlanOptions): Promise<SandboxPlan> {
  const { server, config, policy, env, environment } = options;
  const base = resolve(config.cwd ?? process.cwd());
  if (!(await isDirectory(base)))
    throw sandboxFault(server, `its working directory ${base} does not exist`, 'Make it, or change "cwd".');
  const home = homeDirectory(environment);
  const own = await ownPlaces({ ...options, home });
  const programs = programDirectories(environment.PATH);
  const listed = await listedPaths(policy, {
    server,
    base,
    home,
    realHome: await realOr(home),
    own,
    programs: await Promise.all(programs.map(realOr)),
  });
  const program = await requireProgram(options, base);
  const privateHome = await homeMount(options);
  const inside = [
    ...(await guards(server, listed, programs)),
    ...listed.map(({ kind, source, target }): Mount => ({ kind, source, target })),
    ...hideOwnPlaces(listed, own),
  ];
  const mounts = inOrder([
    ...(await systemMounts()),
    ...(await programMounts([program, ...options.tools], { ...options, base, listed })),
    ...temporaryMounts(env, listed),
    ...(privateHome === undefined ? [] : [privateHome]),
    ...pinMounts(listed, inside),
    ...inside,
  ]);
  await requireArguments(options, { base, mounts });
  await clearWay(privateHome, mounts);
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
  { env, base, listed }: PlanOptions & { base: string; listed: readonly Listed[] },
): Promise<Mount[]> {
  const place = { path: env.PATH, directory: base };
  const paths = (await Promise.all(programs.map((program) => programPaths(program, place)))).flat();
  // Mounted once more inside what shows it, a link would be in the way.
  const isShown = (path: string): boolean =>
    paths.some((other) => other !== path && contains(other, path)) ||
    listed.some(({ target }) => contains(target, path));
  return [...new Set(paths)]
    .filter((path) => !isShown(path))
    .map((path) => ({ kind: 'read', source: path, target: path }));
}

function temporaryMounts(env: PlanOptions['env'], listed: readonly Listed[]): Mount[] {
  const { TMPDIR } = env;
  const other =
    TMPDIR !== undefined && isAbsolute(TMPDIR) && resolve(TMPDIR) !== '/' ? [resolve(TMPDIR)] : [];
  return ['/tmp', ...other]
    .filter((place) => !listed.some(({ target }) => contains(target, place)))
    .map((target) => ({ kind: 'private', target, megabytes: TEMPORARY_MB, mode: '1777' }));
}

async function guards(
  server: string,
  listed: readonly Listed[],
  programs: readonly string[],
): Promise<Mount[]> {
  const mounts: Mount[] = [];
  for (const one of listed) {
    if (one.kind === 'read' || !one.isDirectory) continue;
    for (const found of [await guardMounts(one), await pathGuards(one, programs)]) {
      if (found instanceof UnguardableLink)
        throw sandboxFault(
          server,
          `${found.path} is or lies behind a symbolic link, which cannot be kept from being replaced`,
          `List directories below ${one.target} in "write" instead.`,
        );
      mounts.push(...found);
    }
  }
  return mounts;
}

/** A path among the arguments that the server would not find: better said now than by the server. */
async function requireArguments(
  { server, config, policy }: PlanOptions,
  { base, mounts }: { base: string; mounts: readonly Mount[] },
): Promise<void> {
  const paths = config.args.filter((arg) => arg.includes('/')).map((arg) => resolve(base, arg));
  const unseen = paths.filter((path) => !isVisible(path, mounts));
  const facts = await Promise.all(unseen.map(factsOf));
  const hidden = unseen.find((_, index) => facts[index] !== undefined);
  if (hidden === undefined) return;
  throw sandboxFault(
    server,
    `${hidden}, which is among its arguments, would not be visible in it`,
    `Add ${hidden} or a directory above it, such as ${dirname(hidden)}, to "read" or "write"` +
      ` (preset "${policy.preset}").`,
  );
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );

const realOr = (path: string): Promise<string> => realpath(path).catch(() => path);
