/**
 * Puts a local server into a sandbox of bubblewrap: what is started is bubblewrap, inside limits set by prlimit, and it
 * starts the server. Its arguments and the server's environment come through a descriptor, not on its command line, so
 * that they are in no process list; and its own environment is empty, so that what a server brings along (LD_PRELOAD)
 * takes effect inside only.
 */
import { TurnbuckleError } from '../../errors.js';
import { sandboxFault } from './fault.js';
import { toArguments } from './mount.js';
import { type PlanOptions, planSandbox, type SandboxPlan } from './plan.js';
import { type SandboxStatus, toStatus } from './status.js';
import { canLimitProcesses, findSandboxSupport, isolationArguments } from './support.js';

export interface Confinement {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** What the started program reads from descriptor 3, for the environment that the server is to have. */
  readonly toPreamble: (env: Readonly<Record<string, string>>) => string;
  readonly status: SandboxStatus;
}

const SHARED_MEMORY_MB = 64;

/** Rejects with SANDBOX_UNAVAILABLE, CONFIG_INVALID or COMMAND_NOT_FOUND. */
export async function confine(options: Omit<PlanOptions, 'tools'>): Promise<Confinement> {
  const { server, config, policy, env, environment } = options;
  const { network, memoryMb, cpuSeconds } = policy;
  const support = await findSandboxSupport({ environment, network });
  if (!support.available)
    throw unavailable(server, support.reason, `${support.hint}, or take "sandbox" out of its configuration.`);
  const { bwrap, prlimit } = support;
  const counts = canLimitProcesses();
  if (!counts && policy.written.has('processes')) throw uncountable(server);
  const plan = await planSandbox({ ...options, tools: counts ? [prlimit] : [] });
  const fixed = bwrapArguments(plan, network);
  assertWhole(server, [...fixed, ...Object.entries(env).flat()]);
  const outer = [
    '--core=0',
    `--data=${memoryMb * 1_048_576}`,
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}`]),
  ];
  // Counted inside: outside, all other processes of the user would count, too.
  const inner = counts ? [prlimit, `--nproc=${policy.processes}`, '--'] : [];
  const paths = (kind: 'read' | 'write'): string[] =>
    plan.listed.filter((one) => one.kind === kind).map(({ target }) => target);
  return {
    command: prlimit,
    args: [...outer, '--', bwrap, '--args', '3', '--', ...inner, plan.program, ...config.args],
    cwd: '/',
    toPreamble: (all) =>
      [...fixed, ...Object.entries(all).flatMap(([name, value]) => ['--setenv', name, value]), ''].join('\0'),
    status: toStatus(policy, {
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
    // For a host that is root, settings of the kernel would be files of its own.
    ...['--proc', '/proc', '--remount-ro', '/proc'],
    ...['--dev', '/dev', ...shared, '--remount-ro', '/dev'],
    ...mounts.flatMap(toArguments),
    ...['--dir', directory, '--chdir', directory, '--remount-ro', '/'],
  ];
}

/** What bubblewrap reads is divided by NUL: one inside a value would be the beginning of another argument. */
function assertWhole(server: string, texts: readonly string[]): void {
  if (texts.some((text) => text.includes('\0')))
    throw sandboxFault(server, 'a path or a variable has a NUL character in it', 'Take it out.');
}

function unavailable(server: string, reason: string, hint: string): TurnbuckleError {
  return new TurnbuckleError(
    'SANDBOX_UNAVAILABLE',
    `Server "${server}" asks for a sandbox, and was not started: ${reason}.`,
    { server, hint, data: { reason } },
  );
}

const uncountable = (server: string): TurnbuckleError =>
  unavailable(
    server,
    'its number of processes cannot be limited here (Linux limits no process of root, and needs to be 5.14 or newer)',
    'Run the host as another user, or take "processes" out of its sandbox.',
  );
