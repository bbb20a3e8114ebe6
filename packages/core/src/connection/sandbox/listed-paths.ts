/** The files and directories that a configuration lists for a sandbox, found and judged by where they really are. */
import { realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { SandboxPolicy } from '../../config/sandbox-schema.js';
import { sandboxFault } from './fault.js';
import { OWN_NAMES } from './guards.js';
import type { Shown } from './mount.js';
import { contains, toAbsolute } from './paths.js';
import { innermost } from './pins.js';

export interface Listed extends Shown {
  readonly isDirectory: boolean;
}

export interface ListingPlace {
  readonly server: string;
  /** The server's directory. */
  readonly base: string;
  /** The home directory of the host's user. */
  readonly home: string;
  readonly realHome: string;
  /** Real paths of what is Turnbuckle's own. */
  readonly own: readonly string[];
  /** Real paths of the directories in which the host looks for programs. */
  readonly programs: readonly string[];
}

/** CONFIG_INVALID for what does not exist and for what no sandbox can give away. */
export async function listedPaths(policy: SandboxPolicy, place: ListingPlace): Promise<Listed[]> {
  const all = await Promise.all(
    (['read', 'write'] as const).flatMap((kind) =>
      policy[kind].map((written) => find({ kind, written, asked: policy.written.has(kind) }, place)),
    ),
  );
  const found = all.filter((one) => one !== undefined);
  return once(found.map((one) => (isBehindLink(one, found) ? { ...one, target: one.source } : one)));
}

/** Each place is there once: what may be written, which comes later, may be read. */
const once = (all: readonly Listed[]): Listed[] => [...new Map(all.map((one) => [one.target, one])).values()];

/** Inside another listed directory the link itself is there, and has to lead to where this really is. */
function isBehindLink({ source, target }: Listed, all: readonly Listed[]): boolean {
  const outer = innermost(all, target);
  return outer !== undefined && join(outer.source, relative(outer.target, target)) !== source;
}

interface Wish {
  readonly kind: 'read' | 'write';
  readonly written: string;
  /** False: nobody wrote it, it comes from a preset. */
  readonly asked: boolean;
}

async function find({ kind, written, asked }: Wish, place: ListingPlace): Promise<Listed | undefined> {
  const { server, base, home } = place;
  const target = toAbsolute(written, { base, home });
  const source = await realpath(target).catch(() => undefined);
  if (source === undefined)
    throw sandboxFault(server, `${target} (sandbox.${kind}) does not exist`, 'Make it, or take it out.');
  const reason = refusal({ kind, source, target }, place);
  if (reason === undefined && (asked || !isCrowded(source, place)))
    return { kind, source, target, isDirectory: (await stat(source)).isDirectory() };
  // The directory that a server happens to be started in was not chosen to be shown.
  if (!asked) return undefined;
  throw sandboxFault(
    server,
    `${target} (sandbox.${kind}) ${reason}`,
    'List the directories that it needs, as few and as deep as possible.',
  );
}

function refusal(
  { kind, source, target }: Shown,
  { realHome, own, programs }: ListingPlace,
): string | undefined {
  if (source === '/') return 'is the whole file system';
  if (['/proc', '/dev'].some((place) => contains(place, source) || contains(place, target)))
    return 'is of the kernel, and every sandbox has its own';
  if (own.some((place) => contains(place, source))) return 'is where Turnbuckle keeps its own';
  if (kind === 'read') return undefined;
  if (contains(source, realHome)) return 'is or holds your home directory';
  if ([source, target].some((path) => path.split(sep).some((part) => OWN_NAMES.includes(part))))
    return 'is configuration of Turnbuckle';
  if (programs.some((directory) => contains(directory, source))) return 'is where your programs are';
  return undefined;
}

/** A directory that holds everybody's or all of somebody's files. */
const isCrowded = (source: string, { realHome }: ListingPlace): boolean =>
  contains(source, realHome) || source === '/tmp' || source === '/var/tmp';
