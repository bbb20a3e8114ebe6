/** What `doctor` and `list` show about sandboxes: support on this machine, and the limits of each server. */
import type { ServerStatus } from 'turnbuckle';
import { checkSandbox } from 'turnbuckle/host';

type Sandbox = Extract<ServerStatus['sandbox'], object>;

interface SandboxCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly what: string;
  readonly next?: string | undefined;
}

/** Of no interest when only servers were named that do not ask for one. */
export async function checkSandboxSupport(
  servers: readonly ServerStatus[],
  all: boolean,
): Promise<SandboxCheck[]> {
  const isWanted = servers.some(({ sandbox }) => typeof sandbox === 'object');
  if (!all && !isWanted) return [];
  const name = 'sandbox';
  const found = await checkSandbox();
  if (found.available) {
    const limits = found.limitsProcesses ? '' : '; cannot limit the number of processes for root';
    return [{ name, ok: true, what: `${found.version}${limits}` }];
  }
  const unasked = isWanted ? '' : ' (no configured server uses a sandbox)';
  return [
    { name, ok: !isWanted, what: `${found.reason}${unasked}`, next: isWanted ? found.hint : undefined },
  ];
}

/** A line for a server that asks for a sandbox. */
export function checkServerSandbox({ name, status, sandbox }: ServerStatus): SandboxCheck[] {
  if (typeof sandbox !== 'object' || status === 'disabled') return [];
  return [{ name, ok: sandbox.inForce, what: describeSandbox(sandbox) }];
}

/** Table cell; empty for a server without a sandbox. */
export const sandboxLabel = ({ sandbox }: ServerStatus): string =>
  typeof sandbox === 'object' && sandbox.inForce ? `sandbox ${sandbox.preset}` : '';

function describeSandbox(sandbox: Sandbox): string {
  const { preset, inForce, network, read, write, home, memoryMb, processes, cpuSeconds } = sandbox;
  const paths = (what: string, list: readonly string[]): string =>
    `${what} ${list.length === 0 ? 'nothing' : list.join(', ')}`;
  return [
    `sandbox ${preset}${inForce ? '' : ' (requested, not active)'}: network ${network ? 'on' : 'off'}`,
    paths('reads', read),
    paths('writes', write),
    home === 'own' ? 'separate home directory' : 'empty home directory',
    `${memoryMb} MB per process`,
    ...(processes === undefined ? [] : [`${processes} processes and threads`]),
    ...(cpuSeconds === undefined ? [] : [`${cpuSeconds} s of CPU time`]),
  ].join('; ');
}
