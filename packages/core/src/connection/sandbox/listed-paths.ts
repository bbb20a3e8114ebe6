/** The files and directories that a configuration lists for a sandbox, resolved and checked by their real paths. */
import { realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { SandboxPolicy } from '../../config/schema/sandbox-schema.js';
import { innermostMount } from './ancestor-mounts.js';
import type { HostMount } from './mount.js';
import { contains, toAbsolute } from './paths.js';
import { TURNBUCKLE_FILES } from './protected-files.js';
import { sandboxError } from './sandbox-error.js';

export interface ListedPath extends HostMount {
  readonly isDirectory: boolean;
}

export interface ListingContext {
  readonly server: string;
  /** The server's directory. */
  readonly base: string;
  /** The home directory of the host's user. */
  readonly home: string;
  readonly realHome: string;
  /** Real paths of Turnbuckle's own directories. */
  readonly own: readonly string[];
  /** Real paths of the directories in the host's PATH. */
  readonly programs: readonly string[];
  /** The real path of the packages of installed servers. */
  readonly packages: string;
}

/** CONFIG_INVALID for paths that do not exist and for those that a sandbox must not expose. */
export async function listedPaths(policy: SandboxPolicy, place: ListingContext): Promise<ListedPath[]> {
  const all = await Promise.all(
    (['read', 'write'] as const).flatMap((kind) =>
      policy[kind].map((written) =>
        resolveListed({ kind, written, isExplicit: policy.written.has(kind) }, place),
      ),
    ),
  );
  const found = all.filter((one) => one !== undefined);
  return uniqueTargets(found.map((one) => (isBehindLink(one, found) ? { ...one, target: one.source } : one)));
}

/** Each path once: writable ones come later and are readable too. */
const uniqueTargets = (all: readonly ListedPath[]): ListedPath[] => [
  ...new Map(all.map((one) => [one.target, one])).values(),
];

/** Inside another listed directory the link itself is visible, and must point to the real path. */
function isBehindLink({ source, target }: ListedPath, all: readonly ListedPath[]): boolean {
  const outer = innermostMount(all, target);
  return outer !== undefined && join(outer.source, relative(outer.target, target)) !== source;
}

interface PathRequest {
  readonly kind: 'read' | 'write';
  readonly written: string;
  /** False: it comes from a preset, not from the configuration. */
  readonly isExplicit: boolean;
}

async function resolveListed(
  { kind, written, isExplicit }: PathRequest,
  place: ListingContext,
): Promise<ListedPath | undefined> {
  const { server, base, home } = place;
  const target = toAbsolute(written, { base, home });
  const source = await realpath(target).catch(() => undefined);
  if (source === undefined)
    throw sandboxError(
      server,
      `${target} (sandbox.${kind}) does not exist`,
      'Create this path, or remove it from the list.',
    );
  const reason = refusalReason({ kind, source, target }, place);
  if (reason === undefined && (isExplicit || !isSharedDirectory(source, place)))
    return { kind, source, target, isDirectory: (await stat(source)).isDirectory() };
  // The directory that a server happens to be started in was not chosen to be exposed.
  if (!isExplicit) return undefined;
  throw sandboxError(
    server,
    `${target} (sandbox.${kind}) ${reason}`,
    'List only the directories that the server needs, as specific as possible.',
  );
}

function refusalReason(
  { kind, source, target }: HostMount,
  { realHome, own, programs, packages }: ListingContext,
): string | undefined {
  if (source === '/') return 'is the whole file system';
  if (['/proc', '/dev'].some((place) => contains(place, source) || contains(place, target)))
    return 'is in /proc or /dev, and every sandbox has its own /proc and /dev';
  if (own.some((place) => contains(place, source))) return 'is a directory that Turnbuckle itself uses';
  if (kind === 'read') return undefined;
  if (contains(source, realHome)) return 'is or contains your home directory';
  if ([source, target].some((path) => path.split(sep).some((part) => TURNBUCKLE_FILES.includes(part))))
    return 'is a Turnbuckle configuration file or directory';
  if (programs.some((directory) => contains(directory, source)))
    return 'is a directory in your PATH, or is inside one';
  if (contains(packages, source)) return 'has the packages of installed servers';
  return undefined;
}

/** A directory with files of all users, or all files of one. */
const isSharedDirectory = (source: string, { realHome }: ListingContext): boolean =>
  contains(source, realHome) || source === '/tmp' || source === '/var/tmp';
