/**
 * Which process left a file behind, and what has become of it. A pid alone does not say: the system gives it
 * to others later, and a container counts its own.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import * as z from 'zod/mini';

export const ProcessIdentity = z.object({
  pid: z.int().check(z.positive()),
  /** When it started, in the system's own count; empty where the system does not tell. */
  start: z.string(),
  /** Within which its pid means something: one boot of one machine or container. */
  space: z.string(),
  /** When it said so. */
  since: z.iso.datetime(),
});

export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

/** `elsewhere`: of another machine or container, where nobody here can look. */
export type Fate = 'alive' | 'gone' | 'elsewhere';

export function ownIdentity(): ProcessIdentity {
  const { pid } = process;
  return { pid, start: statOf(pid)?.start ?? '', space: ownSpace(), since: new Date().toISOString() };
}

export function fateOf({ pid, start, space, since }: ProcessIdentity): Fate {
  if (space !== ownSpace()) return 'elsewhere';
  if (!hasProcess(pid)) return 'gone';
  const stat = statOf(pid);
  if (stat !== undefined) return stat.dead || (start !== '' && stat.start !== start) ? 'gone' : 'alive';
  // Without the system's word for its start: what was said before the machine started is of another process.
  return Date.parse(since) < Date.now() - uptime() * 1_000 ? 'gone' : 'alive';
}

/** The `code` of a system error, if it is one. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Anything else, such as EPERM, says that there is one.
    return errorCode(error) !== 'ESRCH';
  }
}

/** Linux only. The name of the program may hold anything, so fields are counted from its closing bracket. */
function statOf(pid: number): { readonly start: string; readonly dead: boolean } | undefined {
  const text = textOf(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  if (text === '') return undefined;
  const [state = '', ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { start: rest[18] ?? '', dead: state === 'Z' || state === 'X' };
}

let space: string | undefined;

function ownSpace(): string {
  space ??= createHash('sha256')
    .update(textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')) || hostname())
    .update(textOf(() => readlinkSync('/proc/self/ns/pid')))
    .digest('hex')
    .slice(0, 16);
  return space;
}

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
