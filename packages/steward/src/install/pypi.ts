/** Packages of PyPI run through `uvx`, where it is installed. Pure. */

import { cannotInstall, type KindOptions, type KindPlan } from './install-plan.js';
import type { InstallablePackage } from './installable-record.js';
import { assertNoRuntimeArguments } from './record-inputs.js';
import type { InstallRefusal } from './refusal.js';

/**
 * `uvx` takes everything after the name of the program as arguments of the program. Source packages are not built,
 * because that runs their code.
 */
export function planPypi(
  one: InstallablePackage,
  { inputs, programs }: KindOptions,
): KindPlan | InstallRefusal {
  const { identifier, version = '' } = one;
  if (programs.uvx === undefined)
    return cannotInstall(identifier, 'uvx is not installed', 'Install uv, then try again.');
  assertNoRuntimeArguments(one.runtimeArguments);
  const start = ['--no-config', '--no-build', '--from', `${identifier}==${version}`, identifier];
  return {
    server: {
      type: 'stdio',
      command: programs.uvx,
      args: [start.map((word) => [word]), ...inputs.arguments(one.packageArguments)],
      env: inputs.environment(one.environmentVariables),
    },
    warnings: [
      'only the package version is fixed: uvx downloads the package and its dependencies when the server starts',
    ],
  };
}
