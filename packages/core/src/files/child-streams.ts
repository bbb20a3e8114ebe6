/** Processes that were just started: a process that could not be started is an error of its caller, never of the host. */
import type { ChildProcess } from 'node:child_process';
import { Readable, Writable } from 'node:stream';

export interface ChildStreams {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  /** Descriptor 3, if it is a pipe. */
  readonly extra: Writable | undefined;
}

/**
 * The pipes of a child. Call it right after `spawn`: without free descriptors, Node returns a child that has no
 * streams, and emits `error` later, which would end the process if nobody listened by then.
 */
export function childStreams(child: ChildProcess): ChildStreams {
  child.on('error', () => {});
  const [stdin, stdout, stderr, extra]: ReadonlyArray<unknown> = child.stdio ?? [];
  return {
    stdin: stdin instanceof Writable ? stdin : undefined,
    stdout: stdout instanceof Readable ? stdout : undefined,
    stderr: stderr instanceof Readable ? stderr : undefined,
    extra: extra instanceof Writable ? extra : undefined,
  };
}
