/** The home directory of a server in a sandbox: never the user's. */
import { createHash } from 'node:crypto';
import { lstat, mkdir, realpath, unlink } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { SandboxPolicy } from '../../config/schema/sandbox-schema.js';
import type { StdioServer } from '../../config/schema/schema.js';
import type { Mount } from './mount.js';
import { contains, directoriesBetween } from './paths.js';
import { sandboxError } from './sandbox-error.js';

const EMPTY_HOME_MB = 256;

interface HomeOptions {
  readonly server: string;
  /** The agent whose credentials the process has; absent: those of the server. */
  readonly agent?: string | undefined;
  readonly config: StdioServer;
  readonly policy: SandboxPolicy;
  readonly env: Readonly<Record<string, string>>;
  readonly stateDir: string;
}

/** At the path in its variable HOME; undefined if there is none. */
export async function homeMount(options: HomeOptions): Promise<Mount | undefined> {
  const { server, agent, config, policy, env, stateDir } = options;
  const { HOME } = env;
  if (HOME === undefined || !isAbsolute(HOME) || resolve(HOME) === '/') return undefined;
  const target = resolve(HOME);
  if (policy.home === 'empty') return { kind: 'private', target, megabytes: EMPTY_HOME_MB, mode: '0700' };
  // Not by name alone: a server of the same name in another project is a different server.
  const program = [server, config.scope, config.command, config.cwd ?? null];
  // A server may store its login there.
  const whose = JSON.stringify(agent === undefined ? program : [...program, agent]);
  const source = join(stateDir, 'sandbox', createHash('sha256').update(whose).digest('hex').slice(0, 24));
  await mkdir(source, { recursive: true, mode: 0o700 }).catch(() => {
    throw sandboxError(
      server,
      `the home directory ${source} cannot be created`,
      'Make the directory writable for the host, or set "home" to "empty".',
    );
  });
  return { kind: 'home', source: await realpath(source), target };
}

/** Links that the server left in its home would redirect what is mounted there. */
export async function removeBlockingLinks(home: Mount | undefined, mounts: readonly Mount[]): Promise<void> {
  if (home?.kind !== 'home') return;
  const ways = mounts
    .filter(({ target }) => target !== home.target && contains(home.target, target))
    .flatMap(({ target }) => [...directoriesBetween(home.target, target), target]);
  for (const path of ways) {
    const own = join(home.source, relative(home.target, path));
    const facts = await lstat(own).catch(() => undefined);
    if (facts?.isSymbolicLink()) await unlink(own);
  }
}
