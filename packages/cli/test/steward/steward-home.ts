/** A home whose steward uses registries on loopback, with a daemon if a test needs one. */
import {
  type RegistryPackage,
  type RunningNpmRegistry,
  startMcpRegistry,
  startNpmRegistry,
} from '@turnbuckle/testing';
import { onTestFinished } from 'vitest';
import { filesPackage, filesRecord } from '../../../steward/test/daemon/stage.js';
import { createHome, type Home } from '../commands/turnbuckle.js';
import { daemonForTest, type RunningDaemon } from '../daemon/running-daemon.js';

export interface StewardHome {
  readonly home: Home;
  readonly npm: RunningNpmRegistry;
  readonly registry: Awaited<ReturnType<typeof startMcpRegistry>>;
  daemon(): Promise<RunningDaemon>;
}

export interface StewardHomeOptions {
  readonly packages?: readonly RegistryPackage[];
  readonly records?: readonly unknown[];
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly config?: Readonly<Record<string, unknown>>;
}

export async function openStewardHome(options: StewardHomeOptions = {}): Promise<StewardHome> {
  const npm = await startNpmRegistry({ packages: options.packages ?? [filesPackage()] });
  const registry = await startMcpRegistry({ records: options.records ?? [filesRecord()] });
  const home = await createHome({});
  await home.write('.config/turnbuckle/mcp.json', {
    steward: {
      workers: 1,
      registries: [{ url: registry.url }],
      npmRegistry: npm.url,
      allow: [{ type: 'npm', scope: '@acme' }],
      ...options.settings,
    },
    ...options.config,
  });
  onTestFinished(async () => {
    await Promise.all([npm.stop(), registry.stop()]);
  });
  return { home, npm, registry, daemon: () => daemonForTest([], { home }) };
}

/** Of a field that is a secret, and of one that is not. */
export const recordWithFields = () =>
  filesRecord({
    environmentVariables: [
      { name: 'FILES_KEY', isSecret: true, isRequired: true, description: 'The key' },
      { name: 'FILES_ROOT', isRequired: true, description: 'Where the files are' },
    ],
  });
