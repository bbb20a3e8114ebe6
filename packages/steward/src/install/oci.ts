/** Container images run by docker or podman, where one is installed; always by digest. The plan is pure. */
import { parseImageName } from './identifiers.js';
import { cannotInstall, type KindOptions, type KindPlan } from './install-plan.js';
import type { InstallablePackage } from './installable-record.js';
import { assertNoRuntimeArguments } from './record-inputs.js';
import type { InstallRefusal } from './refusal.js';
import { runProgram } from './run-program.js';

export function planOci(one: InstallablePackage, options: KindOptions): KindPlan | InstallRefusal {
  const { inputs, programs, facts } = options;
  const { identifier } = one;
  const engine = programs.docker ?? programs.podman;
  if (engine === undefined)
    return cannotInstall(
      identifier,
      'neither docker nor podman is installed',
      'Install docker or podman, then try again.',
    );
  const image = parseImageName(identifier, one.version);
  const digest = image?.digest ?? facts?.integrity;
  if (image === undefined || digest === undefined)
    return cannotInstall(
      identifier,
      'the digest of the image is unknown',
      'Check that its registry can be reached, then try again.',
    );
  assertNoRuntimeArguments(one.runtimeArguments);
  const env = inputs.environment(one.environmentVariables);
  // Names only: values would be visible in the list of processes.
  const variables = Object.keys(env).flatMap((name) => ['--env', name]);
  const start = ['run', '--interactive', '--rm', '--security-opt', 'no-new-privileges', ...variables];
  const reference = `${image.registry}/${image.repository}@${digest}`;
  return {
    ...(image.tag === undefined && { version: digest }),
    server: {
      type: 'stdio',
      command: engine,
      args: [[...start, '--', reference].map((word) => [word]), ...inputs.arguments(one.packageArguments)],
      env,
    },
  };
}

const PULL_MS = 10 * 60_000;

/** Downloads the image, so that the server starts in time. */
export async function pullImage(
  { engine, reference }: { readonly engine: string; readonly reference: string },
  {
    signal,
    environment,
  }: { readonly signal: AbortSignal; readonly environment: Readonly<Record<string, string>> },
): Promise<void> {
  await runProgram({
    command: engine,
    args: ['pull', '--quiet', '--', reference],
    env: environment,
    cwd: '/',
    timeoutMs: PULL_MS,
    signal,
    what: `Downloading the image ${reference}`,
    hint: 'Check that the container engine is running and can reach the image registry.',
  });
}
