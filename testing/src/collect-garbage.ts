import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Takes away what nobody holds: what is in use afterwards is held. Takes long; not for tests that measure time. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
}
