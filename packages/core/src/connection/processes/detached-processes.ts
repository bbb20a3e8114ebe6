/**
 * Decides which descendants of a server end with it. A daemon started from a shell tool, or an editor that a server
 * opened, inherits the tag by which descendants are found, but is meant to stay: it leads its own session, and none
 * of its standard streams lead back. A helper that was merely detached (a browser controlled over pipes) ends with
 * the server.
 */
import { hasDetachedStreams, type TaggedProcess } from './proc.js';

/** Suffix of a tag: detached processes end too. */
export const END_DETACHED_SUFFIX = '.all';
/** A chain of processes may be as long as a server likes. */
const MAX_ANCESTRY_DEPTH = 1_000;

/** Without detached processes and what they started. Based on the tag alone: a sweep knows no more. */
export function withoutDetached(tagged: readonly TaggedProcess[]): TaggedProcess[] {
  const byPid = new Map(tagged.map((one) => [one.pid, one]));
  const verdicts = new Map<number, boolean>();
  const isLetGo = (one: TaggedProcess | undefined, depth = 0): boolean => {
    if (one === undefined || depth > MAX_ANCESTRY_DEPTH) return false;
    const known = verdicts.get(one.pid);
    if (known !== undefined) return known;
    // Parents may change while they are read; this prevents an endless loop.
    verdicts.set(one.pid, false);
    const { session, parent } = one.facts;
    const verdict =
      (session === one.pid && hasDetachedStreams(one.pid)) ||
      isLetGo(byPid.get(session), depth + 1) ||
      isLetGo(byPid.get(parent), depth + 1);
    verdicts.set(one.pid, verdict);
    return verdict;
  };
  return tagged.filter((one) => one.value.endsWith(END_DETACHED_SUFFIX) || !isLetGo(one));
}
