/**
 * Open files that this process got from whoever started it and that its children would get, too: Node.js marks most of
 * them as not to be passed on, but stops looking at the first gap above 15.
 */
import { readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;
/** The list for a spawn is as long as the highest number. */
const MOST = 65_536;

let known: readonly number[] | undefined;

/** Their numbers, 3 and up. Looked up once: what is opened later is never passed on. */
export function strayDescriptors(): readonly number[] {
  known ??= lookUp();
  return known;
}

function lookUp(): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((number) => number > 2 && number < MOST && isPassedOn(number));
}

function isPassedOn(descriptor: number): boolean {
  try {
    const [, flags = ''] =
      /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')) ?? [];
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false; // closed meanwhile, such as the one that listed them
  }
}
