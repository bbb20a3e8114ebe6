/** For each kind of server its carrier. A run with servers on this machine only never loads what the network takes. */
import { relativeWords } from '../config/relative-words.js';
import { toSandboxPolicy } from '../config/sandbox-schema.js';
import type { ServerConfig, StdioServer } from '../config/schema.js';
import { type Carrier, type CarrierOptions, channelCarrier } from './carrier.js';
import { childEnvironment } from './environment.js';
import { FloodMeter } from './flood-meter.js';
import { flooded } from './server-error.js';
import { StdioTransport } from './stdio.js';

/** Builds the carrier of a configured server; nothing is started or contacted yet. */
export async function createCarrier(config: ServerConfig, options: CarrierOptions): Promise<Carrier> {
  if (config.type === 'stdio') return stdioCarrier(config, options);
  if (config.type === 'in-process')
    return (await import('./in-process-carrier.js')).inProcessCarrier(config, options);
  return (await import('./network-carriers.js')).networkCarrier(config, options);
}

async function stdioCarrier(config: StdioServer, options: CarrierOptions): Promise<Carrier> {
  const { command, args, cwd } = config;
  const env = childEnvironment(options.environment, config);
  const policy = toSandboxPolicy(config.sandbox);
  const confinement =
    policy === undefined
      ? undefined
      : await (await import('./sandbox/confine.js')).confine({ ...options, config, policy, env });
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
  const carrier = channelCarrier('stdio', transport, options);
  flood.onFlood = () => carrier.onBroken?.(flooded(options.server));
  transport.outbox.onStuck = (error) => carrier.onBroken?.(error);
  return Object.defineProperties(carrier, {
    pid: { get: () => transport.pid },
    exit: { get: () => transport.exit },
    startedIn: { value: cwd === undefined && relativeWords(config).length > 0 ? process.cwd() : undefined },
    sandbox: { value: confinement?.status },
    stderr: { value: transport.stderr },
    prepare: { value: () => void transport.start() },
  });
}
