import { fixture } from '@turnbuckle/testing';
import type { ConfiguredRuntime } from 'turnbuckle';
import type { Reload } from 'turnbuckle/host';
import { onTestFinished } from 'vitest';
import type { Setting } from './setting.js';

/** A connected runtime that follows its files, and the reloads it reported. */
export interface Followed extends ConfiguredRuntime {
  readonly reloads: Reload[];
}

export async function follow(
  setting: Setting,
  options: Parameters<Setting['open']>[0] = {},
): Promise<Followed> {
  const configured = await setting.open(options);
  await configured.runtime.connectAll();
  const reloads: Reload[] = [];
  const stop = await configured.follow((reload) => reloads.push(reload));
  onTestFinished(stop);
  return { ...configured, reloads };
}

/** The content of a file with lazy servers of these names. */
export const lazyServers = (...names: string[]) => ({
  servers: Object.fromEntries(names.map((name) => [name, { ...fixture('echo'), start: 'lazy' }])),
});

export const namesOf = ({ runtime }: ConfiguredRuntime): string[] => runtime.status().map(({ name }) => name);
