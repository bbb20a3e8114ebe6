/**
 * Which descendants of a server end with it. A daemon that was started from a shell tool, or an editor that a server
 * opened, inherits the tag by which descendants are found, and is meant to stay: it leads a session of its own and
 * nothing of its standard streams leads back. A helper that was merely detached (a browser that is talked to over
 * pipes) has not been let go of.
 */
import { hasLetGoOfStreams, type Tagged } from './proc.js';

/** At the end of a tag: what was let go of ends, too. */
export const END_ALL = '.all';
/** A chain of processes may be as long as a server likes. */
const MAX_DEPTH = 1_000;

/** Without those that were let go of, and what these started. Of the tag alone: whoever sweeps knows no more. */
export function endingWithServer(tagged: readonly Tagged[]): Tagged[] {
  const byPid = new Map(tagged.map((one) => [one.pid, one]));
  const verdicts = new Map<number, boolean>();
  const isLetGo = (one: Tagged | undefined, depth = 0): boolean => {
    if (one === undefined || depth > MAX_DEPTH) return false;
    const known = verdicts.get(one.pid);
    if (known !== undefined) return known;
    // Whatever is told of parents while they change is no ring.
    verdicts.set(one.pid, false);
    const { session, parent } = one.facts;
    const verdict =
      (session === one.pid && hasLetGoOfStreams(one.pid)) ||
      isLetGo(byPid.get(session), depth + 1) ||
      isLetGo(byPid.get(parent), depth + 1);
    verdicts.set(one.pid, verdict);
    return verdict;
  };
  return tagged.filter((one) => one.value.endsWith(END_ALL) || !isLetGo(one));
}
