/**
 * Open files that this process inherited and that its children would inherit too: Node.js marks most of them as
 * close-on-exec, but stops at the first gap above 15.
 */
import { readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;
/** The stdio list for a spawn is as long as the highest number. */
const MAX_DESCRIPTOR = 65_536;

let cached: readonly number[] | undefined;

/** Their numbers, from 3. Determined once: files opened later are never inherited. */
export function inheritedDescriptors(): readonly number[] {
  cached ??= findInherited();
  return cached;
}

function findInherited(): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((number) => number > 2 && number < MAX_DESCRIPTOR && isInherited(number));
}

function isInherited(descriptor: number): boolean {
  try {
    const [, flags = ''] =
      /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')) ?? [];
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false; // closed meanwhile, such as the one that listed them
  }
}
