/** Creates the transport for each kind of server. A run with only local servers never loads the network modules. */
import { findRelativePaths } from '../../config/relative-paths.js';
import { toSandboxPolicy } from '../../config/schema/sandbox-schema.js';
import type { ServerConfig, StdioServer } from '../../config/schema/schema.js';
import { serverFlooded } from '../lanes/server-error.js';
import { childEnvironment } from '../processes/child-environment.js';
import { FloodMeter } from '../protocol/flood-meter.js';
import {
  createChannelTransport,
  type ServerTransport,
  type ServerTransportOptions,
} from './server-transport.js';
import { StdioTransport } from './stdio-transport.js';

/** Creates the transport of a configured server; nothing is started or contacted yet. */
export async function createTransport(
  config: ServerConfig,
  options: ServerTransportOptions,
): Promise<ServerTransport> {
  if (config.type === 'stdio') return createStdioTransport(config, options);
  if (config.type === 'in-process')
    return (await import('./in-process-transport.js')).createInProcessTransport(config, options);
  return (await import('./network-transport.js')).createNetworkTransport(config, options);
}

async function createStdioTransport(
  config: StdioServer,
  options: ServerTransportOptions,
): Promise<ServerTransport> {
  const { command, args, cwd } = config;
  const env = childEnvironment(options.environment, config);
  const policy = toSandboxPolicy(config.sandbox);
  const confinement =
    policy === undefined
      ? undefined
      : await (await import('../sandbox/confine.js')).confine({ ...options, config, policy, env });
  const flood = new FloodMeter(options.flood);
  const transport = new StdioTransport(
    {
      server: options.server,
      ...(confinement ?? { command, args, cwd }),
      env,
      endDetached: config.endDetached,
      maxBytes: options.maxMessageBytes,
      rules: options,
      stderrListener: options.stderrListener,
      flood,
      unsent: options.unsent,
    },
    options.processes,
  );
  const serverTransport = createChannelTransport('stdio', transport, options);
  flood.onFlood = () => serverTransport.onBroken?.(serverFlooded(options.server));
  transport.outbox.onStuck = (error) => serverTransport.onBroken?.(error);
  return Object.defineProperties(serverTransport, {
    pid: { get: () => transport.pid },
    exit: { get: () => transport.exit },
    startedIn: {
      value: cwd === undefined && findRelativePaths(config).length > 0 ? process.cwd() : undefined,
    },
    sandbox: { value: confinement?.status },
    stderr: { value: transport.stderr },
    prepare: { value: () => void transport.start() },
  });
}
