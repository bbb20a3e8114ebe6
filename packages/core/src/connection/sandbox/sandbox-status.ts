/** What is said about a server's sandbox in its status. */
import { type SandboxPolicy, type SandboxPreset, toSandboxPolicy } from '../../config/sandbox-schema.js';
import type { ServerConfig } from '../../config/schema.js';

export interface SandboxStatus {
  readonly preset: SandboxPreset;
  /** True: the process that runs now is in it. False: it is configured, and there is no process. */
  readonly inForce: boolean;
  readonly network: boolean;
  /** What it may read beside the system's programs: as written, and absolute once in force. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly home: 'own' | 'empty';
  /** For each process. */
  readonly memoryMb: number;
  /** Processes and threads together; undefined: in force without this limit, which this machine cannot keep. */
  readonly processes: number | undefined;
  readonly cpuSeconds: number | undefined;
}

/** What the configuration asks for: `none` for a local server without one, undefined where there is no process. */
export function configuredSandbox(config: ServerConfig): SandboxStatus | 'none' | undefined {
  if (config.type !== 'stdio') return undefined;
  const policy = toSandboxPolicy(config.sandbox);
  return policy === undefined ? 'none' : toStatus(policy, { inForce: false });
}

export function toStatus(
  { preset, network, read, write, home, memoryMb, processes, cpuSeconds }: SandboxPolicy,
  facts: Pick<SandboxStatus, 'inForce'> & Partial<SandboxStatus>,
): SandboxStatus {
  return { preset, network, read, write, home, memoryMb, processes, cpuSeconds, ...facts };
}
