/** What `doctor` and `list` say about sandboxes: what the machine can do, and what each server is held to. */
import { checkSandbox, type ServerStatus } from 'turnbuckle';

type Sandbox = Extract<ServerStatus['sandbox'], object>;

interface SandboxCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly what: string;
  readonly next?: string | undefined;
}

/** Of no interest when only servers were named that do not ask for one. */
export async function checkMachine(servers: readonly ServerStatus[], all: boolean): Promise<SandboxCheck[]> {
  const isWanted = servers.some(({ sandbox }) => typeof sandbox === 'object');
  if (!all && !isWanted) return [];
  const name = 'sandbox';
  const found = await checkSandbox();
  if (found.available) {
    const limits = found.limitsProcesses ? '' : '; the number of processes cannot be limited for root';
    return [{ name, ok: true, what: `${found.version}${limits}` }];
  }
  const unasked = isWanted ? '' : '; no server asks for one';
  return [
    { name, ok: !isWanted, what: `${found.reason}${unasked}`, next: isWanted ? found.hint : undefined },
  ];
}

/** A line for a server that asks for a sandbox. */
export function checkConfinement({ name, status, sandbox }: ServerStatus): SandboxCheck[] {
  if (typeof sandbox !== 'object' || status === 'disabled') return [];
  return [{ name, ok: sandbox.inForce, what: tellSandbox(sandbox) }];
}

/** A word for a table, empty for a server without a sandbox. */
export const sandboxWord = ({ sandbox }: ServerStatus): string =>
  typeof sandbox === 'object' && sandbox.inForce ? `sandbox ${sandbox.preset}` : '';

function tellSandbox(sandbox: Sandbox): string {
  const { preset, inForce, network, read, write, home, memoryMb, processes, cpuSeconds } = sandbox;
  const paths = (what: string, list: readonly string[]): string =>
    `${what} ${list.length === 0 ? 'nothing' : list.join(', ')}`;
  return [
    `sandbox ${preset}${inForce ? '' : ' (asked for, not in force)'}: network ${network ? 'on' : 'off'}`,
    paths('reads', read),
    paths('writes', write),
    home === 'own' ? 'a home of its own' : 'an empty home',
    `${memoryMb} MB for each process`,
    ...(processes === undefined ? [] : [`${processes} processes and threads`]),
    ...(cpuSeconds === undefined ? [] : [`${cpuSeconds} s of computing`]),
  ].join('; ');
}
