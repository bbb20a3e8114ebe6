import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

/** Name of the environment variable that marks the processes a test or an example starts. */
export const MARK = 'TURNBUCKLE_MARK';

/** False if the system does not show the environment of processes; `markedProcesses` then finds none. */
export const canSeeProcesses = existsSync('/proc/self/environ');

/**
 * The ids of processes, including descendants, whose environment contains `MARK=mark`.
 * @param {string} mark
 * @returns {Promise<number[]>}
 */
export async function markedProcesses(mark) {
  if (!canSeeProcesses) return [];
  const ids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const found = await Promise.all(ids.map(async (id) => ((await isMarked(id, mark)) ? [Number(id)] : [])));
  return found.flat();
}

/**
 * False for a process that has ended meanwhile or belongs to another user. A zombie has no environment.
 * @param {string} id
 * @param {string} mark
 */
async function isMarked(id, mark) {
  try {
    const environment = await readFile(`/proc/${id}/environ`, 'utf8');
    return environment.split('\0').includes(`${MARK}=${mark}`);
  } catch {
    return false;
  }
}
