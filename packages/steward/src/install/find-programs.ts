/** Which programs of this machine can run or install servers, by absolute path. */
import { findProgram } from 'turnbuckle/host';
import type { MachinePrograms } from './install-plan.js';
import { findNpm } from './npm/find-npm.js';

export async function findPrograms(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<MachinePrograms> {
  const search = { path: environment.PATH, directory: undefined };
  const [npm, uvx, docker, podman] = await Promise.all([
    findNpm(environment),
    ...['uvx', 'docker', 'podman'].map((name) => findProgram(name, search)),
  ]);
  return { node: process.execPath, npm, uvx, docker, podman };
}
