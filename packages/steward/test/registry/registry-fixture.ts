/** A registry over a real HTTP server, with a clock that the test moves and waits that are only recorded. */
import {
  type McpRegistry,
  type McpRegistryOptions,
  REGISTRY_RECORDS,
  startMcpRegistry,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@turnbuckle/testing';
import { createGuardedFetch } from 'turnbuckle/host';
import { onTestFinished } from 'vitest';
import { createRegistry, type Registry, type RegistryOptions } from '../../src/registry/registry.js';
import { type RegistrySource, registryFetchOptions } from '../../src/registry/registry-source.js';

export const MACHINE = { commands: new Set(['docker', 'uvx']), node: 22 };
export const START = Date.parse('2026-01-10T12:00:00Z');

export interface RegistryFixture {
  readonly server: McpRegistry;
  readonly directory: TemporaryDirectory;
  /** The times that were waited for between retries. */
  readonly waits: number[];
  /** Moves the clock. */
  move(ms: number): void;
  /** One more registry with the same clock and cache, as in another process. */
  open(sources?: readonly RegistrySource[], more?: Partial<RegistryOptions>): Registry;
}

/** Stopped and removed with the test. */
export async function registryFixture(options: Partial<McpRegistryOptions> = {}): Promise<RegistryFixture> {
  const server = await startMcpRegistry({ records: REGISTRY_RECORDS, ...options });
  const directory = await temporaryDirectory();
  onTestFinished(async () => {
    await server.stop();
    await directory.remove();
  });
  const waits: number[] = [];
  let now = START;
  return {
    server,
    directory,
    waits,
    move: (ms) => {
      now += ms;
    },
    open: (sources = [{ url: server.url }], more = {}) =>
      createRegistry({
        sources,
        fetch: createGuardedFetch(registryFetchOptions(sources)),
        cacheDir: directory.file('cache'),
        now: () => now,
        machine: MACHINE,
        random: () => 0.5,
        wait: async (ms, signal) => {
          signal?.throwIfAborted();
          waits.push(ms);
        },
        ...more,
      }),
  };
}

/** The names of the candidates, without their namespaces. */
export async function namesFor(registry: Registry, purpose: string): Promise<string[]> {
  return (await registry.search(purpose)).map(({ record: { name } }) => name.slice(name.indexOf('/') + 1));
}
