import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Forces a garbage collection: memory in use afterwards is reachable. Slow; not for tests that measure time.
 * V8 frees buffers in the background after a collection, and a second collection waits for the first one to finish.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') return;
  collect();
  collect();
}
