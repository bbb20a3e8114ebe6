/**
 * Runs a local server in a bubblewrap sandbox: bubblewrap is started, within limits set by prlimit, and starts the
 * server. Its arguments and the server's environment are passed through a descriptor, not on its command line, so
 * that no process list shows them; and its own environment is empty, so that variables of the server (LD_PRELOAD)
 * take effect only inside.
 */
import { TurnbuckleError } from '../../errors.js';
import { toBwrapArguments } from './mount.js';
import { type PlanOptions, planSandbox, type SandboxPlan } from './plan.js';
import { sandboxError } from './sandbox-error.js';
import { type SandboxStatus, toSandboxStatus } from './sandbox-status.js';
import { canLimitProcesses, findSandboxSupport, isolationArguments } from './sandbox-support.js';

export interface SandboxedCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** What the started program reads from descriptor 3, for the given environment of the server. */
  readonly toPreamble: (env: Readonly<Record<string, string>>) => string;
  readonly status: SandboxStatus;
}

const SHARED_MEMORY_MB = 64;

/** Rejects with SANDBOX_UNAVAILABLE, CONFIG_INVALID or COMMAND_NOT_FOUND. */
export async function confine(options: Omit<PlanOptions, 'tools'>): Promise<SandboxedCommand> {
  const { server, config, policy, env, environment } = options;
  const { network, memoryMb, cpuSeconds } = policy;
  const support = await findSandboxSupport({ environment, network });
  if (!support.available)
    throw sandboxUnavailable(
      server,
      support.reason,
      `${support.hint}, or remove "sandbox" from the server's configuration.`,
    );
  const { bwrap, prlimit } = support;
  const counts = canLimitProcesses();
  if (!counts && policy.written.has('processes')) throw processLimitUnavailable(server);
  const plan = await planSandbox({ ...options, tools: counts ? [prlimit] : [] });
  const fixed = bwrapArguments(plan, network);
  assertNoNul(server, [...fixed, ...Object.entries(env).flat()]);
  const outer = [
    '--core=0',
    `--data=${memoryMb * 1_048_576}`,
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}`]),
  ];
  // Counted inside: outside, all other processes of the user would count too.
  const inner = counts ? [prlimit, `--nproc=${policy.processes}`, '--'] : [];
  const paths = (kind: 'read' | 'write'): string[] =>
    plan.listed.filter((one) => one.kind === kind).map(({ target }) => target);
  return {
    command: prlimit,
    args: [...outer, '--', bwrap, '--args', '3', '--', ...inner, plan.program, ...config.args],
    cwd: '/',
    toPreamble: (all) =>
      [...fixed, ...Object.entries(all).flatMap(([name, value]) => ['--setenv', name, value]), ''].join('\0'),
    status: toSandboxStatus(policy, {
      inForce: true,
      read: paths('read'),
      write: paths('write'),
      processes: counts ? policy.processes : undefined,
    }),
  };
}

function bwrapArguments({ mounts, directory }: SandboxPlan, network: boolean): string[] {
  const shared = ['--size', String(SHARED_MEMORY_MB << 20), '--tmpfs', '/dev/shm'];
  return [
    ...isolationArguments(network),
    // For a host that runs as root, kernel settings would be writable files.
    ...['--proc', '/proc', '--remount-ro', '/proc'],
    ...['--dev', '/dev', ...shared, '--remount-ro', '/dev'],
    ...mounts.flatMap(toBwrapArguments),
    ...['--dir', directory, '--chdir', directory, '--remount-ro', '/'],
  ];
}

/** bubblewrap reads NUL-separated arguments: a NUL inside a value would start another argument. */
function assertNoNul(server: string, texts: readonly string[]): void {
  if (texts.some((text) => text.includes('\0')))
    throw sandboxError(
      server,
      'a path or an environment variable contains a NUL character',
      'Remove the NUL character.',
    );
}

function sandboxUnavailable(server: string, reason: string, hint: string): TurnbuckleError {
  return new TurnbuckleError(
    'SANDBOX_UNAVAILABLE',
    `Cannot start server "${server}" in a sandbox because ${reason}.`,
    { server, hint, data: { reason } },
  );
}

const processLimitUnavailable = (server: string): TurnbuckleError =>
  sandboxUnavailable(
    server,
    'this machine cannot limit the number of processes (this requires Linux 5.14 or newer, and a user other than root)',
    `Run the host as a user other than root, or remove "processes" from the server's sandbox settings.`,
  );
