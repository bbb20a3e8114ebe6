/** What a server's status reports about its sandbox. */
import {
  type SandboxPolicy,
  type SandboxPreset,
  toSandboxPolicy,
} from '../../config/schema/sandbox-schema.js';
import type { ServerConfig } from '../../config/schema/schema.js';

export interface SandboxStatus {
  readonly preset: SandboxPreset;
  /** True: the running process is in it. False: it is configured, and there is no process. */
  readonly inForce: boolean;
  readonly network: boolean;
  /** What it may read besides the system's programs: as written, and absolute once in force. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly home: 'own' | 'empty';
  /** For each process. */
  readonly memoryMb: number;
  /** Processes and threads together; undefined: in force without this limit, which this machine does not support. */
  readonly processes: number | undefined;
  readonly cpuSeconds: number | undefined;
}

/** What the configuration requests: `none` for a local server without one, undefined if there is no process. */
export function configuredSandbox(config: ServerConfig): SandboxStatus | 'none' | undefined {
  if (config.type !== 'stdio') return undefined;
  const policy = toSandboxPolicy(config.sandbox);
  return policy === undefined ? 'none' : toSandboxStatus(policy, { inForce: false });
}

export function toSandboxStatus(
  { preset, network, read, write, home, memoryMb, processes, cpuSeconds }: SandboxPolicy,
  facts: Pick<SandboxStatus, 'inForce'> & Partial<SandboxStatus>,
): SandboxStatus {
  return { preset, network, read, write, home, memoryMb, processes, cpuSeconds, ...facts };
}
