/** The home directory of a server in a sandbox: never the user's. */
import { createHash } from 'node:crypto';
import { lstat, mkdir, realpath, unlink } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { SandboxPolicy } from '../../config/sandbox-schema.js';
import type { StdioServer } from '../../config/schema.js';
import { sandboxFault } from './fault.js';
import type { Mount } from './mount.js';
import { between, contains } from './paths.js';

const EMPTY_MB = 256;

interface HomeOptions {
  readonly server: string;
  readonly config: StdioServer;
  readonly policy: SandboxPolicy;
  readonly env: Readonly<Record<string, string>>;
  readonly stateDir: string;
}

/** At the place that its variable HOME names; undefined when it names none. */
export async function homeMount(options: HomeOptions): Promise<Mount | undefined> {
  const { server, config, policy, env, stateDir } = options;
  const { HOME } = env;
  if (HOME === undefined || !isAbsolute(HOME) || resolve(HOME) === '/') return undefined;
  const target = resolve(HOME);
  if (policy.home === 'empty') return { kind: 'private', target, megabytes: EMPTY_MB, mode: '0700' };
  // Not by the name alone: the server of that name in another project is another server.
  const whose = JSON.stringify([server, config.scope, config.command, config.cwd ?? null]);
  const source = join(stateDir, 'sandbox', createHash('sha256').update(whose).digest('hex').slice(0, 24));
  await mkdir(source, { recursive: true, mode: 0o700 }).catch(() => {
    throw sandboxFault(
      server,
      `there can be no home for it at ${source}`,
      'Let the host write there, or set "home" to "empty".',
    );
  });
  return { kind: 'home', source: await realpath(source), target };
}

/** Links that the server left in its home would lead what is mounted there somewhere else. */
export async function clearWay(home: Mount | undefined, mounts: readonly Mount[]): Promise<void> {
  if (home?.kind !== 'home') return;
  const ways = mounts
    .filter(({ target }) => target !== home.target && contains(home.target, target))
    .flatMap(({ target }) => [...between(home.target, target), target]);
  for (const path of ways) {
    const own = join(home.source, relative(home.target, path));
    const facts = await lstat(own).catch(() => undefined);
    if (facts?.isSymbolicLink()) await unlink(own);
  }
}
